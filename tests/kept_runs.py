"""Small finished runs for the tests of kept results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from tensorldp.config.cell import AnyCell
from tensorldp.config.grid import make_plan
from tensorldp.config.settings import parse_settings
from tensorldp.data.catalogue import names as dataset_names
from tensorldp.registration.kinds import MECHANISMS
from tensorldp.runtime.files import write_json
from tensorldp.studies.table import CELL, metrics_table, series_table

ROOT = Path(__file__).parents[1]
STUDIES = ROOT / "workflow" / "studies"


def planned(**settings: Any) -> tuple[AnyCell, ...]:
    """The cells of a configuration."""
    plan = make_plan(
        parse_settings({"scale": "quick", **settings}),
        STUDIES,
        mechanisms=MECHANISMS.names(),
        datasets=dataset_names(),
    )
    return plan.cells


def tiny(**changes: Any) -> tuple[AnyCell, ...]:
    """Four cells of TLDP's Type I on digits, of seeds 0 and 1 if nothing else is said."""
    settings = {
        "studies": ["tldp_type1"],
        "mechanisms": {"tldp_type1": ["none", "tldp-g", "mvg"]},
        "epsilons": {"tldp_type1": [1]},
        "seeds": [0, 1],
    }
    return tuple(cell for cell in planned(**{**settings, **changes}) if cell.mechanism in ("none", "tldp-g", "mvg"))


def finish(
    folder: Path, cells: Iterable[AnyCell], *, value: float = 0.5, scale: str = "quick", commit: str = "abc"
) -> Path:
    """The files that a run of these cells leaves: metrics of each, the tables, audits and claims."""
    measured = []
    for cell in cells:
        row = [{"seed": seed, "metric": "accuracy", "value": value} for seed in cell.seeds]
        row += [{"seed": seed, "metric": "accuracy_by_round", "round": 5, "value": value} for seed in cell.seeds]
        run = {"seconds": 2.0, "peak_mb": 1.0, "device": "cpu", "commit": commit}
        metrics = {"cell": cell.settings(), "rows": row, "runs": {str(seed): run for seed in cell.seeds}}
        write_json(folder / "metrics" / f"{cell.path}.json", metrics)
        guarantee = {"unit": "record", "epsilon": 1, "delta": 1e-5, "pure_epsilon": 1, "atom": 0, "exact": True}
        measured.append((metrics, guarantee))
    metrics_table(measured, scale).to_parquet(folder / "metrics.parquet", index=False)
    series_table(measured).to_parquet(folder / "series.parquet", index=False)
    audits = [dict(zip(CELL, (c.study, c.dataset, c.variant, c.mechanism, c.epsilon), strict=True)) for c in cells]
    (folder / "privacy").mkdir()
    found = {"epsilon_lower": value, "delta": 0.0, "samples": 100, "event": "", "refuted": False}
    found |= {"guarantee_epsilon": 1.0, "guarantee_pure_epsilon": 1.0}
    pd.DataFrame([{**row, **found} for row in audits]).to_csv(folder / "privacy" / "audits.csv", index=False)
    pd.DataFrame([{"id": "T01", "verdict": "refuted"}]).to_csv(folder / "claims.csv", index=False)
    return folder


def with_seeds(cells: Iterable[AnyCell], *seeds: int) -> tuple[AnyCell, ...]:
    """The same cells with these seeds."""
    return tuple(replace(cell, seeds=seeds) for cell in cells)
