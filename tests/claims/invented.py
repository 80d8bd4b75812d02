"""Results made up cell by cell, without a study file or a run: a world has means, and a draw adds noise by seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tensorldp_papers.claims.base import Finding, NotRun, catalogue, load_checks, verdict
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.registries import METHODS
from tensorldp_papers.run.cell import AnyCell, Cell, variant_factors, variant_text
from tensorldp_papers.run.grid import Plan, make_plan
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.study import load_study, study_files

Noise = float | Mapping[str, float]  # of all cells, or by study
Means = Callable[[AnyCell], Mapping[Any, Any]]  # by metric, or by metric and round or epoch; of a tuple one a seed
SEEDS = 3
NOISE = 0.001  # of a score from seed to seed; of log10 of an error eight times as much
ERRORS = ("error", "relative_error", "rss_noisy", "rss_true")  # noise multiplies them
SHARED = ("error",)  # one attack on the same records: the noise is the seed's, whatever the defence
EXACT = ("train_records", "noise", "accuracy_ceiling", "uploaded_megabytes")
NEEDED = {"model": "ann", "where": "user", "attack": "tensor"}
GUARANTEE: dict[str, Any] = {"guarantee_unit": "record", "guarantee_epsilon": 1.0, "guarantee_delta": 1e-5}
COLUMNS = ["path", "study", "dataset", "variant", "mechanism", "epsilon", "seed", "metric", "round", "value"]
TEXTS = ("path", "study", "dataset", "variant", "mechanism", "metric", "guarantee_unit")


@cache
def method_of(study: str) -> str:
    return load_study(study_files()[study]).method


def cell(
    study: str,
    dataset: str,
    mechanism: str = "none",
    epsilon: str = "inf",
    *,
    seeds: int = SEEDS,
    training: Mapping[str, Any] | None = None,
    **factors: Any,
) -> AnyCell:
    """A planned cell; its method's factors that are not given are not in its variant."""
    method = method_of(study)
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


def grid_of(
    study: str, datasets: str | Iterable[str], mechanisms: Iterable[str], epsilons: Iterable[float] = (), **factors: Any
) -> list[AnyCell]:
    """A cell for each data set, mechanism and epsilon."""
    return [
        cell(study, dataset, name, epsilon, **factors)
        for dataset in ([datasets] if isinstance(datasets, str) else datasets)
        for name in mechanisms
        for epsilon in (["inf"] if name == "none" else [f"{e:g}" for e in epsilons])
    ]


def plan_at(scale: str, *studies: str, seeds: int = SEEDS) -> Plan:
    """What the studies' own files plan."""
    return make_plan(parse_settings({"scale": scale, "studies": list(studies), "seeds": list(range(seeds))}))


def factors_of(c: AnyCell) -> dict[str, str]:
    """A cell's further factors as texts."""
    return variant_factors(c.variant)


class Draw(Evidence):
    """Results in memory; of some cells there may be none."""

    def __init__(self, cells: Iterable[AnyCell] = (), world: World | None = None, results: Path = Path("none")) -> None:
        super().__init__(Plan(parse_settings({"scale": "paper", "studies": ["x"]}), {}, tuple(cells)), results)
        self._table, self._rows = (world.table, world.rows) if world else (pd.DataFrame(), {})

    def measured(self, cells: list[AnyCell], metric: str | None = None) -> pd.DataFrame:
        if missing := [c.path for c in cells if c.path not in self._rows]:
            raise NotRun(f"needs the results of {missing[0]}")
        rows = self._table.take(np.concatenate([self._rows[c.path] for c in cells]))
        return rows if metric is None else rows[rows["metric"] == metric]


class World:
    """Cells with the means of their metrics; with `noise`, every draw has that."""

    def __init__(
        self, cells: Iterable[AnyCell], means: Means, *, seeds: int | None = None, noise: Noise | None = None
    ) -> None:
        self.cells, self.noise = tuple(cells), noise
        rows = []
        for c in self.cells:
            name = (c.path, c.study, c.dataset, c.variant, c.mechanism, float(c.epsilon))
            for metric, mean in means(c).items():
                mark = metric if isinstance(metric, tuple) else (metric, np.nan)
                for seed in range(seeds) if seeds else c.seeds:
                    rows.append((*name, seed, *mark, mean[seed % len(mean)] if isinstance(mean, tuple) else mean))
        table = pd.DataFrame(rows, columns=COLUMNS).assign(guarantee_pure_epsilon=2.0, **GUARANTEE)
        self.table = table.assign(epoch=table["round"]).astype(dict.fromkeys(TEXTS, object))  # quicker than Arrow's
        self.rows = {str(path): np.asarray(own) for path, own in table.groupby("path").indices.items()}
        own = table["metric"]
        self.exact, self.errors, self.shared = (own.isin(names).to_numpy() for names in (EXACT, ERRORS, SHARED))

    def draw(self, stream: np.random.Generator | int = 0, noise: float = NOISE) -> Draw:
        """The world's results with fresh noise."""
        stream = np.random.default_rng(stream) if isinstance(stream, int) else stream
        given = noise if self.noise is None else self.noise
        size = self.table["study"].map(dict(given)).to_numpy(float) if isinstance(given, Mapping) else given
        values, seeds = self.table["value"].to_numpy(), self.table["seed"].to_numpy()
        own = stream.standard_normal(len(values))
        own = np.where(self.shared, stream.standard_normal(seeds.max(initial=0) + 1)[seeds], own)
        unit = np.where(self.table["metric"] == "psnr", 100.0, 1.0)
        noisy = np.where(self.errors, values * 10 ** (8 * size * own), values + size * unit * own)
        drawn = copy(self)
        drawn.table = self.table.assign(value=np.where(self.exact, values, noisy))
        return Draw(self.cells, drawn)

    def write(self, folder: Path, plan: Plan) -> Evidence:
        """The means as the metrics of a run of a plan, in files."""
        folder.mkdir(exist_ok=True)
        self.table.to_parquet(folder / "metrics.parquet")
        return Evidence(plan, folder)


def found(id: str, evidence: Evidence) -> Finding:
    """What the check of a claim finds."""
    return load_checks()[id].check(evidence)


def check(id: str, evidence: Evidence) -> tuple[str, str]:
    """The verdict on a claim and what was observed, or `not run` and why."""
    try:
        finding = found(id, evidence)
    except NotRun as missing:
        return "not run", str(missing)
    return verdict(catalogue()[id], finding), finding.observed


def decided(id: str, evidence: Evidence) -> str:
    return check(id, evidence)[0]


@dataclass(frozen=True)
class Truth:
    """The cells that a claim looks at, with means that make it true and means that make it false."""

    cells: Iterable[AnyCell]
    true: Means
    false: Means
    noise: tuple[Noise, Noise] | None = None  # of the two, where the claim is about the noise

    def world(self, true: bool, seeds: int = SEEDS, cells: Iterable[AnyCell] | None = None) -> World:
        """The world in which the claim is true, or the one in which it is false."""
        noise = self.noise and self.noise[not true]
        return World(cells or self.cells, self.true if true else self.false, seeds=seeds, noise=noise)
