"""What TVG's authors spend per iteration of stochastic gradient descent (appendix D and their code).

Dividing epsilon by the sampling rate q is the small-epsilon approximation of amplification by sampling; an honest
run uses a Renyi accountant. These functions give the printed numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tensorldp.errors import InputError, check_positive, check_real

KOV_SLACK = 1e-6  # delta~, what the authors' code sets aside for composition


@dataclass(frozen=True)
class Schedule:
    """A run's nominal budget and its lots.

    Attributes:
        epsilon, delta: the budget of the whole run.
        rate: q, the probability that a record is in a lot.
        steps: T, number of lots.
    """

    epsilon: float
    delta: float
    rate: float
    steps: int


def step_budget(name: str, run: Schedule, accounting: Callable[..., tuple[float, float]]) -> tuple[float, float]:
    """Computes what an accounting, such as `simple_budget`, gives the mechanism `name` for one step of a run."""
    check_positive("epsilon", run.epsilon)  # a run without privacy has an infinite one
    epsilon, delta = accounting(run.epsilon, run.delta, rate=run.rate, steps=run.steps)
    if delta >= 1.0:
        raise InputError(
            f"lot must be more than {delta:.3g} times as large for {name} at delta {run.delta:g}: with "
            f"lot / records = {run.rate:.3g} TVG's amplification gives a step delta {delta:.3g}, and only "
            "below 1 means anything"
        )
    return epsilon, delta


def simple_budget(epsilon: float, delta: float, *, rate: float, steps: int) -> tuple[float, float]:
    """Returns (epsilon / (2 q sqrt(T ln(e + epsilon/delta))), delta / (2 T q)), UDN's and MVG's in an iteration."""
    return epsilon / (2.0 * rate * math.sqrt(steps * math.log(math.e + epsilon / delta))), delta / (2.0 * steps * rate)


def kov_budget(
    epsilon: float, delta: float, *, rate: float, steps: int, slack: float = KOV_SLACK
) -> tuple[float, float]:
    """Computes (epsilon, delta) per iteration for IDN by the bound of Kairouz, Oh and Viswanath.

    e0 is the larger root of T e0 (e^e0 - 1)/(e^e0 + 1) + e0 sqrt(2 T l) = epsilon over l = ln(e + sqrt(T) e0 / slack)
    and l = ln(1/slack), slack < delta; the budget is (e0 / q, (1 - ((1 - delta)/(1 - slack))^(1/T)) / q).
    """
    from scipy.optimize import brentq

    slack = check_real("slack", slack, low=0.0, high=delta, open_low=True, open_high=True)

    def spent(e0: float, adaptive: bool) -> float:
        tail = math.log(math.e + math.sqrt(steps) * e0 / slack) if adaptive else math.log(1.0 / slack)
        return steps * e0 * math.tanh(e0 / 2.0) + e0 * math.sqrt(2.0 * steps * tail)

    roots = [
        float(brentq(lambda e0, a=adaptive: spent(e0, a) - epsilon, 0.0, epsilon, xtol=1e-16, rtol=1e-14))
        for adaptive in (True, False)
    ]
    return max(roots) / rate, -math.expm1((math.log1p(-delta) - math.log1p(-slack)) / steps) / rate


def moments_sigma(epsilon: float, delta: float, *, rate: float, steps: int, clip: float = 1.0) -> float:
    """Computes sigma of the authors' Gaussian baseline in training: 2 q C sqrt(T ln(1/delta)) / epsilon."""
    check_positive("epsilon", epsilon)  # at an infinite one the formula has no noise
    return 2.0 * rate * clip * math.sqrt(steps * math.log(1.0 / delta)) / epsilon


def sampled_budget(epsilon: float, delta: float, *, rate: float, steps: int) -> tuple[float, float]:
    """Returns (epsilon / q, delta / q), for a mechanism that composes over the steps by itself."""
    return epsilon / rate, delta / rate
