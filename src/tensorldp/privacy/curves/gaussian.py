"""The exact profile of a Gaussian mechanism with any covariance ([balle2018], Theorem 8)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.optimize import brentq
from scipy.special import log_ndtr

from tensorldp.errors import check_positive, check_real
from tensorldp.privacy.curves.base import PrivacyCurve
from tensorldp.privacy.curves.roots import epsilon_at


@dataclass(frozen=True)
class GaussianCurve(PrivacyCurve):
    """mu-Gaussian differential privacy; mu is the Mahalanobis norm of the worst shift of the mean."""

    mu: float
    exact: bool = True

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
    """log of delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), without cancellation overflow."""
    first = float(log_ndtr(mu / 2 - epsilon / mu))
    second = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    if second >= first:
        return -math.inf
    return first + math.log(-math.expm1(second - first))


def mu_of(epsilon: float, delta: float) -> float:
    """The largest mu that is (epsilon, delta)-DP: the inverse of `GaussianCurve.epsilon`.

    The analytic Gaussian mechanism adds noise of standard deviation (l2 sensitivity) / mu.

    Raises:
        InputError: if epsilon <= 0 or delta is outside (0, 1).
    """
    epsilon = check_positive("epsilon", epsilon)
    delta = check_real("delta", delta, low=0.0, high=1.0, open_low=True, open_high=True)

    def gap(log_mu: float) -> float:
        return max(log_delta(epsilon, math.exp(log_mu)), -1e6) - math.log(delta)

    low, high = -60.0, 60.0
    return math.exp(float(brentq(gap, low, high, xtol=1e-14, rtol=1e-14)))
