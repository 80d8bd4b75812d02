"""The claims of the reference results are decided from the rows that are kept, whatever was decided before."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from kept_runs import REFERENCE, finish, planned, tiny
from truths import TRUTHS

from tensorldp.errors import InputError
from tensorldp_papers.claims.kept import KeptEvidence, decide_again
from tensorldp_papers.claims.table import COLUMNS
from tensorldp_papers.kept.merge import merge_run
from tensorldp_papers.kept.provenance import noted_training

KEPT = pd.read_csv(REFERENCE / "claims.csv").fillna("")
LATER = "a later, smaller run"


@pytest.mark.xdist_group("claims")
def test_the_kept_verdicts_are_those_of_the_kept_rows_and_no_reason_of_a_later_run_stays() -> None:
    """Otherwise run `python workflow/scripts/reference.py --decide`."""
    with pd.option_context("mode.string_storage", "python"):  # quicker
        decided = decide_again(REFERENCE, KEPT.assign(observed=LATER, wanted=LATER))
    assert list(KEPT.columns) == list(decided.columns) == [*COLUMNS, "scale", "commit"]
    same = ["id", "verdict", "condition", "scale"]
    assert KEPT[same].to_dict("records") == decided[same].fillna("").to_dict("records")
    again = decided.set_index("id")
    assert "in one weight of the average of 70 uploads" in str(again.loc["P13", "observed"])
    assert list(again.index[again["observed"] == LATER]) == ["T33"]  # what it needs is not kept
    assert again.loc["T31", "condition"] == "svhn, darknet not read"


def test_claims_see_the_training_settings_that_rows_were_made_with(tmp_path: Path) -> None:
    merge_run(finish(tmp_path / "run", tiny(9)), tmp_path / "reference")
    metrics = pd.read_parquet(tmp_path / "reference" / "metrics.parquet")
    for noted, epochs in ((noted_training(tmp_path / "reference"), 9), ({}, 8)):
        assert {cell.training.model_dump()["epochs"] for cell in KeptEvidence(metrics, noted).plan.cells} == {epochs}


def test_claims_see_each_study_at_the_scale_of_its_own_rows(tmp_path: Path) -> None:
    quick, desk = tiny(), planned(studies=["tldp_type2"], scale="desk", datasets={"tldp_type2": ["digits"]})
    for scale, cells in (("quick", quick), ("desk", desk)):
        merge_run(finish(tmp_path / scale, cells, scale=scale), tmp_path / "reference")
    metrics = pd.read_parquet(tmp_path / "reference" / "metrics.parquet")
    evidence = KeptEvidence(metrics)
    assert evidence.scale == "desk"
    assert {c.path: c.training for c in evidence.plan.cells} == {c.path: c.training for c in (*quick, *desk)}
    every = planned(studies=["tldp_type2"], datasets={"tldp_type2": ["digits"]})
    assert [c.training for c in every] != [c.training for c in desk[: len(every)]]  # else nothing was tested


def test_rows_of_a_cell_that_no_arm_plans_are_refused(tmp_path: Path) -> None:
    table = TRUTHS["V27"].world(True).table.assign(variant="no=arm", scale="desk", commit="c")
    table.to_parquet(tmp_path / "metrics.parquet")
    with pytest.raises(InputError, match="a cell that no arm plans: tvg_covariance ctg no=arm"):
        decide_again(tmp_path)
