"""Every claim has a check that computes, and the table of claims follows the results."""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import get_args

import pandas as pd
import pytest
from invented import World, found
from truths import F1

from tensorldp.errors import InputError
from tensorldp_papers.claim_registry import CLAIMS
from tensorldp_papers.claims.base import (
    Claim,
    Finding,
    NotRun,
    Number,
    Verdict,
    cannot_be_checked,
    catalogue,
    claim,
    load_checks,
    named,
    verdict,
)
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.table import COLUMNS, claims_table, numbers_in
from tensorldp_papers.run.grid import make_plan
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.table import read_table

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.xdist_group("claims")
WITHOUT_NUMBERS = {"T33": "needs features, which are not kept: its row was decided when findings had no numbers"}
# G above L below 4 nats, weights without effect
SCORES = {"none": 0.98, "tldp-l": 0.6, "tldp-g": 0.8, "tldp-l-w": 0.8}
CHOSEN = {
    "datasets": ["mnist"],
    "mechanisms": list(SCORES),
    "epsilons": [0.5, 2],
    "factors": {"model": ["mobilenet_v2"]},
}
SETTINGS = {"scale": "quick", "studies": ["tldp_type1"], "seeds": [0, 1, 2]}
PLAN = make_plan(parse_settings({**SETTINGS, **{key: {"tldp_type1": value} for key, value in CHOSEN.items()}}))


@pytest.fixture
def results(tmp_path: Path) -> Evidence:
    return World(PLAN.cells, lambda c: {F1: tuple(SCORES[c.mechanism] + s / 1000 for s in c.seeds)}).write(
        tmp_path, PLAN
    )


def test_a_check_computes_or_gives_a_reason() -> None:
    """No constant verdicts: a check either says why it cannot decide, or its verdict is an expression of results."""
    assert set(load_checks()) == set(catalogue())
    for id, registered in load_checks().items():
        if inspect.unwrap(registered.check) is cannot_be_checked:
            continue
        tree = ast.parse(inspect.getsource(registered.check).strip())
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        called = {getattr(node.func, "id", getattr(node.func, "attr", "")) for node in calls}
        assert called - {"claim", "Finding", "of"}, f"{id} computes nothing"
        for node in calls:
            made = {"Finding": node.args[:2], "Finding.of": node.args[:1]}.get(ast.unparse(node.func), [])
            assert not any(isinstance(part, ast.Constant) for part in made), f"{id} finds a constant"


def test_every_kept_claim_that_something_computes_has_numbers() -> None:
    kept = read_table(ROOT / "results/reference/claims.csv")
    computed = kept[~kept["verdict"].isin(["not checkable", "not run at this scale"])]
    without = [id for id, numbers in zip(computed["id"], computed["numbers"], strict=True) if not numbers_in(numbers)]
    assert without == list(WITHOUT_NUMBERS)


def test_a_finding_shows_its_numbers_by_name_in_what_it_observed_and_in_its_condition() -> None:
    numbers = (*named({"Eq. 4.4 off": 0.25}), *named({"weights": 21840}, "weights"))
    found = Finding.of(True, "{Eq. 4.4 off:.1%} of {{x}} off", numbers, condition="{weights:,.0f} at most")
    assert (found.observed, found.condition) == ("25.0% of {x} off", "21,840 at most")
    assert found.numbers == (Number("Eq. 4.4 off", 0.25), Number("weights", 21840.0, "weights"))
    with pytest.raises(KeyError, match="loss"):
        Finding.of(True, "a loss of {loss}", {"gain": 1.0})


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


def test_the_table_has_a_verdict_and_evidence_that_exists_for_each_claim(results: Evidence) -> None:
    table = claims_table(results)
    assert list(table.columns) == COLUMNS
    assert list(table["id"]) == list(catalogue())
    assert set(table["verdict"]) <= set(get_args(Verdict))
    stated = table["verdict"] == "holds with a condition"
    assert ((table["condition"] != "") == stated).all()
    assert ((table["wanted"] != "") == table["verdict"].isin(["undecided", "not run at this scale"])).all()
    assert (table["observed"].str.len() > 10).all()
    for row in table.itertuples():
        assert all(known_evidence(part) for part in str(row.evidence).split("; ")), (row.id, row.evidence)


def test_verdicts_follow_the_runs_and_one_missing_cell_changes_only_the_claims_that_need_it(results: Evidence) -> None:
    before = claims_table(results).set_index("id")
    decided = {"T40": "holds with a condition", "T38": "holds with a condition"}
    decided["T35"] = "undecided"  # with fewer epochs than the paper's it refutes nothing
    assert before.loc[list(decided), "verdict"].to_dict() == decided
    path = results.results / "metrics.parquet"
    rows = pd.read_parquet(path)
    rows[(rows["mechanism"] != "tldp-l-w") | (rows["epsilon"] != 2.0)].to_parquet(path)
    after = claims_table(Evidence(PLAN, results.results)).set_index("id")
    changed = before.index[(before != after).any(axis=1)]
    assert list(changed) == ["T38"]
    assert after.loc["T38", "verdict"] == "not run at this scale"
    assert "tldp-l-w/epsilon~2" in str(after.loc["T38", "observed"])
    rows.assign(value=rows["value"] - 0.5 * (rows["mechanism"] == "tldp-g")).to_parquet(path)
    assert found("T40", Evidence(PLAN, results.results)).holds is None


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
    twice = r"'T08' is already registered by tensorldp_papers\.papers\.tldp\.claims\.theorems"
    with pytest.raises(InputError, match=twice):
        claim("T08", expected="")(lambda evidence: Finding(True, ""))
    with pytest.raises(InputError, match=r"unknown kind of the claim M01 'lemma': .*theorem"):
        Claim("M01", "mine", "docs", "a statement", "lemma")


def test_claims_from_outside_come_last_and_a_check_of_several_is_told_which() -> None:
    mine = {id: Claim(id, "mine", "docs", "a statement", "theorem") for id in ("A00", "A001")}

    @claim(mine["A00"], expected="truth", limit=1)
    @claim(mine["A001"], expected="truth", limit=3)
    def check(evidence: Evidence, limit: int) -> Finding:
        return Finding(limit > 2, f"the limit {limit} of {evidence.scale}")

    try:
        assert list(catalogue().values())[-2:] == list(mine.values())
        findings = [found(id, Evidence(PLAN, Path())) for id in mine]
    finally:
        for id in mine:
            CLAIMS.remove(id)
    assert findings == [Finding(False, "the limit 1 of quick"), Finding(True, "the limit 3 of quick")]
    assert "A00" not in catalogue()


def test_rows_of_nothing_are_not_run(results: Evidence) -> None:
    with pytest.raises(NotRun, match="svhn"):
        results.rows("tldp_type1", dataset="svhn")
    with pytest.raises(NotRun, match=r"tables/absent\.csv"):
        results.table("absent")
    with pytest.raises(InputError, match="has the metric auc"):
        results.rows("tldp_type1", "auc")
