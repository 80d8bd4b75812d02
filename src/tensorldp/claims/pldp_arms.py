"""PLDP-FL's cells in our runs: where the safe ranges are centred, how much was run, and what both do to a verdict.

The paper lets a client place its safe range. Ranges around zero clip every larger weight; ranges around the weights
that the server has just sent give the same guarantee. A claim on accuracy is decided on the better of the two, and is
undecided while only ranges around zero were run and it does not hold of them.

Every claim on accuracies rests on networks that have learned something: the paper prints 95.7 % where a claim says
which of two is higher. This premise is part of each claim. Fewer training records than the paper's do not count
against a claim, for clients with fewer records take fewer steps between two rounds of noise, but for one case: the
premise also fails on all records, with the smallest safe ranges, whose noise is least, in both centres, while the same
training without privacy learns. After fewer rounds than the paper's a failed premise decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pandas as pd

from tensorldp.claims.base import Finding, NotRun
from tensorldp.claims.evidence import Evidence
from tensorldp.claims.statements import Every, Inside, Some, Statement, finding, joined, per_seed, words
from tensorldp.config.cell import variant_factors
from tensorldp.config.methods.pldp import PldpTraining
from tensorldp.registration.kinds import NO_PRIVACY

FEDERATED = "pldp_fl"
AT_CHANCE = 0.15  # accuracy on ten classes that a network without knowledge does not exceed on average
LEARNED = 0.5  # that a network without privacy exceeds if the records suffice for learning at all
PRINTED_RECORDS = {"mnist": 60_000, "fashion_mnist": 60_000}
PRINTED_ROUNDS = 50
LEAST_NOISE = "t1"  # the smallest safe ranges
CENTRED = "pldp_fl with safe ranges around the weights that the server has sent (centre=global)"

At = Callable[[Any], Statement]  # a statement about the cells with one centre


def rounds(found: Evidence, dataset: str, mechanism: str | None = None, **factors: Any) -> int:
    """The rounds of the shortest cell of the study on a data set, with this mechanism and these factors."""
    cells = found.cells(FEDERATED, dataset=dataset, mechanism=mechanism, **factors)
    if not cells:
        raise NotRun(f"needs {FEDERATED} on {dataset}, which the {found.scale} grid does not have")
    return min(cell.training.rounds for cell in cells if isinstance(cell.training, PldpTraining))


def centres(found: Evidence, dataset: str, mechanism: str = "pdpm", **factors: Any) -> list[Any]:
    """Where the safe ranges of these cells are centred: the values of that factor, None where there is no such one."""
    return sorted(
        {
            variant_factors(cell.variant).get("centre")
            for cell in found.cells(FEDERATED, dataset=dataset, mechanism=mechanism, **factors)
        },
        key=str,
    )


def around(where: list[Any]) -> str:
    """In words, where safe ranges were centred."""
    return "safe ranges around " + " or ".join("the weights sent" if centre == "global" else "zero" for centre in where)


def mode_rows(
    found: Evidence,
    dataset: str,
    eps: str,
    tau: str | float,
    centre: Any,
    metric: str | None = "accuracy",
    mechanism: str = "pdpm",
    limit: int | None = None,
) -> pd.DataFrame:
    """Rows of the cell of a mode of epsilon and a safe range, a budget per weight, the study's share of clients."""
    factors = {"eps": eps, "tau": tau, "budget": None, "participation": None, "centre": centre, "limit": limit}
    return found.rows(FEDERATED, metric, dataset=dataset, mechanism=mechanism, **factors)


def learned(
    found: Evidence,
    dataset: str,
    taus: Iterable[str | float],
    eps: str = "e2",
    mechanism: str = "pdpm",
    limit: int | None = None,
) -> At:
    """That a mode of epsilon leaves chance with one of these safe ranges, on the study's records or on so many."""
    on = "" if limit is None else f" on {limit:,} records"

    def premise(centre: Any) -> Statement:
        return Some(
            [
                Inside(
                    f"accuracy of {eps} with {tau}{on}, to be above chance",
                    per_seed(mode_rows(found, dataset, eps, tau, centre, mechanism=mechanism, limit=limit)),
                    low=AT_CHANCE,
                )
                for tau in taus
            ]
        )

    return premise


def subset(found: Evidence, dataset: str) -> str:
    """How many fewer training records than the paper's were used, in words; empty if none."""
    cells = found.cells(FEDERATED, dataset=dataset, limit=None)
    limits = [cell.training.limit or PRINTED_RECORDS[dataset] for cell in cells]
    used = min(limits, default=PRINTED_RECORDS[dataset])
    few = used < PRINTED_RECORDS[dataset]
    return f"{used:,} of {PRINTED_RECORDS[dataset]:,} training records of {dataset}" if few else ""


def best_centre(
    found: Evidence,
    datasets: list[str],
    test: At,
    premise: At,
    observed: str = "",
    mechanism: str = "pdpm",
    eps: str = "e2",
) -> Finding:
    """The finding of a statement about a mechanism in the better of its centres; undecided if that was not run.

    Args:
        found: our results.
        datasets: those that the statement is about.
        test: the statement.
        premise: that something was learned; part of what is found.
        observed: further observations; they decide nothing.
        mechanism: whose centres are looked at, on the first data set.
        eps: the mode of epsilon that the premise is about.
    """
    where = centres(found, datasets[0], mechanism, participation=None, budget=None)
    parts = [Every([premise(centre), test(centre)]) for centre in where]
    both = parts[0] if len(parts) == 1 else Some(parts)
    names = [around([centre]) for centre in where]
    each = "; ".join(f"{name}: {words(part)}" for name, part in zip(names, parts, strict=True))
    few = joined(subset(found, dataset) for dataset in datasets)
    if both.decide() is False:
        text = joined([each, observed])
        if "global" not in where:
            return Finding(None, text, wanted=f"{CENTRED}, three seeds")
        chance = all(premise(centre).decide() is False for centre in where)
        short = min(rounds(found, dataset) for dataset in datasets)
        if chance and short < PRINTED_ROUNDS:
            return Finding(None, text, wanted=f"{PRINTED_ROUNDS} rounds; at chance after {short}")
        if few:
            return _on_fewer_records(found, datasets, Finding(False, joined([text, few])), few, where, eps)
    holding = [name for name, part in zip(names, parts, strict=True) if part.decide(0.05 / len(parts))]
    only = f"with {holding[0]}" if len(holding) == 1 and len(parts) > 1 else ""
    shown = each if len(parts) > 1 else names[0]
    return finding(
        both,
        joined([shown, observed]),
        condition=joined([only, few]),
        wanted="" if "global" in where else CENTRED,
    )


def _on_fewer_records(
    found: Evidence, datasets: list[str], failed: Finding, few: str, where: list[Any], eps: str
) -> Finding:
    """A failed finding if the premise fails on all records, too, else an undecided one."""
    undecided = Finding(None, failed.observed, wanted=f"all training records; these are {few}")
    seen: list[Statement] = []
    for dataset in datasets:
        limit = PRINTED_RECORDS[dataset]
        if not set(where) <= set(centres(found, dataset, eps=eps, limit=limit)):
            return undecided
        free = found.rows(FEDERATED, "accuracy", dataset=dataset, mechanism=NO_PRIVACY, participation=None, limit=None)
        control = Inside(f"accuracy without privacy on {dataset}", per_seed(free), low=LEARNED)
        whole = [learned(found, dataset, [LEAST_NOISE], eps, limit=limit)(centre) for centre in where]
        seen += [*whole, control]
        undecided = replace(undecided, observed=joined([failed.observed, *map(words, seen)]))
        if not control.decide() or any(part.decide() is not False for part in whole):
            return undecided
    return replace(failed, observed=undecided.observed)
