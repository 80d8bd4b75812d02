"""The profile of DP-SGD: Gaussian noise on the clipped gradients of Poisson-sampled lots [abadi2016]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import log_ndtr

from tensorldp.curves.base import MOST_COUNT, MOST_LOSS, PrivacyCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.errors import InputError, check_positive, check_real, check_whole, check_word

INTERVAL = 1e-4  # loss step of the accountant's lattice
LEAST_NOISE = 0.2  # below this noise multiplier the accountants overflow, and amplification is worth little
MOST_STEPS = 10**7  # of a lattice that is composed in seconds
FINE_POINTS = 60  # lattice points per standard deviation of one step's loss, where INTERVAL is coarser


@dataclass(frozen=True)
class DpSgdCurve(PrivacyCurve):
    """`steps` noisy sums of clipped gradients over Poisson lots: an upper bound by dp_accounting.

    With a noise multiplier below 0.2 it is the bound of an observer who also sees how often the record is in a lot.

    Args:
        noise_multiplier: z, the noise's standard deviation over the clipping norm, in [1e-50, 1e50].
        sampling_rate: q, the probability that a record is in a lot, in (0, 1].
        steps: number of lots.
        accountant: "pld" composes privacy loss distributions rounded up; "rdp" composes Renyi divergences.

    Neighbours differ by adding or removing one record (`unit_note`); replacing one is a pair of those.

    Raises:
        InputError: if an argument is out of range; asked for a number, if pld has more than 10^7 steps to compose.
    """

    noise_multiplier: float
    sampling_rate: float
    steps: int
    accountant: Literal["pld", "rdp"] = "pld"
    exact: bool = False

    unit_note: ClassVar[str] = (
        "neighbours add or remove one record of the training set, lots are Poisson samples, "
        "and all steps of the run are composed"
    )

    def __post_init__(self) -> None:
        noise = check_real("noise_multiplier", self.noise_multiplier, low=1.0 / MOST_LOSS, high=MOST_LOSS)
        object.__setattr__(self, "noise_multiplier", noise)
        object.__setattr__(
            self, "sampling_rate", check_real("sampling_rate", self.sampling_rate, low=0.0, high=1.0, open_low=True)
        )
        check_whole("steps", self.steps, low=1, high=MOST_COUNT)
        check_word("accountant", self.accountant, "pld", "rdp")

    @cached_property
    def _account(self) -> Any:
        import dp_accounting  # here, as it takes a second to load

        event = dp_accounting.SelfComposedDpEvent(
            dp_accounting.PoissonSampledDpEvent(
                self.sampling_rate, dp_accounting.GaussianDpEvent(self.noise_multiplier)
            ),
            self.steps,
        )
        if self.accountant == "rdp":
            return dp_accounting.rdp.RdpAccountant().compose(event)
        if self.steps > MOST_STEPS:
            raise InputError(
                f"steps of DP-SGD with the accountant pld must be at most {MOST_STEPS}, got {self.steps}, which would "
                "take minutes: the accountant rdp gives an upper bound at once"
            )
        spread = self.sampling_rate * math.sqrt(math.expm1(min(self.noise_multiplier**-2.0, 50.0)))
        interval = min(INTERVAL, spread / FINE_POINTS)
        interval = max(interval, 40.0 * spread * math.sqrt(self.steps) / 2**23)
        return dp_accounting.pld.PLDAccountant(value_discretization_interval=interval).compose(event)

    def _delta(self, epsilon: float) -> float:
        if self.sampling_rate == 1.0:
            return GaussianCurve(math.sqrt(self.steps) / self.noise_multiplier).delta(epsilon)
        if self.noise_multiplier < LEAST_NOISE:
            return self._counted(epsilon)
        return float(self._account.get_delta(epsilon))

    def _epsilon(self, delta: float) -> float:
        if self.sampling_rate == 1.0:
            return GaussianCurve(math.sqrt(self.steps) / self.noise_multiplier).epsilon(delta)
        if self.noise_multiplier < LEAST_NOISE:
            return super()._epsilon(delta)
        return float(self._account.get_epsilon(delta))

    def _counted(self, epsilon: float) -> float:
        """Computes sum_k P(K = k) delta_k(epsilon) with K ~ Bin(steps, q) and delta_k of k uses without sampling."""
        from scipy.stats import binom

        uses = np.arange(1, self.steps + 1)
        mass = binom.pmf(uses, self.steps, self.sampling_rate)
        uses, mass = uses[mass > 0.0], mass[mass > 0.0]
        mu = np.sqrt(uses) / self.noise_multiplier
        first = log_ndtr(mu / 2 - epsilon / mu)
        second = epsilon + log_ndtr(-mu / 2 - epsilon / mu)
        return float((mass * np.exp(first) * -np.expm1(np.minimum(second - first, 0.0))).sum())

    def _compose(self, count: int) -> PrivacyCurve:
        return DpSgdCurve(self.noise_multiplier, self.sampling_rate, self.steps * count, self.accountant)


def noise_multiplier_for(
    epsilon: float, delta: float, sampling_rate: float, steps: int, accountant: Literal["pld", "rdp"] = "pld"
) -> float:
    """Computes the least noise multiplier, to 1e-4 and rounded up, that makes `steps` lots (epsilon, delta)-DP."""
    check_word("accountant", accountant, "pld", "rdp")
    return _least_multiplier(
        check_positive("epsilon", epsilon),
        check_real("delta", delta, low=0.0, high=1.0, open_low=True, open_high=True),
        check_real("sampling_rate", sampling_rate, low=0.0, high=1.0, open_low=True),
        check_whole("steps", steps, low=1),
        accountant,
    )


@cache  # seconds of accounting, needed again for every seed
def _least_multiplier(
    epsilon: float, delta: float, sampling_rate: float, steps: int, accountant: Literal["pld", "rdp"]
) -> float:
    from scipy.optimize import brentq

    def excess(log_z: float) -> float:
        return DpSgdCurve(math.exp(log_z), sampling_rate, steps, accountant).epsilon(delta) - epsilon

    low = high = 0.0
    if accountant == "pld":  # starts where the cheap accountant ends, which needs a little more noise
        high = math.log(_least_multiplier(epsilon, delta, sampling_rate, steps, "rdp")) + 1e-3
        low = high - 0.15
    while excess(low) <= 0.0:
        low, high = low - 0.25, low
    while excess(high) > 0.0:
        low, high = high, high + 0.25
    root = float(brentq(excess, low, high, xtol=5e-5))
    while excess(root) > 0.0:
        root += 2e-5
    return math.exp(root)
