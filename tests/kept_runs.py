"""Small finished runs for the tests of kept results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from tensorldp.files import write_json
from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.code_digest import code_of_cell
from tensorldp_papers.run.grid import make_plan
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.store import Store, Task, scores_of
from tensorldp_papers.run.table import CELL, metrics_table, series_table

ROOT = Path(__file__).parents[1]
WORKFLOW = ROOT / "workflow"


def planned(**settings: Any) -> tuple[AnyCell, ...]:
    """The cells of a configuration."""
    plan = make_plan(parse_settings({"scale": "quick", **settings}))
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
    folder: Path,
    cells: Iterable[AnyCell],
    *,
    value: float = 0.5,
    scale: str = "quick",
    commit: str = "abc",
    code: str | None = None,
) -> Path:
    """The files that a run of these cells leaves; its code is today's, if nothing else is said."""
    store, cells, manifest = Store(folder), tuple(cells), {}
    for cell in cells:
        task = Task(cell, cell.settings(), code or code_of_cell(cell, ROOT / "workflow" / "scripts"))
        rows = [{"metric": "accuracy", "value": value}, {"metric": "accuracy_by_round", "round": 5, "value": value}]
        run = {"seconds": 2.0, "peak_mb": 1.0, "device": "cpu", "isa": "avx2", "precision": "float32", "commit": commit}
        for seed in cell.seeds:
            store.write(task, f"seed~{seed}", {"rows": rows, "run": run})
        manifest[cell.path] = {f"seed~{seed}": task.key for seed in cell.seeds}
    write_json(folder / "batches" / cells[0].study / cells[0].dataset / "0" / "scores.json", manifest)
    guarantee = {"unit": "record", "epsilon": 1, "delta": 1e-5, "pure_epsilon": 1, "atom": 0, "exact": True}
    measured = [(scores_of(parts), guarantee) for parts in store.read(manifest).values()]
    metrics_table(measured, scale).to_parquet(folder / "metrics.parquet", index=False)
    series_table(measured).to_parquet(folder / "series.parquet", index=False)
    names = [dict(zip(CELL, (c.study, c.dataset, c.variant, c.mechanism, c.epsilon), strict=True)) for c in cells]
    (folder / "privacy").mkdir()
    audits = pd.DataFrame([{**name, "epsilon_lower": value, "delta": 0.0, "samples": 100} for name in names])
    audits.to_csv(folder / "privacy" / "audits.csv", index=False)
    pd.DataFrame([{**name, "standing": "audited", "reason": ""} for name in names]).to_csv(
        folder / "standing.csv", index=False
    )
    pd.DataFrame([{"id": "T01", "verdict": "refuted"}]).to_csv(folder / "claims.csv", index=False)
    return folder


def with_seeds(cells: Iterable[AnyCell], *seeds: int) -> tuple[AnyCell, ...]:
    """The same cells with these seeds."""
    return tuple(replace(cell, seeds=seeds) for cell in cells)
