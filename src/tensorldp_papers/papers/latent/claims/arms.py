"""LATENT's cells in our runs: which stand for the paper's networks.

The paper's section 3 can be read in two ways, and a claim holds if it holds in one of them, which it then names with
the guarantee that reading has. The paper's networks on CIFAR-10 learned from altered images besides (4.1.3): where
those were run, they stand for the paper's. Networks at chance differ by more than claims ask for by themselves (random
ones on the embedded digits have a standard deviation of 0.04), so that they decide nothing on constancy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from tensorldp.kinds import NO_PRIVACY
from tensorldp_papers.claims.base import Finding, NotRun
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.fairness import settled, shortfall, weakly
from tensorldp_papers.claims.laws import cifar_latent, latent
from tensorldp_papers.claims.statements import (
    ALPHA,
    LEAST_SEEDS,
    Estimate,
    Every,
    Some,
    Statement,
    finding,
    joined,
    minus,
    per_epsilon,
    per_seed,
)

STUDY = "latent"
CLEAN, TRAINING, RECORDS = "accuracy", "train_accuracy", "train_records"
AT_CHANCE = 0.1  # above the largest class: more than two standard deviations of networks that learned nothing
DATASETS = ("mnist", "cifar10")
ALTERED = "1"  # altered copies of each image, in the networks of 4.1.3

Parts = Mapping[str, Statement]  # by data set


def altered(found: Evidence, dataset: str, reading: str) -> str | None:
    """The factor `augment` of the networks that stand for the paper's."""
    cells = found.cells(STUDY, dataset=dataset, mechanism="latent", reading=reading, augment=ALTERED)
    return ALTERED if cells else None


def at(found: Evidence, dataset: str, metric: str, epsilon: float, **factors: str | None) -> Estimate:
    """A metric of one arm at one epsilon; infinite without privacy.

    Raises:
        NotRun: if the arm was not run at this epsilon.
    """
    mechanism = NO_PRIVACY if math.isinf(epsilon) else "latent"
    reading = factors.get("reading")
    augment = altered(found, dataset, reading) if reading else None
    arm = {"augment": augment, "labels": None, **factors}
    rows = found.rows(STUDY, metric, dataset=dataset, mechanism=mechanism, **arm)
    rows = rows[rows["epsilon"] == epsilon]
    if rows.empty:
        raise NotRun(f"needs {STUDY} on {dataset} at epsilon {epsilon:g}, which the {found.scale} grid does not have")
    return per_seed(rows)


def permuted(found: Evidence, dataset: str, reading: str) -> dict[float, Estimate]:
    """By epsilon the clean accuracy of the same networks on permuted labels; empty where they were not run."""
    if not found.cells(STUDY, dataset=dataset, mechanism="latent", reading=reading, labels="permuted"):
        return {}
    try:
        rows = found.rows(STUDY, CLEAN, dataset=dataset, mechanism="latent", reading=reading, labels="permuted")
    except NotRun:
        return {}
    return per_epsilon(rows)


def at_chance(points: dict[float, Estimate], shuffled: dict[float, Estimate], largest: float) -> str:
    """Why no order of these accuracies means anything, or empty text if one of them shows that something was learned.

    Something was learned if an accuracy is above that of the same networks on permuted labels; where fewer than three
    seeds of these were run, if one is `AT_CHANCE` above the largest class.
    """
    gaps = [minus(value, shuffled[e]) for e, value in points.items() if e in shuffled]
    if gaps and min(gap.seeds for gap in gaps) >= LEAST_SEEDS:
        if any(gap.mean - gap.half(ALPHA / len(gaps)) > 0 for gap in gaps):
            return ""
        return "no better than the same networks on permuted labels, where nothing can change"
    if max(value.mean for value in points.values()) > largest + AT_CHANCE:
        return ""
    return "at chance, where nothing can change"


def _arm(found: Evidence, dataset: str, reading: str) -> dict[str, str | None]:
    """The networks on bits that a verdict rests on: those of a reading, or without one those without privacy."""
    if not reading:
        return {"dataset": dataset, "model": "ann", "mechanism": NO_PRIVACY}
    own = {"mechanism": "latent", "reading": reading, "labels": None, "augment": altered(found, dataset, reading)}
    return {"dataset": dataset, "model": "ann", **own}


def _weak(found: Evidence, dataset: str, reading: str, model: str) -> str:
    """How the networks that a verdict rests on fall short of the paper's."""
    arm = {**_arm(found, dataset, reading), "model": model}
    return shortfall(found.cells(STUDY, **arm), settled=settled(found, STUDY, CLEAN, **arm))


def planned(found: Evidence, mechanism: str, model: str, names: tuple[str, ...] = DATASETS) -> list[str]:
    """The data sets on which a mechanism and a network are run.

    Raises:
        NotRun: if there is none.
    """
    run = [name for name in names if found.cells(STUDY, dataset=name, mechanism=mechanism, model=model)]
    if not run:
        raise NotRun(f"needs {STUDY} on {' or '.join(names)} with {model}, which the {found.scale} grid does not have")
    return run


def settle(
    found: Evidence,
    options: Mapping[str, Parts],
    observed: str = "",
    wanted_all: tuple[str, ...] = (),
    impossible: str = "",
    models: tuple[str, ...] = ("ann",),
) -> Finding:
    """The finding that in one option all parts hold.

    Args:
        found: our results.
        options: by reading, or one of no name, what is said of each data set.
        observed: further observations; they decide nothing.
        wanted_all: the data sets of the paper.
        impossible: why a reading that is not among the options cannot do it.
        models: the networks whose runs the parts are about.
    """
    statements: dict[str, Statement] = {
        reading: Every(
            [
                weakly(part, joined(dict.fromkeys(_weak(found, name, reading, model) for model in models)))
                for name, part in parts.items()
            ]
        )
        for reading, parts in options.items()
    }
    holding = [r for r, one in statements.items() if one.decide(ALPHA / len(statements), ALPHA)]
    statement: Statement = Some(list(statements.values())) if len(statements) > 1 else next(iter(statements.values()))
    names = list(dict.fromkeys(name for parts in options.values() for name in parts))
    missing = ", ".join(name for name in wanted_all if name not in names)
    decided = finding(statement, joined([impossible, observed]), condition=f"{missing} not run" if missing else "")
    if not decided.holds or holding == [""] or len(holding) == 2:
        return decided
    true = (cifar_latent if names == ["cifar10"] else latent)(0.5, "B").curve().pure_epsilon
    coins = "6" if holding == ["A"] else f"7, whose epsilon is {true:,.0f}"
    return replace(decided, condition=joined([f"with the coins of Eq. {coins}", decided.condition]))


def by_reading(
    found: Evidence,
    test: Callable[[str], Parts],
    observed: str = "",
    wanted_all: tuple[str, ...] = (),
    impossible: str = "",
) -> Finding:
    """The finding of a statement in the better of the readings; with `impossible` reading A cannot, which says why."""
    readings = [reading for reading in "AB" if not (impossible and reading == "A")]
    return settle(found, {reading: test(reading) for reading in readings}, observed, wanted_all, impossible)
