"""The checks of a config's mechanisms write a verdict whatever the mechanism is."""

from pathlib import Path

from tensorldp.files import read_json
from tensorldp_papers.run.mechanism_check import check_mechanism, summary


def test_verdicts_and_their_page(tmp_path: Path) -> None:
    for name in ("laplace", "jl"):
        check_mechanism(name, {}, 0.005, tmp_path / name)
    found = {name: read_json(tmp_path / name / "verdict.json") for name in ("laplace", "jl")}
    assert [(found[name]["refuted"], found[name]["tried"]) for name in found] == [(False, True), (False, False)]
    assert "shape" in found["jl"]["reason"]
    page = summary([tmp_path / name / "verdict.json" for name in found])
    assert 'href="jl/verdict.html"' in page
    assert "not checked" in page
