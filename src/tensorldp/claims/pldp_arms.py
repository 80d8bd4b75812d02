"""PLDP-FL's cells in our runs: where the safe ranges are centred, and what that does to a verdict.

The paper lets a client place its safe range. Ranges around zero clip every larger weight; ranges around the weights
that the server has just sent give the same guarantee. A claim on accuracy is decided on the better of the two, and is
undecided while only ranges around zero were run and it does not hold of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorldp.claims.base import Finding, NotRun
from tensorldp.claims.evidence import Evidence
from tensorldp.claims.statements import Some, Statement, finding, joined, words
from tensorldp.config.cell import variant_factors
from tensorldp.config.methods.pldp import PldpTraining

FEDERATED = "pldp_fl"
AT_CHANCE = 0.15  # accuracy on ten classes that a network without knowledge does not exceed on average
CENTRED = "pldp_fl with safe ranges around the weights that the server has sent (centre=global)"


def rounds(found: Evidence, dataset: str) -> int:
    """The rounds of the shortest cell of the study on a data set."""
    cells = found.cells(FEDERATED, dataset=dataset)
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


def best_centre(
    found: Evidence, dataset: str, test: Callable[[Any], Statement], observed: str = "", mechanism: str = "pdpm"
) -> Finding:
    """The finding of a statement about a mechanism in the better of its centres; undecided if that was not run."""
    rounds(found, dataset)
    where = centres(found, dataset, mechanism, participation=None, budget=None)
    parts = [test(centre) for centre in where]
    both = parts[0] if len(parts) == 1 else Some(parts)
    names = [around([centre]) for centre in where]
    each = "; ".join(f"{name}: {words(part)}" for name, part in zip(names, parts, strict=True))
    if both.decide() is False and "global" not in where:
        return Finding(None, joined([each, observed]), wanted=f"{CENTRED}, three seeds")
    holding = [name for name, part in zip(names, parts, strict=True) if part.decide(0.05 / len(parts))]
    only = f"with {holding[0]}" if len(holding) == 1 and len(parts) > 1 else ""
    shown = each if len(parts) > 1 else names[0]
    return finding(both, joined([shown, observed]), condition=only, wanted="" if "global" in where else CENTRED)
