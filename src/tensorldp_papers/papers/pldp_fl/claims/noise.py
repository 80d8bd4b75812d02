"""The reason for PLDP-FL's accuracies: how much noise is left in one weight of the server's average."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, wraps

import torch

from tensorldp_papers.claims.base import Check, Finding, NotRun
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.laws import pdpm
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.federated import get_vector
from tensorldp_papers.papers.pldp_fl.plan import PldpTraining
from tensorldp_papers.papers.pldp_fl.preferences import EPSILON_MODES, participant_count, preferences

Arm = tuple[str, str | float]  # mode of epsilon, mode or width of the safe ranges


def average_noise(eps: str, tau: str | float, clients: int, share: float) -> float:
    """The standard deviation of PDPM's noise in one weight of the average of a round's uploads, all weighing the same.

    Of a weight in the middle of every safe range. The participants are a random share of the clients, who have as many
    records each and take the levels of both modes in turn, as in our runs.

    Raises:
        InputError: if a mode is unknown.
    """
    wanted = preferences(eps, tau, clients=clients, largest=max(EPSILON_MODES[eps]))
    variances = [pdpm(one.epsilon, one.high - one.low).variance(0.0) for one in wanted]
    return math.sqrt(math.fsum(variances) / clients / participant_count(clients, share))


@cache
def _first_spread() -> float:
    return float(get_vector(build("pldp_cnn", Task((28, 28), 10), torch.Generator().manual_seed(0))).std())


def _words(found: Evidence, dataset: str, arms: tuple[Arm, ...]) -> str:
    cells = found.cells("pldp_fl", dataset=dataset, mechanism="pdpm", participation=None)
    planned = cells[0].training if cells else None
    settings = planned if isinstance(planned, PldpTraining) else PldpTraining()
    clients, share = settings.clients, settings.participation
    each = ", ".join(
        f"{average_noise(eps, tau, clients, share):.2g} "
        f"({eps} {f'on a width of {tau:g}' if isinstance(tau, float) else tau})"
        for eps, tau in arms
    )
    return (
        f"; computed reason: in one weight of the average of {participant_count(clients, share)} uploads the noise "
        f"of pdpm has a standard deviation of {each}, the CNN's first weights one of {_first_spread():.2g}"
    )


def with_noise(dataset: str, *arms: Arm) -> Callable[[Check], Check]:
    """Add PDPM's noise in these arms to what a check observes or to what it lacks."""

    def explain(check: Check) -> Check:
        @wraps(check)
        def explained(found: Evidence) -> Finding:
            words = _words(found, dataset, arms)
            try:
                finding = check(found)
            except NotRun as missing:
                raise NotRun(f"{missing}{words}") from None
            return replace(finding, observed=finding.observed + words)

        return explained

    return explain
