"""A whole run decides most claims: every cell of a scale has made-up results, and claims find what they ask for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from invented import World

from tensorldp.files import write_arrays
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.kept import EXACT
from tensorldp_papers.claims.table import claims_table
from tensorldp_papers.papers.tldp.settings import LearningFactors
from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.grid import make_plan
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.study import study_files

METRICS = {
    "latent": "accuracy train_accuracy train_records",
    "pldp_fl": "accuracy uploaded_megabytes",
    "pldp_synthetic": "relative_error",
    "reconstruction": "psnr error noise",
    "tldp_type1": "weighted_f1",
    "tldp_type2": "weighted_f1",
    "tldp_type3": "weighted_f1",
    "tvg_covariance": "rss_noisy rss_true",
    "tvg_sgd": "accuracy auc",
    "tvg_testing": "accuracy_perturbed_test accuracy_ceiling",
}
LACKING = {
    "quick": "T31 T34 T35 T36 T37 T38 T39 T40 T41 T42 T43 T44 T45 T46 T47 T48 T49 T50 T57 T60 T61 T62 P11 P12 P13 P14 "
    "P15 P16 P22 P24 V21 V22 V23 V27 V28 V29 V30 V31 V32 V33 V34 V35 V36 V37 V38 V39 V40 V41 V42 A11 A12 A13 A14 A16 "
    "A17 A22 A23 A24",
    "desk": "T31 T36 T37 T43 T48 T49 T50 P14 P16 V35 V42 A13 A17 A23 A24",
}
pytestmark = pytest.mark.xdist_group("claims")


@pytest.fixture(autouse=True)
def quick_texts() -> Iterator[None]:
    with pd.option_context("mode.string_storage", "python"):
        yield


def score(c: AnyCell) -> dict[Any, Any]:
    """Some number for each metric that claims read; it grows with epsilon, so that lines can be fitted."""
    values = tuple(0.3 + 0.01 * seed + 0.02 * len(c.epsilon) for seed in c.seeds)
    marks = [("accuracy_by_round", count) for count in (5, 20, 50, 100, 500)] if c.study == "pldp_fl" else []
    return dict.fromkeys([*METRICS.get(c.study, "accuracy").split(), *marks], values)


def whole_run(scale: str, folder: Path) -> Evidence:
    plan = make_plan(parse_settings({"scale": scale, "studies": sorted(study_files())}))
    made = World(plan.cells, score).write(folder, plan)
    (folder / "tables").mkdir()
    for name, table in EXACT.items():
        table(draws=2).to_csv(folder / "tables" / f"{name}.csv", index=False)
    for c in plan.cells:
        if isinstance(c.factors, LearningFactors) and c.factors.backbone:
            features = folder / "features" / c.dataset / c.factors.backbone / "train.safetensors"
            write_arrays(features, {"x": np.zeros((2, 3), np.float32)})
    return made


@pytest.mark.parametrize("scale", LACKING)
def test_a_whole_run_decides_the_claims_of_its_scale(scale: str, tmp_path: Path) -> None:
    evidence = whole_run(scale, tmp_path / "results")
    table = claims_table(evidence).set_index("id")
    lacking = table[table["verdict"] == "not run at this scale"]
    assert " ".join(lacking.index) == LACKING[scale]
    assert set(lacking["observed"].str.extract(r"the (\w+) (?:grid|runs)")[0].dropna()) == {scale}
