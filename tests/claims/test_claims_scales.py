"""A whole run decides most claims: every cell of a scale has made-up results, and claims find what they ask for."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import invented
import numpy as np
import pandas as pd
import pytest

from tensorldp.files import write_arrays
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.table import claims_table
from tensorldp_papers.papers.tldp.error_table import error_table
from tensorldp_papers.papers.tldp.settings import LearningFactors
from tensorldp_papers.papers.tvg.growth_table import growth_table
from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.grid import Plan, make_plan
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.study import study_files
from tensorldp_papers.run.table import CELL

STUDIES = sorted(study_files())
COMPUTED = {"reproduced", "holds with a condition", "not reproduced", "refuted", "undecided"}
METRICS = (
    "accuracy",
    "accuracy_perturbed_test",
    "weighted_f1",
    "weighted_f1_perturbed_test",
    "train_accuracy",
    "train_records",
    "largest_class",
    "string_bits",
    "uploaded_megabytes",
    "absolute_error",
    "relative_error",
    "expected_absolute_error",
    "expected_relative_error",
    "frobenius",
    "rss_noisy",
    "rss_true",
    "auc",
    "canary_auc",
    "psnr",
    "error",
    "noise",
    "accuracy_ceiling",
    "gradient_norm",
    "change",
)


def planned(scale: str) -> Plan:
    return make_plan(parse_settings({"scale": scale, "studies": STUDIES}))


def score(cell: AnyCell, seed: int) -> dict[Any, float]:
    """Some number for each metric of any study; it grows with epsilon, so that lines can be fitted."""
    value = 0.3 + 0.01 * seed + 0.02 * len(cell.epsilon)
    rounds = {("accuracy_by_round", count): value for count in range(5, 501, 5)} if cell.study == "pldp_fl" else {}
    return {**dict.fromkeys(METRICS, value), **rounds}


def full_run(scale: str, folder: Path) -> Evidence:
    plan = planned(scale)
    invented.Run(plan.cells, folder / "results", scale).write(score)
    tables = folder / "results" / "tables"
    tables.mkdir()
    error_table(draws=2).to_csv(tables / "tldp_table5.csv", index=False)
    growth_table(draws=2).to_csv(tables / "tvg_table4.csv", index=False)
    for cell in plan.cells:
        if isinstance(cell.factors, LearningFactors) and cell.factors.backbone:
            write_arrays(
                folder / "results" / "features" / cell.dataset / cell.factors.backbone / "train.safetensors",
                {"x": np.zeros((2, 3), np.float32)},
            )
    return Evidence(plan, folder / "results")


def verdicts(evidence: Evidence) -> pd.Series:
    return claims_table(evidence).set_index("id")["verdict"]


# a claim and what it reads at both scales: a file, or cells of the study of attacks with this in their variant
FILES = {
    "T18": "tables/tldp_table5.csv",
    "V14": "tables/tvg_table4.csv",
    "T33": "features/{dataset}/{backbone}/train.safetensors",
}
CELLS = {"L14": "defence=none", "L17": "defence=clip", "L20": "defence=prune", "L18": "defence=mechanism"}


@pytest.mark.parametrize(("scale", "least"), [("quick", 90), ("desk", 110)])
def test_a_whole_run_decides_most_claims_and_a_lost_result_undoes_those_that_read_it(
    scale: str, least: int, tmp_path: Path
) -> None:
    evidence = full_run(scale, tmp_path)
    before = verdicts(evidence)
    assert before.isin(COMPUTED).sum() >= least
    run = invented.Run(evidence.plan.cells, evidence.results, scale)
    own = evidence.plan.of("tldp_type2")[0]
    assert isinstance(own.factors, LearningFactors)
    for id, name in FILES.items():
        assert before[id] in COMPUTED | {"not checkable"}, id
        path = evidence.results / name.format(dataset=own.dataset, backbone=own.factors.backbone)
        shutil.move(path, tmp_path / "kept")
        assert run.check(id)[0] == "not run", id
        shutil.move(tmp_path / "kept", path)
        assert run.check(id)[0] == before[id], id
    path = evidence.results / "metrics.parquet"
    whole = pd.read_parquet(path)
    synthetic = whole[(whole["study"] == "reconstruction") & (whole["dataset"] == "synthetic")]
    for id, words in CELLS.items():
        assert before[id] in COMPUTED | {"not checkable"}, id
        lost = synthetic.loc[synthetic["variant"].str.contains(words), CELL].iloc[0]
        whole[(whole[CELL] != lost).any(axis=1)].to_parquet(path)
        assert run.check(id)[0] == "not run", id
        whole.to_parquet(path)
        assert run.check(id)[0] == before[id], id
