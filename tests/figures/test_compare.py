"""Two made-up runs: what the page of their comparison says."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_up import every, rows

from tensorldp.errors import InputError
from tensorldp_papers.report import compare
from tensorldp_papers.report.compare import read_run, render_comparison

SCRIPT = Path(__file__).parents[2] / "workflow" / "scripts" / "compare.py"


def write(folder: Path, *, seeds: int = 2, shift: float = 0.0, bound: float = 1.0, verdict: str = "reproduced") -> Path:
    """A run of two mechanisms at two epsilons; `shift` moves one mechanism's score at epsilon 2."""
    cells = every(mechanism=("laplace", "gaussian"), epsilon=(1.0, 2.0), seed=range(seeds))
    for cell in cells:
        mechanism, epsilon, seed = cell.values()
        moved = shift if (mechanism, epsilon) == ("laplace", 2.0) else 0.0
        cell |= {"value": 0.1 * epsilon + 0.01 * seed + moved, "guarantee_epsilon": bound * epsilon}
        cell["guarantee_pure_epsilon"] = np.inf if mechanism == "gaussian" else epsilon
    folder.mkdir(parents=True)
    rows(cells, study="s<1>", metric="score").to_parquet(folder / "metrics.parquet")
    claims = {"id": ["C1"], "claim": ["one"], "verdict": [verdict], "observed": ["3 & more"]}
    pd.DataFrame(claims).to_csv(folder / "claims.csv", index=False)
    return folder


def test_equal_runs_differ_in_nothing(tmp_path: Path) -> None:
    page = render_comparison(*(read_run(write(tmp_path / name), name) for name in "ab"))
    assert page.count("no differences") == 4
    assert "<img" not in page


def test_each_difference_is_found_and_nothing_else(tmp_path: Path) -> None:
    first = read_run(write(tmp_path / "a"), "a")
    second = read_run(write(tmp_path / "b", seeds=3, bound=2, verdict="refuted"), "b")
    third = read_run(write(tmp_path / "c", shift=0.05), "c")
    changed = compare.values_table(first, third)
    assert changed[["mechanism", "epsilon"]].to_numpy().tolist() == [["laplace", 2.0]]
    assert changed["difference"].tolist() == pytest.approx([0.05])
    error = 0.005 * np.sqrt(2)  # variance 5e-5 of two seeds, twice
    assert changed["standard error"].tolist() == pytest.approx([error])
    settings = compare.settings_table(first, second).to_numpy().tolist()
    assert settings == [["s<1>", "seed", "nothing further", "2", 2]]
    found = compare.guarantees_table(first, second)
    assert set(found["guarantee"]) == {"epsilon"}  # the infinite pure one is equal
    assert sorted(zip(found["a"], found["b"], strict=True)) == [(1.0, 2.0), (1.0, 2.0), (2.0, 4.0), (2.0, 4.0)]
    verdicts = compare.verdicts_table(first, second)[["id", "a", "b"]]
    assert verdicts.to_numpy().tolist() == [["C1", "reproduced", "refuted"]]


def test_the_script_writes_a_page_that_needs_no_network(tmp_path: Path) -> None:
    write(tmp_path / "b" / "results", shift=0.05, verdict="refuted")
    arguments = [write(tmp_path / "a"), tmp_path / "b", "--names", "old", "new", "--out", tmp_path / "p.html"]
    runpy.run_path(str(SCRIPT))["main"](list(map(str, arguments)))
    page = (tmp_path / "p.html").read_text()
    assert not re.search(r"(?:src|href)=\"(?!data:)|url\(", page)
    assert "Of 4 means over seeds that both runs have, 1 differ." in page
    assert page.count("<figure>") == 1
    assert "s&lt;1&gt;" in page
    assert "s<1>" not in page


def test_mistakes(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere has no readable .*metrics.parquet"):
        read_run(tmp_path / "nowhere", "a")
    run = read_run(write(tmp_path / "a"), "a")
    with pytest.raises(InputError, match="both be called 'a'"):
        render_comparison(run, run)
    pd.DataFrame({"value": [1]}).to_parquet(tmp_path / "a" / "metrics.parquet")
    with pytest.raises(InputError, match="is not a table of metrics, it lacks the column dataset"):
        read_run(tmp_path / "a", "a")
