"""Every claim has a check that computes, and a verdict follows the results."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import get_args

import invented
import numpy as np
import pandas as pd
import pytest

from tensorldp.errors import InputError
from tensorldp_papers.claims.base import Claim, Finding, NotRun, Verdict, catalogue, claim, load_checks, verdict
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.registry import CLAIMS
from tensorldp_papers.claims.statements import mean_interval
from tensorldp_papers.claims.table import COLUMNS, claims_table
from tensorldp_papers.run.grid import Plan, make_plan
from tensorldp_papers.run.settings import parse_settings

ROOT = Path(__file__).parents[2]
SETTINGS = {
    "scale": "quick",
    "studies": ["tldp_type1"],
    "datasets": {"tldp_type1": ["mnist"]},
    "mechanisms": {"tldp_type1": ["none", "tldp-l", "tldp-g", "tldp-g-w"]},
    "epsilons": {"tldp_type1": [0.5, 2]},
    "factors": {"tldp_type1": {"model": ["mobilenet_v2"]}},
    "seeds": [0, 1, 2],
}


def plan() -> Plan:
    return make_plan(parse_settings(SETTINGS))


def score(mechanism: str, epsilon: float, seed: int) -> float:
    """Invented scores, for the checks alone: G above L below 4 nats, weights without effect."""
    base = {"none": 0.98, "tldp-l": 0.6, "tldp-g": 0.8, "tldp-g-w": 0.8}[mechanism]
    return base + (0.05 if epsilon == 2 else 0.0) + 0.001 * seed


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """The outputs of a small run, with a Table 5 whose first line alone is exact."""
    guarantee = {**invented.GUARANTEE, "unit": "record", "epsilon": 380.0, "pure_epsilon": 780.0}
    invented.Run(plan().cells, tmp_path, "quick").write(
        lambda cell, seed: {"weighted_f1": score(cell.mechanism, float(cell.epsilon), seed)}, **guarantee
    )
    (tmp_path / "tables").mkdir()
    lines = {"laplace": 1.0005, **dict.fromkeys(("gaussian", "mvg", "idn", "tldp-l", "tldp-g"), 2.0)}
    pd.DataFrame({"mechanism": lines.keys(), "printed_over_corrected": lines.values()}).to_csv(
        tmp_path / "tables" / "tldp_table5.csv", index=False
    )
    return tmp_path


def run_check(id: str, results: Path) -> tuple[Verdict, str]:
    finding = load_checks()[id].check(Evidence(plan(), results))
    return verdict(catalogue()[id], finding), finding.observed


def test_every_claim_has_a_check_and_every_check_a_claim() -> None:
    assert set(load_checks()) == set(catalogue())
    assert all(registered.expected for registered in load_checks().values())


@pytest.mark.parametrize("id", sorted(catalogue()))
def test_a_check_computes_or_gives_a_reason(id: str) -> None:
    """No constant verdicts: a check either says why it cannot decide, or its verdict is an expression of results."""
    tree = ast.parse(inspect.getsource(load_checks()[id].check).strip())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    called = {getattr(node.func, "id", getattr(node.func, "attr", "")) for node in calls}
    for node in calls:
        if isinstance(node.func, ast.Name) and node.func.id == "Finding":
            assert not isinstance(node.args[0], ast.Constant), f"{id} has a constant verdict"
            assert not isinstance(node.args[1], ast.Constant), f"{id} observes a constant"
    assert called - {"claim", "Finding"}, f"{id} computes nothing"


def known_evidence(text: str) -> bool:
    """Whether a piece of evidence is there: a test, a file that the workflow writes, a function, or a reason."""
    if text.startswith("tests/"):
        file, _, test = text.partition("::")
        path = ROOT / file
        return path.exists() and (not test or re.search(rf"def {re.escape(test)}\b", path.read_text()) is not None)
    if text.startswith(("tensorldp.", "tensorldp_papers.")):
        module, _, name = text.rpartition(".")
        return hasattr(import_module(module), name)
    return bool(re.match(r"\d+ cells of |results/|a reason, no computation|none at this scale|benchmarks/", text))


def test_the_table_has_a_verdict_and_evidence_that_exists_for_each_claim(results: Path) -> None:
    table = claims_table(Evidence(plan(), results))
    assert list(table.columns) == COLUMNS
    assert list(table["id"]) == list(catalogue())
    assert set(table["verdict"]) <= set(get_args(Verdict))
    stated = table["verdict"] == "holds with a condition"
    assert ((table["condition"] != "") == stated).all()
    assert ((table["wanted"] != "") == table["verdict"].isin(["undecided", "not run at this scale"])).all()
    assert (table["observed"].str.len() > 10).all()
    for row in table.itertuples():
        assert all(known_evidence(part) for part in str(row.evidence).split("; ")), (row.id, row.evidence)
    theorems = table[(table["kind"] == "theorem") & (table["source"] == "tldp")]
    assert (theorems["verdict"] != "not run at this scale").sum() >= 30


def test_verdicts_follow_the_runs(results: Path) -> None:
    assert run_check("T40", results)[0] == "holds with a condition"
    assert run_check("T39", results)[0] == "undecided"
    assert run_check("T35", results)[0] == "undecided"  # with fewer epochs than the paper's it refutes nothing
    assert run_check("T18", results)[0] == "reproduced"
    assert run_check("T19", results)[0] == "refuted"
    invented.edit(results, lambda rows: rows.assign(value=rows["value"] - 0.5 * (rows["mechanism"] == "tldp-g")))
    assert run_check("T40", results)[0] == "undecided"


def test_one_missing_cell_changes_only_the_claims_that_need_it(results: Path) -> None:
    before = claims_table(Evidence(plan(), results)).set_index("id")
    invented.edit(results, lambda rows: rows[(rows["mechanism"] != "tldp-g-w") | (rows["epsilon"] != 2.0)])
    after = claims_table(Evidence(plan(), results)).set_index("id")
    changed = before.index[(before != after).any(axis=1)]
    assert list(changed) == ["T39"]
    assert after.loc["T39", "verdict"] == "not run at this scale"
    assert "tldp-g-w/epsilon~2" in str(after.loc["T39", "observed"])


def test_a_theorem_is_refuted_and_a_measurement_not_reproduced() -> None:
    theorem, empirical = catalogue()["T08"], catalogue()["T35"]
    assert verdict(theorem, Finding(False, "x")) == "refuted"
    assert verdict(empirical, Finding(False, "x")) == "not reproduced"
    assert verdict(empirical, Finding(None, "x")) == "not checkable"
    assert verdict(empirical, Finding(None, "x", wanted="9 seeds")) == "undecided"
    assert verdict(theorem, Finding(True, "x", condition="low noise")) == "holds with a condition"
    assert verdict(theorem, Finding(True, "x")) == "reproduced"


def test_unknown_and_double_claims_are_refused() -> None:
    load_checks()
    with pytest.raises(InputError, match="Z99 is not in"):
        claim("Z99", expected="")
    with pytest.raises(
        InputError, match=r"'T08' is already registered by tensorldp_papers\.papers\.tldp\.claims\.theorems"
    ):
        claim("T08", expected="")(lambda evidence: Finding(True, ""))
    with pytest.raises(InputError, match=r"unknown kind of the claim M01 'lemma': .*theorem"):
        Claim("M01", "mine", "docs", "a statement", "lemma")


def test_a_claim_from_outside_comes_last_and_needs_no_line_of_the_catalogue() -> None:
    mine = Claim("A00", "mine", "docs", "a statement", "theorem")

    @claim(mine, expected="truth")
    def check(found: Evidence) -> Finding:
        return Finding(found is not None, "seen")

    try:
        assert list(catalogue().values())[-1] == mine
        assert load_checks()["A00"].check is check
    finally:
        CLAIMS.remove("A00")
    assert "A00" not in catalogue()


def test_rows_of_nothing_are_not_run(results: Path) -> None:
    evidence = Evidence(plan(), results)
    with pytest.raises(NotRun, match="svhn"):
        evidence.rows("tldp_type1", dataset="svhn")
    with pytest.raises(NotRun, match=r"tables/absent\.csv"):
        evidence.table("absent")
    with pytest.raises(InputError, match="has the metric auc"):
        evidence.rows("tldp_type1", "auc")


def test_intervals_cover_the_mean_as_often_as_they_say() -> None:
    stream = np.random.Generator(np.random.PCG64(1))
    misses = sum(
        not i.low <= 0 <= i.high for i in (mean_interval(stream.standard_normal(4).tolist()) for _ in range(4000))
    )
    assert 0.05 - 4.8 * 0.00345 < misses / 4000 < 0.05 + 4.8 * 0.00345  # 4.8 deviations: 1e-6
    assert mean_interval([1.0]).high == np.inf


@pytest.mark.parametrize(
    "bad",
    [
        lambda: mean_interval([]),
        lambda: mean_interval([np.nan]),
        lambda: mean_interval([1.0], 1.0),
    ],
)
def test_intervals_of_nothing_are_refused(bad: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        bad()


def test_a_check_of_several_claims_is_told_which() -> None:
    claims = [Claim(f"A00{i}", "mine", "docs", "a statement", "theorem") for i in (1, 2)]

    @claim(claims[0], expected="truth", limit=1)
    @claim(claims[1], expected="truth", limit=3)
    def check(limit: int) -> Finding:
        return Finding(limit > 2, f"the limit {limit}")

    try:
        findings = [load_checks()[one.id].check(Evidence(plan(), Path())) for one in claims]
    finally:
        for one in claims:
            CLAIMS.remove(one.id)
    assert findings == [Finding(False, "the limit 1"), Finding(True, "the limit 3")]
