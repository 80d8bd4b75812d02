"""Plans and results made up cell by cell, for the checks alone: no study file, no run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from tensorldp_papers.claims.base import NotRun, catalogue, load_checks, verdict
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.registries import METHODS
from tensorldp_papers.run.cell import AnyCell, Cell, variant_text
from tensorldp_papers.run.grid import Plan, make_plan
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.study import load_study, study_files
from tensorldp_papers.run.table import metrics_table, series_table

NEEDED = {"model": "ann", "where": "user", "attack": "tensor"}
GUARANTEE = {"unit": "run", "epsilon": 1.0, "delta": 1e-5, "pure_epsilon": 2.0, "atom": 0.0, "exact": True}
Score = Callable[[AnyCell, int], Mapping[Any, float]]  # by metric, or by (metric, round or epoch)


def cell(
    study: str,
    dataset: str,
    mechanism: str,
    epsilon: str,
    *,
    seeds: int = 3,
    training: dict[str, Any] | None = None,
    **factors: Any,
) -> AnyCell:
    """A planned cell; its method's factors that are not given are not in its variant."""
    method = load_study(study_files()[study]).method
    plan = METHODS[method]
    own = {key: value for key, value in factors.items() if key in plan.factors.model_fields}
    filled = {key: NEEDED[key] for key, field in plan.factors.model_fields.items() if field.is_required()}
    settings = {key: value for key, value in factors.items() if key in plan.training.model_fields}
    return Cell(
        study=study,
        dataset=dataset,
        variant=variant_text(factors),
        mechanism=mechanism,
        epsilon=epsilon,
        release="data",
        method=method,
        delta=1e-5,
        training=plan.training.model_validate({**(training or {}), **settings}),
        factors=plan.factors.model_validate({**filled, **own}),
        seeds=tuple(range(seeds)),
    )


def named(metric: str | tuple[str, int]) -> dict[str, str | int]:
    """A metric, or a metric and its round or epoch, as a row has them."""
    if isinstance(metric, str):
        return {"metric": metric}
    return {"metric": metric[0], "epoch" if metric[0].endswith("_by_epoch") else "round": metric[1]}


def paper_cells(*studies: str, seeds: int = 2) -> tuple[AnyCell, ...]:
    """The cells that the studies' own files plan at paper scale."""
    settings = parse_settings({"scale": "paper", "studies": list(studies), "seeds": list(range(seeds))})
    return make_plan(settings).cells


def write_tables(results: Path, cells: list[tuple[dict[str, Any], dict[str, Any]]], scale: str) -> None:
    """The tables of a run, from the scores of cells and their guarantees."""
    results.mkdir(parents=True, exist_ok=True)
    metrics_table(cells, scale).to_parquet(results / "metrics.parquet")
    series_table(cells).to_parquet(results / "series.parquet")


def edit(results: Path, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    """Change the metrics of a run."""
    path = results / "metrics.parquet"
    change(pd.read_parquet(path)).to_parquet(path)


@dataclass
class Run:
    """A plan of some cells and the folder of their results."""

    cells: tuple[AnyCell, ...]
    results: Path
    scale: str = "paper"

    @property
    def evidence(self) -> Evidence:
        """The results as claims see them."""
        return Evidence(Plan(parse_settings({"scale": self.scale, "studies": ["x"]}), {}, self.cells), self.results)

    def write(self, score: Score, **guarantee: Any) -> Run:
        """Give every cell the metrics that `score` says of a seed."""
        run = {"seconds": 1.0, "peak_mb": 1.0, "device": "cpu", "commit": "c"}
        found: list[tuple[dict[str, Any], dict[str, Any]]] = []
        for planned in self.cells:
            rows = [{"seed": s, **named(m), "value": v} for s in planned.seeds for m, v in score(planned, s).items()]
            metrics = {"cell": planned.settings(), "rows": rows, "runs": {str(s): run for s in planned.seeds}}
            found.append((metrics, {**GUARANTEE, **guarantee}))
        write_tables(self.results, found, self.scale)
        return self

    def check(self, id: str) -> tuple[str, str]:
        """The verdict and what was observed, or `not run` and why."""
        try:
            finding = load_checks()[id].check(self.evidence)
        except NotRun as missing:
            return "not run", str(missing)
        return verdict(catalogue()[id], finding), finding.observed
