"""Audits of cells beside their guarantees, and what a cell's guarantee therefore stands on."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small import images, make_cell, save

from tensorldp.curves.discrete import PureCurve
from tensorldp.errors import InputError
from tensorldp.files import read_json
from tensorldp.mechanisms import Box, Mechanism, make
from tensorldp_papers.run import audit_table
from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.mechanism_check import check_mechanism, summary
from tensorldp_papers.run.method import audited_of
from tensorldp_papers.run.privacy import audit_mechanism, audit_seed


def cell(mechanism: str, epsilon: str, release: str = "data") -> AnyCell:
    method = "learning" if release == "data" else "federated"
    factors = {"model": "linear", **({} if release == "data" else {"where": "user"})}
    return make_cell(method, mechanism, epsilon, release=release, factors=factors)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("data"), images(4, (4, 4)))


def audited(settings: AnyCell, data: Path) -> tuple[Mechanism, str]:
    mechanism, note = audited_of(settings, data)
    assert mechanism is not None
    return mechanism, note


@pytest.mark.parametrize("release", ["data", "parameters"])
@pytest.mark.parametrize("name", ["tldp-l", "laplace", "gaussian-analytic", "llagp", "dphsgd", "privunit"])
def test_an_audit_stands_beside_the_guarantee_of_what_it_audited(name: str, release: str, data: Path) -> None:
    mechanism, note = audited(cell(name, "3", release), data)
    assert mechanism.size == (16 if release == "data" else 64)
    assert bool(note) == (release == "parameters")
    (row,) = audit_mechanism(mechanism, cell(name, "3", release), [1e-5], note)
    assert row["epsilon_lower"] <= row["guarantee_epsilon"]


def test_every_cell_is_audited_on_a_stream_of_its_own(data: Path) -> None:
    one = cell("laplace", "3")
    changes = [{"study": "t"}, {"dataset": "e"}, {"variant": "w"}, {"mechanism": "tldp-l"}, {"epsilon": "4"}]
    others = [replace(one, **change) for change in changes]  # type: ignore[arg-type]
    assert len({audit_seed(settings) for settings in (one, *others)}) == 1 + len(others)
    assert audit_seed(replace(one, seeds=(3, 4))) == audit_seed(one)  # a further seed changes no audit
    mechanism, _ = audited(one, data)
    first, again, other = (audit_mechanism(mechanism, settings, [0.0]) for settings in (one, one, others[2]))
    assert first == again
    assert first[0]["epsilon_lower"] != other[0]["epsilon_lower"]


AUDIT = {"kind": "likelihood ratio", "samples": 100, "refuted": False, "claimed": 1.0, "delta": 0.0, "note": ""}
AUDIT |= {"event": "e", "epsilon_lower": 0.5, "guarantee_epsilon": 1.0, "guarantee_pure_epsilon": 1.0}
Found = tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]


def found(
    *audits: dict[str, Any], mechanism: str = "m", epsilon: float = 1.0, option: int = 0, **scores: float
) -> Found:
    """A cell's scores, guarantee and audits."""
    key = {"study": "s", "dataset": "d", "variant": "v", "mechanism": mechanism, "epsilon": "3"}
    rows = [{"seed": 0, "metric": metric, "value": value} for metric, value in scores.items()]
    tested = {"records": 1000, "shares": [0.1] * 10}
    metrics = {"cell": {**key, "options": {"a": option} if option else {}}, "test_set": tested, "rows": rows}
    return metrics, {"epsilon": epsilon, "pure_epsilon": math.inf}, list(audits)


def test_the_table_has_every_audit_with_its_own_cell_and_accuracy_audits_too() -> None:
    lower = {"a": 0.25, "b": 0.5, "none": None}
    cells = [
        found(*([{**AUDIT, "epsilon_lower": value}] if value else []), mechanism=name, accuracy_perturbed_test=0.9)
        for name, value in lower.items()
    ]
    for order in (cells, cells[::-1]):
        table = audit_table.audits_table(order).set_index(["mechanism", "kind"])["epsilon_lower"]
        bounds = [table.pop((name, "accuracy")) for name in lower]
        assert table.to_dict() == {("a", "likelihood ratio"): 0.25, ("b", "likelihood ratio"): 0.5}
        assert all(math.log(9 * 0.88 / 0.12) < bound < math.log(9 * 0.9 / 0.1) for bound in bounds)


def test_a_mechanism_without_density_is_audited_as_a_black_box_and_a_claim_of_a_hundredth_is_caught() -> None:
    honest = make("projunit", epsilon=8.0, domain=Box(-1, 1, (1,)))

    class Liar(type(honest)):  # type: ignore[misc]
        name = "liar"

        def curve(self) -> PureCurve:
            return PureCurve(self.epsilon / 100.0)

    liar = Liar(epsilon=8.0, domain=Box(-1, 1, (1,)))
    (row,), (caught,) = (audit_mechanism(one, cell("projunit", "8"), [0.0]) for one in (honest, liar))
    assert row["kind"] == "black box"
    assert row["samples"] > 0
    assert 0.0 < row["epsilon_lower"] <= row["guarantee_pure_epsilon"]
    assert "defines no log_likelihood_ratio" in row["note"]
    assert caught["epsilon_lower"] > caught["guarantee_pure_epsilon"]


FINE, BAD = {"refuted": False, "tried": True, "reason": ""}, {"refuted": True, "tried": True, "reason": "why"}


@pytest.mark.parametrize(
    ("one", "checks", "standing"),
    [
        (found(AUDIT), {}, audit_table.AUDITED),
        (found({**AUDIT, "samples": 0, "note": "no density"}), {}, audit_table.NOT_AUDITED),
        (found(accuracy=1.0), {}, audit_table.NOT_AUDITED),
        (found(accuracy_perturbed_test=1.0), {}, audit_table.AUDITED),
        (found(AUDIT, {**AUDIT, "refuted": True}), {}, audit_table.REFUTED),
        (found(AUDIT, epsilon=math.inf), {}, audit_table.NOTHING),
        (found(), {"m": FINE}, audit_table.AUDITED),
        (found(AUDIT), {"m": BAD}, audit_table.REFUTED),
        (found(option=1), {"m": BAD}, audit_table.NOT_AUDITED),
        (found(option=1), {"m+a=1": BAD}, audit_table.REFUTED),
    ],
)
def test_standings(one: Found, checks: dict[str, Any], standing: str) -> None:
    table = audit_table.standing_table([one, found(AUDIT, mechanism="z")], checks)
    assert table["standing"].tolist() == [standing, audit_table.AUDITED]  # the second has its own
    assert table["epsilon"].tolist() == [3.0, 3.0]


def test_a_refuted_guarantee_stops_with_one_sentence_and_a_page(tmp_path: Path) -> None:
    path, page = tmp_path / "standing.csv", tmp_path / "report.html"
    audit_table.standing_table([found(AUDIT)], {}).to_csv(path, index=False)
    audit_table.stop_if_refuted(path, page)
    assert not page.exists()
    audit_table.standing_table([found({**AUDIT, "refuted": True, "event": "<b>"})], {}).to_csv(path, index=False)
    with pytest.raises(InputError, match="the guarantee of m is refuted in 1 cell, first s at epsilon 3") as raised:
        audit_table.stop_if_refuted(path, page)
    assert "\n" not in str(raised.value)
    assert "<b>" not in page.read_text()
    assert 'role="alert"' in page.read_text()
    with pytest.raises(InputError, match="is missing"):
        audit_table.stop_if_refuted(tmp_path / "missing.csv", page)


def test_checks_of_mechanisms_write_a_verdict_whatever_the_mechanism_is_and_a_page(tmp_path: Path) -> None:
    for name in ("laplace", "jl"):
        check_mechanism(name, {}, 0.002, tmp_path / name)
    found = {name: read_json(tmp_path / name / "verdict.json") for name in ("laplace", "jl")}
    assert [(found[name]["refuted"], found[name]["tried"]) for name in found] == [(False, True), (False, False)]
    assert "shape" in found["jl"]["reason"]
    page = summary([tmp_path / name / "verdict.json" for name in found])
    assert 'href="jl/verdict.html"' in page
    assert "not checked" in page
