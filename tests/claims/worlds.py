"""Made-up tables of results with a known truth, one in which a claim is true by a margin and one in which it is false.

A world gives the mean of every cell's metrics; a draw adds noise to it, seed by seed. Draws stay in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from invented import cell

from tensorldp_papers.claims.base import NotRun, catalogue, load_checks, verdict
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.run.cell import AnyCell, variant_factors, variant_text
from tensorldp_papers.run.grid import Plan
from tensorldp_papers.run.settings import parse_settings

Noise = float | Mapping[str, float]  # of all cells, or by study
Means = Callable[[AnyCell], dict[Any, float]]  # by metric, or by metric and round
SEEDS = 3
NOISE = 0.002  # of a score from seed to seed; of log10 of an error eight times as much
ERRORS = ("error", "relative_error", "rss_noisy", "rss_true")  # noise multiplies them
SHARED = ("error",)  # one attack on the same records: the noise is the seed's, whatever the defence
EXACT = ("train_records", "noise", "accuracy_ceiling", "uploaded_megabytes")
GUARANTEE: dict[str, Any] = {"guarantee_unit": "record", "guarantee_epsilon": 1.0, "guarantee_delta": 1e-5}


class Draw(Evidence):
    """The results of a world's cells, in memory."""

    def __init__(self, cells: tuple[AnyCell, ...], table: pd.DataFrame, rows: dict[str, np.ndarray[Any, Any]]) -> None:
        super().__init__(Plan(parse_settings({"scale": "paper", "studies": ["x"]}), {}, cells), Path())
        self._table, self._rows = table, rows

    def measured(self, cells: list[AnyCell]) -> pd.DataFrame:
        return self._table.take(np.concatenate([self._rows[cell.path] for cell in cells]))


class World:
    """Cells with the means of their metrics, from which draws are made."""

    def __init__(
        self, cells: Iterable[AnyCell], means: Means, *, seeds: int = SEEDS, noise: Noise | None = None
    ) -> None:
        self.cells, self.noise = tuple(cells), noise
        records, paths = [], []
        for planned in self.cells:
            for metric, value in means(planned).items():
                name, count = metric if isinstance(metric, tuple) else (metric, np.nan)
                for seed in range(seeds):
                    key = (planned.study, planned.dataset, planned.variant, planned.mechanism, float(planned.epsilon))
                    records.append((*key, seed, name, count, value))
                    paths.append(planned.path)
        names = ["study", "dataset", "variant", "mechanism", "epsilon", "seed", "metric", "round", "value"]
        named = ("study", "dataset", "variant", "mechanism", "metric", "guarantee_unit")
        texts = dict.fromkeys(named, object)  # quicker than Arrow's
        self.table = pd.DataFrame(records, columns=names).assign(guarantee_pure_epsilon=2.0, **GUARANTEE).astype(texts)
        self.rows = {str(path): np.asarray(own) for path, own in pd.Series(paths).groupby(paths).indices.items()}
        own = self.table["metric"]
        self.exact = (own.isin(EXACT)).to_numpy()
        self.errors = own.isin(ERRORS).to_numpy()
        self.shared = own.isin(SHARED).to_numpy()

    def draw(self, stream: np.random.Generator, noise: float = NOISE) -> Draw:
        """The world's results with fresh noise, which is the world's own if it has one."""
        given = noise if self.noise is None else self.noise
        size = self.table["study"].map(dict(given)).to_numpy(float) if isinstance(given, Mapping) else given
        values, seeds = self.table["value"].to_numpy(), self.table["seed"].to_numpy()
        own = stream.standard_normal(len(values))
        own = np.where(self.shared, stream.standard_normal(seeds.max() + 1)[seeds], own)
        unit = np.where(self.table["metric"] == "psnr", 100.0, 1.0)
        noisy = np.where(self.errors, values * 10 ** (8 * size * own), values + size * unit * own)
        return Draw(self.cells, self.table.assign(value=np.where(self.exact, values, noisy)), self.rows)


def decided(id: str, evidence: Evidence) -> str:
    """The verdict on a claim, or `not run`."""
    try:
        return verdict(catalogue()[id], load_checks()[id].check(evidence))
    except NotRun:
        return "not run"


def factors_of(c: AnyCell) -> dict[str, str]:
    """A cell's further factors as texts."""
    return variant_factors(c.variant)


def centred(c: AnyCell) -> AnyCell:
    """A cell of PDPM with its safe ranges around the weights that the server has sent."""
    return replace(c, variant=variant_text({**factors_of(c), "centre": "global"}))


@dataclass(frozen=True)
class Truth:
    """The cells that a claim looks at, with means that make it true and means that make it false."""

    cells: Iterable[AnyCell]
    true: Means
    false: Means
    noise: tuple[Noise, Noise] | None = None  # of the two, where the claim is about the noise
    weak: bool = False  # whether no run of ours can refute it, as all of them differ from the source's in one setting

    def world(self, true: bool, seeds: int = SEEDS) -> World:
        """The world in which the claim is true, or the one in which it is false."""
        return World(
            self.cells, self.true if true else self.false, seeds=seeds, noise=self.noise and self.noise[not true]
        )


def grid_of(
    study: str, datasets: str | Iterable[str], mechanisms: Iterable[str], epsilons: Iterable[float], **factors: Any
) -> list[AnyCell]:
    names = [datasets] if isinstance(datasets, str) else datasets
    return [
        cell(study, dataset, name, epsilon, seeds=SEEDS, **factors)
        for dataset in names
        for name in mechanisms
        for epsilon in (["inf"] if name == "none" else [f"{e:g}" for e in epsilons])
    ]


def means_by(metric: str, scores: dict[str, float], default: float = 0.1) -> Means:
    return lambda c: {metric: scores.get(c.mechanism, default)}


def score_by(metric: str, function: Callable[[str, float], float]) -> Means:
    return lambda c: {metric: function(c.mechanism, float(c.epsilon))}


F1 = "weighted_f1"
