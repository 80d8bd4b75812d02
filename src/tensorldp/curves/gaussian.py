"""The exact profile of a Gaussian mechanism with any covariance ([balle2018], Theorem 8)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from scipy.special import erfcx, log_ndtr

from tensorldp.curves.base import PrivacyCurve, epsilon_at
from tensorldp.errors import check_positive, check_real

CLOSE = 1e-6  # of the larger term's log: where the logs of delta's two terms are closer, digits of delta are lost
LEAST_LOG = -800.0  # of the larger term: smaller ones belong to no delta that float64 has
MOST_MU = 1e100  # its square, which is the loss, stays a float in every composition
LARGE_MU = 1e8  # above it epsilon has no digits for the difference of delta's two logs
FAR = 20.0  # standard deviations from which the asymptotic series is exact to rounding
PLACES = (0.04691007703066802, 0.23076534494715845, 0.5, 0.7692346550528415, 0.953089922969332)  # Gauss-Legendre
WEIGHTS = (0.11846344252809454, 0.23931433524968324, 0.28444444444444444, 0.23931433524968324, 0.11846344252809454)


@dataclass(frozen=True)
class GaussianCurve(PrivacyCurve):
    """mu-Gaussian differential privacy; mu is the Mahalanobis norm of the worst shift of the mean.

    Raises:
        InputError: if mu is not in [0, 1e100].
    """

    mu: float
    exact: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", check_real("mu of a Gaussian curve", self.mu, low=0.0, high=MOST_MU))

    @property
    def pure_epsilon(self) -> float:
        return math.inf if self.mu > 0 else 0.0

    def _delta(self, epsilon: float) -> float:
        return math.exp(log_delta(epsilon, self.mu)) if self.mu > 0 else 0.0

    def _epsilon(self, delta: float) -> float:
        if self.mu == 0.0:
            return 0.0
        return epsilon_at(
            lambda epsilon: log_delta(epsilon, self.mu), math.log(delta), mean=self.mu**2 / 2.0, spread=self.mu
        )

    def _compose(self, count: int) -> PrivacyCurve:
        return GaussianCurve(self.mu * math.sqrt(count), self.exact)

    def nearer(self, share: float) -> GaussianCurve:
        return GaussianCurve(self.mu * share, self.exact)


def log_delta(epsilon: float, mu: float) -> float:
    """Computes log of delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), right to 1e-9 or so.

    Where mu is small the two cancel, and delta = phi(t) int_t^{t + mu} (1 - s m(s)) ds with t = epsilon/mu - mu/2 and
    m = (1 - Phi) / phi, whose derivative is s m(s) - 1.
    """
    if mu > LARGE_MU:
        return _log_delta_far(epsilon, mu)
    first = float(log_ndtr(mu / 2 - epsilon / mu))
    second = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    if first > LEAST_LOG and first - second < CLOSE * (1.0 - first):
        t = epsilon / mu - mu / 2
        mean = math.fsum(weight * _fall(t + mu * place) for place, weight in zip(PLACES, WEIGHTS, strict=True))
        return -t * t / 2 - math.log(2.0 * math.pi) / 2 + math.log(mu) + math.log(mean)
    if second >= first:
        return -math.inf
    return first + math.log(-math.expm1(second - first))


def _log_delta_far(epsilon: float, mu: float) -> float:
    """Computes log of Phi(-t) (1 - m(t + mu) / m(t)), whose t is that of the floats epsilon and mu without rounding."""
    t = float((2 * Fraction(epsilon) - Fraction(mu) ** 2) / (2 * Fraction(mu)))
    ratio = float(erfcx((t + mu) / math.sqrt(2.0)) / erfcx(t / math.sqrt(2.0)))
    return float(log_ndtr(-t)) + math.log1p(-ratio) if ratio < 1.0 else -math.inf


def _fall(s: float) -> float:
    """Computes 1 - s m(s) = int_0^inf u e^{-s u - u^2/2} du."""
    if s < FAR:
        return 1.0 - s * math.sqrt(math.pi / 2.0) * float(erfcx(s / math.sqrt(2.0)))
    term = total = 1.0 / s**2
    for k in range(1, 13):
        term *= -(2 * k + 1) / s**2
        total += term
    return total


def mu_of(epsilon: float, delta: float) -> float:
    """Computes the largest mu that is (epsilon, delta)-DP: the inverse of `GaussianCurve.epsilon`.

    The analytic Gaussian mechanism adds noise of standard deviation (l2 sensitivity) / mu.
    """
    from scipy.optimize import brentq

    epsilon = check_positive("epsilon", epsilon)
    delta = check_real("delta", delta, low=0.0, high=1.0, open_low=True, open_high=True)

    def gap(log_mu: float) -> float:
        return max(log_delta(epsilon, math.exp(log_mu)), -1e6) - math.log(delta)

    low, high = -60.0, 60.0
    while gap(low) > 0.0:
        low *= 2.0
    return math.exp(float(brentq(gap, low, high, xtol=1e-14, rtol=1e-14)))
