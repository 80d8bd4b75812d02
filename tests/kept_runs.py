"""Small finished runs for the tests of kept results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from tensorldp_papers.kept.merge import merge_runs
from tensorldp_papers.kept.provenance import name_of
from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.code_digest import code_of_cell
from tensorldp_papers.run.grid import make_plan
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.store import Store, Task, scores_of, write_manifest
from tensorldp_papers.run.table import CELL, metrics_table, series_table

ROOT = Path(__file__).parents[1]
WORKFLOW, REFERENCE = ROOT / "workflow", ROOT / "results" / "reference"
Cells = tuple[AnyCell, ...]
GUARANTEE = {"unit": "record", "epsilon": 1, "delta": 1e-5, "pure_epsilon": 1, "atom": 0, "exact": True}


def planned(**settings: Any) -> Cells:
    """The cells of a configuration."""
    return make_plan(parse_settings({"scale": "quick", **settings})).cells


def tiny(epochs: int = 8, **changes: Any) -> Cells:
    """Four cells of TLDP's Type I on digits, of seeds 0 and 1 if nothing else is said."""
    own: dict[str, Any] = {"mechanisms": ["none", "tldp-g", "mvg"], "epsilons": [1], "training": {"epochs": epochs}}
    settings = {"seeds": [0, 1], **{key: {"tldp_type1": value} for key, value in own.items()}, **changes}
    return tuple(c for c in planned(studies=["tldp_type1"], **settings) if c.mechanism in own["mechanisms"])


def with_seeds(cells: Iterable[AnyCell], *seeds: int) -> Cells:
    """The same cells with these seeds."""
    return tuple(replace(cell, seeds=seeds) for cell in cells)


def finish(
    folder: Path,
    cells: Iterable[AnyCell],
    *,
    value: float = 0.5,
    scale: str = "quick",
    commit: str = "abc",
    code: str | None = None,
    version: int = 1,
) -> Path:
    """The files that a run of these cells leaves, by today's code and with the method's `version`, or by other code."""
    store, cells, manifest = Store(folder), tuple(cells), {}
    rows = [{"metric": "accuracy", "value": value}, {"metric": "accuracy_by_round", "round": 5, "value": value}]
    run = {"seconds": 2.0, "peak_mb": 1.0, "device": "cpu", "isa": "avx2", "precision": "float32", "commit": commit}
    for cell in cells:
        task = Task(cell, cell.settings(), code or code_of_cell(cell, WORKFLOW / "scripts"))
        for seed in cell.seeds:
            store.write(task, f"seed~{seed}", {"rows": rows, "run": run, "method_version": version})
        manifest[cell.path] = {f"seed~{seed}": task.key for seed in cell.seeds}
    write_manifest(folder / "batches" / cells[0].study / cells[0].dataset / "0" / "scores.json", manifest)
    measured = [(scores_of(parts), GUARANTEE) for parts in store.read(manifest).values()]
    metrics_table(measured, scale).to_parquet(folder / "metrics.parquet", index=False)
    series_table(measured).to_parquet(folder / "series.parquet", index=False)
    names = pd.DataFrame([name_of(cell) for cell in cells], columns=CELL)
    (folder / "privacy").mkdir()
    names.assign(epsilon_lower=value, samples=100).to_csv(folder / "privacy" / "audits.csv", index=False)
    names.assign(standing="audited", reason="", largest_class=0.1).to_csv(folder / "standing.csv", index=False)
    return folder


class Kept:
    """A folder of kept results into which made-up runs are merged."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.runs = folder / "reference", folder / "runs"

    def merge(self, cells: Iterable[AnyCell], **made: Any) -> list[str]:
        """Merge a finished run of these cells."""
        return merge_runs([finish(self.runs / str(len(list(self.runs.glob("*")))), cells, **made)], self.folder)

    def table(self, name: str) -> pd.DataFrame:
        """One of its tables."""
        return (pd.read_csv if name.endswith(".csv") else pd.read_parquet)(self.folder / name)

    @property
    def values(self) -> list[float]:
        """All values, rising."""
        return sorted(self.table("metrics.parquet")["value"])
