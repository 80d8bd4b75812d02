"""The scores behind TVG's Figures 3 to 5, and their differences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tensorldp_papers.claims.base import NotRun
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.fairness import shortfall
from tensorldp_papers.claims.statements import Estimate, Inside, minus, per_epsilon, per_seed
from tensorldp_papers.data.catalogue import get

IMAGES = ("mnist", "cifar10", "svhn")
SGD, FEATURES, TESTING = "tvg_sgd", "tvg_features", "tvg_testing"
METRIC = {SGD: "accuracy", FEATURES: "accuracy", TESTING: "accuracy_perturbed_test"}
LARGEST_CLASS = {"adult": 0.764, "svhn": 0.196, "credit": 0.5}  # of the test sets; Credit's score is an AUC
AT_CHANCE = 0.03  # above the largest class: two standard errors on 1,000 test records ...
AT_CHANCE_OF = {"adult": 0.01}  # ... and three on Adult's 16,281


@dataclass(frozen=True)
class Scores:
    """The scores of one data set in one of the figures.

    Attributes:
        dataset: its name.
        rows: of the metrics table.
        weak: how the runs fall short of the paper's, see `fairness`.
    """

    dataset: str
    rows: pd.DataFrame
    weak: str = ""

    def of(self, mechanism: str) -> pd.DataFrame:
        """The rows of one mechanism."""
        return self.rows[self.rows["mechanism"] == mechanism]

    def points(self, mechanism: str) -> dict[float, Estimate]:
        """The mean score at each epsilon, rising."""
        return per_epsilon(self.of(mechanism))

    def learned(self, mechanism: str, epsilons: Iterable[float]) -> bool:
        """Whether a mechanism is above chance at one of these epsilons."""
        chance = LARGEST_CLASS.get(self.dataset, 1 / get(self.dataset).classes)
        points = self.points(mechanism)
        best = max(points[epsilon].mean for epsilon in epsilons)
        return best > chance + AT_CHANCE_OF.get(self.dataset, AT_CHANCE)

    def gap(
        self,
        first: str,
        second: str,
        low: float = -np.inf,
        high: float = np.inf,
        epsilons: Iterable[float] | None = None,
    ) -> Inside:
        """first - second on average over the epsilons of both, or over some, between two limits.

        Where both are at chance, their scores say nothing of an order: only epsilons at which one has learned count,
        and the comparison is void if there is none.

        Raises:
            NotRun: if they have no epsilon in common.
        """
        rows = self.of(first), self.of(second)
        shared = set(rows[0]["epsilon"]) & set(rows[1]["epsilon"])
        shared = shared if epsilons is None else shared & set(epsilons)
        if not shared:
            raise NotRun(f"needs {first} and {second} on {self.dataset} at the same epsilon")
        telling = {e for e in shared if self.learned(first, [e]) or self.learned(second, [e])}
        means = [per_seed(own[own["epsilon"].isin(telling or shared)]) for own in rows]
        at = "" if epsilons is None else f" at epsilon {', '.join(f'{e:g}' for e in sorted(shared))}"
        void = "" if telling else "both at chance at every epsilon"
        name = f"{first} - {second} on {self.dataset}{at}"
        return Inside(name, minus(means[0], means[1]), low, high, void, self.weak)


def read(found: Evidence, study: str, mechanisms: Iterable[str], datasets: Iterable[str]) -> list[Scores]:
    """The scores on those of some data sets that have the last of some mechanisms planned, in the paper's unit.

    Raises:
        NotRun: if none has, or a result is missing.
    """
    wanted, names = list(mechanisms), list(datasets)
    factors = {} if study == SGD else {"unit": "batch", "subspace": None}
    planned = [name for name in names if found.cells(study, dataset=name, mechanism=wanted[-1], **factors)]
    if not planned:
        raise NotRun(
            f"needs {study} with {wanted[-1]} on {' or '.join(names)}, which the {found.scale} grid does not have"
        )
    metric = {name: "auc" if study == SGD and name == "credit" else METRIC[study] for name in planned}
    return [
        Scores(
            name,
            found.rows(study, metric[name], dataset=name, mechanism=wanted, **factors),
            shortfall(found.cells(study, dataset=name, mechanism=wanted, **factors)),
        )
        for name in planned
    ]


def not_run(made: Iterable[Scores], names: Iterable[str]) -> str:
    """The data sets of a claim that were not run, as a condition."""
    missing = [name for name in names if name not in {own.dataset for own in made}]
    return f"{', '.join(missing)} not run" if missing else ""
