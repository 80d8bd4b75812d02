"""The claims of the reference results are decided from the rows that are kept, whatever was decided before."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from kept_runs import finish, tiny
from truths import TRUTHS
from worlds import World

from tensorldp.errors import InputError
from tensorldp_papers.claims.kept import KeptEvidence, decide_again
from tensorldp_papers.claims.table import COLUMNS
from tensorldp_papers.kept.merge import merge_run
from tensorldp_papers.kept.provenance import noted_training

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "results" / "reference"
pytestmark = pytest.mark.xdist_group("kept")  # its tests share what is slow to make


@pytest.fixture(scope="module")
def decided() -> pd.DataFrame:
    return decide_again(REFERENCE, pd.read_csv(REFERENCE / "claims.csv"))


def test_the_kept_verdicts_are_those_of_the_kept_rows(decided: pd.DataFrame) -> None:
    """Otherwise run `python workflow/scripts/reference.py --decide`."""
    kept = pd.read_csv(REFERENCE / "claims.csv").fillna("")
    assert list(kept.columns) == [*COLUMNS, "scale", "commit"]
    same = ["id", "verdict", "condition"]
    pd.testing.assert_frame_equal(kept[same], decided[same].fillna("").astype(str), check_dtype=False)


def test_a_reason_that_a_later_run_gave_does_not_stay(decided: pd.DataFrame) -> None:
    earlier = decided.assign(observed="a later, smaller run", wanted="a later, smaller run")
    again = decide_again(REFERENCE, earlier).set_index("id")
    assert "in one weight of the average of 70 uploads" in str(again.loc["P13", "observed"])
    lost = again.index[again["observed"] == "a later, smaller run"]
    assert set(lost) == {"T33"}  # what it needs is not kept
    assert again.loc["T31", "condition"] == "svhn, darknet not read"


def test_claims_see_the_training_settings_that_rows_were_made_with(tmp_path: Path) -> None:
    longer = tiny(training={"tldp_type1": {"epochs": 9}})
    merge_run(finish(tmp_path / "run", longer), tmp_path / "reference")
    metrics = pd.read_parquet(tmp_path / "reference" / "metrics.parquet")
    evidence = KeptEvidence(metrics, noted_training(tmp_path / "reference"))
    assert {cell.training.model_dump()["epochs"] for cell in evidence.plan.cells} == {9}
    assert {cell.training.model_dump()["epochs"] for cell in KeptEvidence(metrics).plan.cells} == {8}


def test_rows_of_a_cell_that_no_arm_plans_are_refused(tmp_path: Path) -> None:
    table = World(TRUTHS["V27"].cells, TRUTHS["V27"].true).table
    table = table.assign(variant="no=arm", scale="desk", commit="c")
    table.to_parquet(tmp_path / "metrics.parquet")
    with pytest.raises(InputError, match="a cell that no arm plans: tvg_covariance ctg no=arm"):
        decide_again(tmp_path)
