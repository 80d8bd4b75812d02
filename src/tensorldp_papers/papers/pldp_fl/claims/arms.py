"""PLDP-FL's cells in our runs: where the safe ranges are centred, and what a network that learned nothing refutes.

The paper lets a client place its safe range. Ranges around zero clip every larger weight; ranges around the weights
that the server has just sent give the same guarantee. A claim on accuracy is decided on the better of the two; while
only ranges around zero were run, what does not hold of them decides nothing.

Every claim on accuracies rests on networks that have learned something: the paper prints 95.7 % where a claim says
which of two is higher. This premise is part of each claim. Most of our runs have fewer training records than the
paper's, so that they refute nothing (`fairness`). But where the premise fails on all of its records and in all of its
rounds, with the smallest safe ranges, whose noise is least, while the same training without privacy learns, the claim
fails with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from tensorldp.kinds import NO_PRIVACY
from tensorldp_papers.claims.base import Finding, NotRun
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.fairness import PRINTED, shortfall, weakly
from tensorldp_papers.claims.statements import ALPHA, Every, Inside, Some, Statement, finding, joined, per_seed, words
from tensorldp_papers.papers.pldp_fl.plan import PldpTraining
from tensorldp_papers.run.cell import variant_factors

FEDERATED = "pldp_fl"
AT_CHANCE = 0.15  # accuracy on ten classes that a network without knowledge does not exceed on average
LEARNED = 0.5  # that a network without privacy exceeds if the records suffice for learning at all
PRINTED_ROUNDS = 50
LEAST_NOISE = "t1"  # the smallest safe ranges
ZERO_ALONE = "safe ranges around zero alone, none around the weights that the server has sent"

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


def best_centre(
    found: Evidence,
    datasets: list[str],
    test: At,
    premise: At,
    observed: str = "",
    mechanism: str = "pdpm",
    eps: str = "e2",
) -> Finding:
    """The finding of a statement about a mechanism in the better of its centres.

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
    parts: list[Statement] = []
    for centre in where:
        cells = {
            dataset: found.cells(FEDERATED, dataset=dataset, mechanism=mechanism, centre=centre, limit=None)
            for dataset in datasets
        }
        weak = joined([*map(shortfall, cells.values()), "" if "global" in where else ZERO_ALONE])
        part = Every([premise(centre), test(centre)])
        parts.append(_learns_nothing(found, datasets, centre, eps) or weakly(part, weak))
    both = parts[0] if len(parts) == 1 else Some(parts)
    names = [around([centre]) for centre in where]
    each = "; ".join(f"{name}: {words(part)}" for name, part in zip(names, parts, strict=True))
    holding = [name for name, part in zip(names, parts, strict=True) if part.decide(ALPHA / len(parts))]
    only = f"with {holding[0]}" if len(holding) == 1 and len(parts) > 1 else ""
    shown = each if len(parts) > 1 else names[0]
    return finding(both, joined([shown, observed]), condition=only)


def _learns_nothing(found: Evidence, datasets: list[str], centre: Any, eps: str) -> Statement | None:
    """That one of the data sets is learned on all records, where that fails while training without privacy learns."""
    for dataset in datasets:
        limit = PRINTED[FEDERATED, dataset].records
        if centre not in centres(found, dataset, eps=eps, limit=limit):
            continue
        free = found.rows(FEDERATED, "accuracy", dataset=dataset, mechanism=NO_PRIVACY, participation=None, limit=None)
        control = Inside(f"accuracy without privacy on {dataset}", per_seed(free), low=LEARNED)
        whole = learned(found, dataset, [LEAST_NOISE], eps, limit=limit)(centre)
        short = shortfall(found.cells(FEDERATED, dataset=dataset, eps=eps, limit=limit, centre=centre))
        if control.decide() and not short and whole.decide() is False:
            return whole
    return None
