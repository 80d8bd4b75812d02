"""The verdicts on all claims: without runs, on whole made-up runs of each scale, and on the kept results."""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from invented import Draw, World, found
from kept_runs import REFERENCE, finish, planned, tiny
from truths import TRUTHS

from tensorldp.errors import InputError
from tensorldp.files import write_arrays
from tensorldp.mechanisms import Box
from tensorldp_papers.claims.base import load_checks
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.table import COLUMNS, claims_table
from tensorldp_papers.kept.decide import KeptEvidence, decide_again
from tensorldp_papers.kept.merge import merge_runs
from tensorldp_papers.kept.provenance import noted_training
from tensorldp_papers.papers.tldp.claims import runs as tldp_runs
from tensorldp_papers.papers.tldp.claims import theorems as tldp_theorems
from tensorldp_papers.papers.tldp.settings import LearningFactors
from tensorldp_papers.rooms import rooms
from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.grid import make_plan
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.study import study_files

NOTHING = Draw()
pytestmark = pytest.mark.xdist_group("claims")  # a process computes what needs no run once
VERDICTS = {
    "holds with a condition": "T05 T16 T17 T25 T26 T29 T38 T59 P06 P10 L02 L04 L05 L06 V07 V13 V19 V20 V25 A04 A06 A07 "
    "A09 A19 A20 A21 A25",
    "mixed": "T27 V24",
    "not checkable": "T01 T22 T51 P17 P19 L12 L21 A15 A18",
    "not reproduced": "T28 T39 T64 T65 P18 V26 A01",
    "refuted": "T02 T07 T08 T09 T10 T12 T13 T14 T15 T54 T55 T56 T63 P07 P08 P20 L09 A02 A05 A26",
    "reproduced": "T03 T04 T06 T11 T30 T32 T58 P01 P02 P03 P04 P05 P21 L01 L03 L07 L08 L10 V01 V02 V03 V04 "
    "V05 V06 V08 V09 V10 V11 V12 V18 A03 A08 A10",
    "undecided": "T52",
}


@pytest.fixture(autouse=True)
def quick_texts() -> Iterator[None]:
    with pd.option_context("mode.string_storage", "python"):
        yield


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    load_checks()
    start = time.process_time()
    made = claims_table(NOTHING).set_index("id")
    assert time.process_time() - start < 40  # those without runs are quick
    return made


def test_what_needs_no_run_is_decided_and_nothing_else(table: pd.DataFrame) -> None:
    computed = table[table["verdict"] != "not run at this scale"]
    by_verdict = computed.groupby("verdict").groups
    assert {str(verdict): " ".join(ids) for verdict, ids in by_verdict.items()} == VERDICTS
    assert computed.loc[computed["verdict"] != "not checkable", "observed"].str.contains(r"\d").all()
    assert (table["expected"] != "").all()


WORDS = [
    ("T02", "1.000000 at 10,"),
    ("T17", "at most 0.249 of a baseline's at nominal epsilon 1"),
    ("T17", "1.0000 of laplace's, 1.0000 of gaussian's, 1.0000 of mvg's, 1.0000 of idn's"),
    ("L02", "100-DP"),
    ("L02", "3.1e-44, that of (100) with 0.697"),
    ("L04", "Eq. 4.4 is 0.0e+00"),
    ("L09", "l2 norm m^1.5 d^1.0 epsilon^-1"),
    ("L09", "l1 norm m^2.0 d^1.5 epsilon^-1"),
    ("V07", "epsilon 413 at delta 1e-5"),
    ("V10", "udn 49"),
    ("V12", "15.41, H_28^2 = 15.42"),
    ("V19", "36.77"),
    ("V20", "0.797 at 8, 2.27 at 10"),
    ("V24", "idn 8.47, udn 44.8, tvg 237, mvg 931"),
    ("V25", "m^1.00 n^2.00"),
]


def test_numbers_are_those_of_the_independent_derivation(table: pd.DataFrame) -> None:
    assert [pair for pair in WORDS if pair[1] not in str(table.loc[pair[0], "observed"])] == []


@pytest.mark.parametrize("id_", ["L04", "V07", "V13", "V19", "A07"])
def test_a_slip_that_the_source_itself_mends_is_a_condition(table: pd.DataFrame, id_: str) -> None:
    assert re.search(r"in the place of|lacks|as an upper bound", str(table.loc[id_, "condition"]))


def test_retention_holds_only_where_it_gains(monkeypatch: pytest.MonkeyPatch) -> None:
    """With TLDP's own probabilities an image gains nothing; one grey level by itself does, from about 26 nats on."""
    finding = found("T02", NOTHING)
    assert finding.holds is False
    assert "1.003956 at 10.57" in finding.observed
    monkeypatch.setattr(tldp_theorems, "IMAGE", Box(0, 255, (2,)))
    assert tldp_theorems.retention_substitutes_noise().holds is False
    gains = {epsilon: tldp_theorems.own_retention_gain(epsilon, Box(0, 255, (1,))) for epsilon in (1.0, 20.0, 40.0)}
    assert gains[1.0] < gains[20.0] < 1 < gains[40.0]


def test_weights_could_show_only_far_below_the_smallest_epsilon_of_the_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tldp_runs.gaussian_weights().holds is False
    monkeypatch.setattr(tldp_runs, "SMALLEST_EPSILON", 0.02)
    assert tldp_runs.gaussian_weights().holds


METRICS = {
    "latent": "accuracy train_accuracy train_records",
    "pldp_fl": "accuracy uploaded_megabytes",
    "pldp_synthetic": "relative_error",
    "reconstruction": "psnr error noise",
    "tldp_noise": "weighted_f1 noise",
    "tldp_type1": "weighted_f1",
    "tldp_type2": "weighted_f1",
    "tldp_type3": "weighted_f1",
    "tvg_covariance": "rss_noisy rss_true",
    "tvg_sgd": "accuracy auc",
    "tvg_testing": "accuracy_perturbed_test accuracy_ceiling",
}
LACKING = {
    "quick": "T31 T34 T35 T36 T37 T40 T41 T42 T43 T44 T45 T46 T47 T48 T49 T50 T57 T60 T61 T62 P11 P12 P13 P14 "
    "P15 P16 P22 P23 P24 V21 V22 V23 V27 V28 V29 V30 V31 V32 V33 V34 V35 V36 V37 V38 V39 V40 V41 V42 V43 V44 A11 A12 "
    "A13 A14 A16 A17 A22 A23 A24 A27 A28",
    "desk": "T31 T36 T37 T43 T48 T49 T50 P14 P16 V35 V42 A13 A17 A23 A24 A27 A28",
}


def score(c: AnyCell) -> dict[Any, Any]:
    """Some number for each metric that claims read; it grows with epsilon, so that lines can be fitted."""
    values = tuple(0.3 + 0.01 * seed + 0.02 * len(c.epsilon) for seed in c.seeds)
    marks = [("accuracy_by_round", count) for count in (5, 20, 50, 100, 500)] if c.study == "pldp_fl" else []
    return dict.fromkeys([*METRICS.get(c.study, "accuracy").split(), *marks], values)


def whole_run(scale: str, folder: Path) -> Evidence:
    plan = make_plan(parse_settings({"scale": scale, "studies": sorted(study_files())}))
    made = World(plan.cells, score).write(folder, plan)
    (folder / "tables").mkdir()
    for room in rooms():
        for name, table in room.tables.items():
            if table.function and not table.reads:
                room.code(table.function)(draws=2).to_csv(folder / "tables" / f"{name}.csv", index=False)
    for c in plan.cells:
        if isinstance(c.factors, LearningFactors) and c.factors.backbone:
            features = folder / "features" / c.dataset / c.factors.backbone / "train.safetensors"
            write_arrays(features, {"x": np.zeros((2, 3), np.float32)})
    return made


@pytest.mark.slow
@pytest.mark.parametrize("scale", LACKING)
def test_a_whole_run_decides_the_claims_of_its_scale(scale: str, tmp_path: Path) -> None:
    evidence = whole_run(scale, tmp_path / "results")
    table = claims_table(evidence).set_index("id")
    lacking = table[table["verdict"] == "not run at this scale"]
    assert " ".join(lacking.index) == LACKING[scale]
    assert set(lacking["observed"].str.extract(r"the (\w+) (?:grid|runs)")[0].dropna()) == {scale}


KEPT = pd.read_csv(REFERENCE / "claims.csv").fillna("")
LATER = "a later, smaller run"


@pytest.mark.slow
def test_the_kept_verdicts_are_those_of_the_kept_rows_and_no_reason_of_a_later_run_stays() -> None:
    """Otherwise run `python workflow/scripts/reference.py --decide`."""
    decided = decide_again(REFERENCE, KEPT.assign(observed=LATER, wanted=LATER))
    assert list(KEPT.columns) == list(decided.columns) == [*COLUMNS, "scale", "commit"]
    same = ["id", "verdict", "condition", "scale"]
    assert KEPT[same].to_dict("records") == decided[same].fillna("").to_dict("records")
    again = decided.set_index("id")
    assert "in one weight of the average of 70 uploads" in str(again.loc["P13", "observed"])
    assert list(again.index[again["observed"] == LATER]) == ["T33"]  # what it needs is not kept
    assert again.loc["T31", "condition"] == "svhn, darknet not read"


def test_claims_see_the_training_settings_that_rows_were_made_with(tmp_path: Path) -> None:
    merge_runs([finish(tmp_path / "run", tiny(9))], tmp_path / "reference")
    reference = tmp_path / "reference"
    for noted, epochs in ((noted_training(reference), 9), ({}, 8)):
        assert {cell.training.model_dump()["epochs"] for cell in KeptEvidence(reference, noted).plan.cells} == {epochs}


def test_claims_see_each_study_at_the_scale_of_its_own_rows(tmp_path: Path) -> None:
    quick, desk = tiny(), planned(studies=["tldp_type2"], scale="desk", datasets={"tldp_type2": ["digits"]})
    for scale, cells in (("quick", quick), ("desk", desk)):
        merge_runs([finish(tmp_path / scale, cells, scale=scale)], tmp_path / "reference")
    evidence = KeptEvidence(tmp_path / "reference")
    assert evidence.scale == "desk"
    assert {c.path: c.training for c in evidence.plan.cells} == {c.path: c.training for c in (*quick, *desk)}
    every = planned(studies=["tldp_type2"], datasets={"tldp_type2": ["digits"]})
    assert [c.training for c in every] != [c.training for c in desk[: len(every)]]  # else nothing was tested


def test_rows_of_a_cell_that_no_arm_plans_are_refused(tmp_path: Path) -> None:
    table = TRUTHS["V27"].world(True).table.assign(variant="no=arm", scale="desk", commit="c")
    table.to_parquet(tmp_path / "metrics.parquet")
    with pytest.raises(InputError, match="a cell that no arm plans: tvg_covariance ctg no=arm"):
        decide_again(tmp_path)
