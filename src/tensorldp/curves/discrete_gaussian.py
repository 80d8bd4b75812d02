"""The exact profile of discrete Gaussian noise on the elements of a record of whole numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import log_ndtr

from tensorldp.curves.base import RepeatedCurve, epsilon_at
from tensorldp.errors import check_whole

SMALLEST = 64  # of the standard deviation: below it the tail's expansion is not exact to rounding


@dataclass(frozen=True)
class DiscreteGaussianCurve(RepeatedCurve):
    """`count` whole numbers, each moved by up to `shift` and released with noise P(Z = k) ~ exp(-k^2 / (2 sigma^2)).

    The loss of a shift in every element is linear in the sum T of their noises, so that delta(epsilon) =
    P(T >= m) - e^epsilon P(T >= m + count shift) with m the first whole number at which the loss exceeds epsilon. T
    is discrete Gaussian of variance count sigma^2 up to a relative error of count e^(-pi^2 sigma^2)
    (Kairouz, Liu and Steinke, ICML 2021), which no float shows for sigma of at least 64. No smaller shift is worse: the
    noise is log-concave, so each set {Z <= t} has less mass under a farther record.

    Args:
        sigma: of one element's noise, in steps, a whole number of at least 64.
        shift: how far two records' elements may lie apart, in steps.
        count: elements that may be shifted.
    """

    sigma: int
    shift: int
    count: int = 1

    def __post_init__(self) -> None:
        check_whole("sigma of a discrete Gaussian", self.sigma, low=SMALLEST)
        check_whole("shift of a discrete Gaussian", self.shift, low=1)
        check_whole("count of a discrete Gaussian", self.count, low=1)

    @property
    def pure_epsilon(self) -> float:
        return math.inf

    @property
    def mu(self) -> float:
        """The shift of T in its own standard deviations."""
        return self.shift * math.sqrt(self.count) / self.sigma

    def log_delta(self, epsilon: float) -> float:
        """log of delta(epsilon)."""
        moved = self.count * self.shift
        first = math.ceil((2.0 * self.sigma**2 * epsilon - moved * self.shift) / (2.0 * self.shift))
        mine, other = self._log_tail(first), epsilon + self._log_tail(first + moved)
        return mine + math.log(-math.expm1(other - mine)) if other < mine else -math.inf

    def _log_tail(self, least: int) -> float:
        """log P(T >= least), by Euler and Maclaurin's sum at midpoints to the order of the fourth inverse power."""
        variance = self.count * self.sigma**2
        at = (least - 0.5) / math.sqrt(variance)
        tail = float(log_ndtr(-at))
        density = math.exp(min(700.0, -at * at / 2.0 - tail)) / math.sqrt(2.0 * math.pi)
        terms = -at / (24.0 * variance) + 7.0 * (at**3 - 3.0 * at) / (5760.0 * variance**2)
        return tail + math.log1p(density * terms)

    def _delta(self, epsilon: float) -> float:
        return math.exp(self.log_delta(epsilon))

    def _epsilon(self, delta: float) -> float:
        return epsilon_at(self.log_delta, math.log(delta), mean=self.mu**2 / 2.0, spread=self.mu)
