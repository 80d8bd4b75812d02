"""The exact profile of I independent Laplace mechanisms, each shifted by the same share of its scale.

Derived in docs/mathematics/curves.md#laplace.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import log1p as complex_log1p

from tensorldp.curves import laplace_series, saddle_point
from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.roots import epsilon_at
from tensorldp.curves.saddle_point import Complex
from tensorldp.errors import InputError, check_positive, check_whole

SMOOTH = 25.0  # so many elements expected strictly inside their loss range make the contour's integrand die out


@dataclass(frozen=True)
class LaplaceCurve(PrivacyCurve):
    """`count` elements, each Laplace with sensitivity / scale = `shift`.

    delta is exact: the closed form for one element, else the moment function's contour integral, with the losses
    at the ends of their range summed apart where few elements are strictly inside (`laplace_series`).

    Raises:
        InputError: if shift is negative or not finite, or count is not a whole number of at least 1.
    """

    shift: float
    count: int = 1
    exact: bool = True

    def __post_init__(self) -> None:
        if self.shift != 0.0:
            object.__setattr__(self, "shift", check_positive("shift of a Laplace curve", self.shift))
        check_whole("count of a Laplace curve", self.count, low=1)

    def nearer(self, share: float) -> LaplaceCurve:
        return LaplaceCurve(self.shift * share, self.count, self.exact)

    @property
    def pure_epsilon(self) -> float:
        return self.shift * self.count

    @property
    def mean_loss(self) -> float:
        """I (a - 1 + e^-a), the Kullback-Leibler divergence of the worst pair in nats."""
        a = self.shift
        return self.count * (a + math.expm1(-a) if a > 1e-4 else a * a / 2.0 - a**3 / 6.0)

    @property
    def loss_variance(self) -> float:
        """I (3 - (4a + 2) e^-a - e^-2a), in nats squared."""
        a = self.shift
        if a > 1e-3:
            return self.count * (3.0 - (4.0 * a + 2.0) * math.exp(-a) - math.exp(-2.0 * a))
        return self.count * a * a * (1.0 - 2.0 * a / 3.0)

    def log_delta(self, epsilon: float) -> float:
        """log delta(epsilon) for epsilon >= 0, also where delta underflows.

        Raises:
            InputError: if epsilon is negative.
        """
        if epsilon < 0.0:
            raise InputError(f"epsilon must be at least 0, got {epsilon!r}")
        if epsilon >= self.pure_epsilon:
            return -math.inf
        if self.count == 1:
            return math.log(-math.expm1((epsilon - self.shift) / 2.0))
        cumulant = LaplaceCumulant(self.shift, self.count)
        saddle = saddle_point.right_saddle(cumulant, epsilon)
        if cumulant.inside(saddle) >= SMOOTH:
            return saddle_point.log_delta(cumulant, epsilon, saddle)
        return min(0.0, laplace_series.log_delta(cumulant, self.shift, self.count, epsilon, saddle))

    def _delta(self, epsilon: float) -> float:
        return math.exp(self.log_delta(epsilon))

    def _epsilon(self, delta: float) -> float:
        return epsilon_at(
            self.log_delta,
            math.log(delta),
            mean=self.mean_loss,
            spread=math.sqrt(self.loss_variance),
            top=self.pure_epsilon,
        )

    def _compose(self, count: int) -> PrivacyCurve:
        return LaplaceCurve(self.shift, self.count * count, self.exact)


@dataclass(frozen=True)
class LaplaceCumulant:
    """K(s) = n [s a + log(1 + s (e^{-(1+2s)a} - 1) / (1 + 2s))], the logarithm of M(s)^n rearranged."""

    shift: float
    count: int

    def exponent(self, s: Complex, epsilon: float) -> Complex:
        x = 1.0 + 2.0 * s
        x = np.where(x == 0.0, 1e-300, x)
        return s * (self.count * self.shift - epsilon) + self.count * complex_log1p(s * np.expm1(-self.shift * x) / x)

    def _parts(self, s: float) -> tuple[float, float, float]:
        """f, f' and f'' of f = s E / x, x = 1 + 2s, E = e^{-ax} - 1."""
        a, x = self.shift, 1.0 + 2.0 * s
        if abs(x) * max(a, 1.0) < 1e-4:  # E/x = -a + a^2 x/2 - a^3 x^2/6, near s = -1/2
            ratio, first, second = -a + a * a * x / 2 - a**3 * x * x / 6, a * a - 2 * a**3 * x / 3, -4 * a**3 / 3
        else:
            fall, rest = math.expm1(-a * x), math.exp(-a * x)
            ratio = fall / x
            first = (-2.0 * a * rest - 2.0 * ratio) / x
            second = (4.0 * a * a * rest - 4.0 * first) / x
        return s * ratio, ratio + s * first, 2.0 * first + s * second

    def slope(self, s: float) -> float:
        f, first, _ = self._parts(s)
        return self.count * (self.shift + first / (1.0 + f))

    def curvature(self, s: float) -> float:
        a = self.shift
        if a * (1.0 + abs(s)) < 1e-4:
            return self.count * a * a
        f, first, second = self._parts(s)
        return self.count * max(second / (1.0 + f) - (first / (1.0 + f)) ** 2, 1e-12 * min(a, 1.0) ** 2)

    def inside(self, s: float) -> float:
        """The expected number of elements whose loss lies strictly between its ends, under the law tilted by e^{sL}."""
        u = 1.0 / (1.0 + 2.0 * s)
        weight = math.tanh((1.0 + 2.0 * s) * self.shift / 2.0) * u
        return self.count * weight / (1.0 + weight)
