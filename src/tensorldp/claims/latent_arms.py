"""LATENT's cells in our runs: which stand for the paper's networks, and when a failure of theirs counts.

The paper's section 3 can be read in two ways, and a claim holds if it holds in one of them, which it then names with
the guarantee that reading has. The paper's networks on CIFAR-10 learned from altered images besides (4.1.3): where
those were run, they stand for the paper's. A failure counts on a data set where all records were used, and where
networks on bits have at least the least width that the paper searched (Table 1). Fewer epochs than the paper's are no
excuse: the kept ones on CIFAR-10 learn their training records by heart, and from the third epoch on they gain less
than 0.01 on test images. Networks at chance differ by more than claims ask for by themselves (random ones on the
embedded digits have a standard deviation of 0.04), so that they decide nothing on constancy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tensorldp.claims.base import Finding, NotRun
from tensorldp.claims.evidence import Evidence
from tensorldp.claims.laws import cifar_latent, latent
from tensorldp.claims.statements import (
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
from tensorldp.config.cell import variant_factors
from tensorldp.config.methods.latent import LatentTraining
from tensorldp.registration.kinds import NO_PRIVACY

STUDY = "latent"
CLEAN, TRAINING, RECORDS = "accuracy", "train_accuracy", "train_records"
AT_CHANCE = 0.1  # above the largest class: more than two standard deviations of networks that learned nothing
PRINTED_RECORDS = {"mnist": 60_000, "cifar10": 50_000}  # of CIFAR-10 as many altered ones besides
DATASETS = ("mnist", "cifar10")
WIDTH = {"mnist": 64, "cifar10": 256}  # the least ones of the ANN module in Table 1
# by data set, the best settings of a search of Table 1 on all records (docs/decisions/latent-settings.md)
FOUND: dict[str, dict[str, Any]] = {
    "mnist": {
        "optimizer": "adam",
        "learning_rate": 0.0003,
        "activation": "relu",
        "width": 128,
        "dropout": 0.2,
        "batch_size": 128,
    }
}
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


def _subset(found: Evidence, dataset: str, reading: str = "") -> str:
    """How many fewer training records than the paper's were used, in words; empty if none."""
    rows = found.rows(STUDY, RECORDS, **_arm(found, dataset, reading))
    releases = rows["variant"].map(lambda variant: 1 + int(variant_factors(variant).get("augment", 0)))
    used = int((rows["value"] / releases).min())
    few = used < PRINTED_RECORDS[dataset]
    return f"{used:,} of {PRINTED_RECORDS[dataset]:,} training records of {dataset}" if few else ""


def _narrower(found: Evidence, dataset: str, reading: str = "") -> str:
    """How much narrower than any of the paper's the networks on bits are, in words; empty if they are not."""
    cells = found.cells(STUDY, **_arm(found, dataset, reading))
    least = WIDTH[dataset]
    width = min((cell.training.width for cell in cells if isinstance(cell.training, LatentTraining)), default=least)
    return f"networks of a width of {least}; these have {width} on {dataset}" if width < least else ""


def searched(found: Evidence, dataset: str, reading: str) -> bool:
    """Whether the networks on bits that stand for the paper's have the settings that a search of Table 1 found best."""
    cells = found.cells(STUDY, **_arm(found, dataset, reading))
    wanted = FOUND.get(dataset)
    return wanted is not None and all(wanted.items() <= cell.training.model_dump().items() for cell in cells)


def planned(found: Evidence, mechanism: str, model: str, names: tuple[str, ...] = DATASETS) -> list[str]:
    """The data sets on which a mechanism and a network are run.

    Raises:
        NotRun: if there is none.
    """
    run = [name for name in names if found.cells(STUDY, dataset=name, mechanism=mechanism, model=model)]
    if not run:
        raise NotRun(f"needs {STUDY} on {' or '.join(names)} with {model}, which the {found.scale} grid does not have")
    return run


def _excuse(found: Evidence, dataset: str, reading: str) -> str:
    """Why a failure on a data set does not count, as what would be wanted; empty if it does."""
    subset = _subset(found, dataset, reading)
    return joined([f"all training records; these are {subset}" if subset else "", _narrower(found, dataset, reading)])


def settle(
    found: Evidence,
    options: Mapping[str, Parts],
    observed: str = "",
    wanted_all: tuple[str, ...] = (),
    impossible: str = "",
) -> Finding:
    """The finding that in one option all parts hold; undecided where it fails only on what does not count.

    Args:
        found: our results.
        options: by reading, or one of no name, what is said of each data set.
        observed: further observations; they decide nothing.
        wanted_all: the data sets of the paper.
        impossible: why a reading that is not among the options cannot do it.
    """
    statements = {reading: Every(list(parts.values())) for reading, parts in options.items()}
    holding = [r for r, one in statements.items() if one.decide(ALPHA / len(statements), ALPHA)]
    statement: Statement = Some(list(statements.values())) if len(statements) > 1 else next(iter(statements.values()))
    text = joined([impossible, observed])
    if statement.decide() is False:
        open_ = [joined(_uncounted(found, parts, reading)) for reading, parts in options.items()]
        if any(open_):
            wanted = joined(dict.fromkeys(["the paper's settings", *filter(None, open_)]))
            return Finding(None, finding(statement, text).observed, wanted=wanted)
    names = list(dict.fromkeys(name for parts in options.values() for name in parts))
    subset = joined(dict.fromkeys(_subset(found, name, r) for name in names for r in holding or options))
    missing = ", ".join(name for name in wanted_all if name not in names)
    decided = finding(statement, text, condition=joined([subset, f"{missing} not run" if missing else ""]))
    if not decided.holds or holding == [""] or len(holding) == 2:
        return decided
    true = (cifar_latent if names == ["cifar10"] else latent)(0.5, "B").curve().pure_epsilon
    coins = "6" if holding == ["A"] else f"7, whose epsilon is {true:,.0f}"
    return replace(decided, condition=joined([f"with the coins of Eq. {coins}", decided.condition]))


def _uncounted(found: Evidence, parts: Parts, reading: str) -> list[str]:
    """What a failure of one of these parts wants; empty if one fails where a failure counts."""
    excuses = {
        name: _excuse(found, name, reading)
        for name, part in parts.items()
        if part.decide(ALPHA, ALPHA / len(parts)) is False
    }
    return list(excuses.values()) if all(excuses.values()) else []


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
