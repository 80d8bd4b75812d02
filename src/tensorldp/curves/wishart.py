"""The exact profile of normal rows whose covariance shows a table with one row replaced."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import log1p

from tensorldp.curves import saddle_point
from tensorldp.curves.base import MOST_COUNT, MOST_LOSS, RepeatedCurve, epsilon_at
from tensorldp.curves.saddle_point import Complex
from tensorldp.errors import check_real, check_whole

LEAST_SHARE = 1e-24  # of the share, so that saddle points stay in reach; smaller ones are rounded up
BEYOND = 1e300  # stands for an infinite slope, which a search for a root cannot take


@dataclass(frozen=True)
class WishartCurve(RepeatedCurve):
    """`rows` independent draws of N(0, C + v v^T), where a neighbour replaces v.

    The loss, in nats, has the moment function (1 - q^2 / (1 + q) s (s + 1))^(-r/2), r being `rows` times `count` and q
    `share`: see docs/mathematics/curves.md#wishart.

    Attributes:
        share: q, the most that v^T C^-1 v can be.
        rows: draws of one use.
        count: uses.
        exact: whether two v attain the share and are orthogonal under C^-1; otherwise delta is an upper bound.

    Raises:
        InputError: if share is not in [0, 1e50], or the rows of all uses are not a whole number from 1 to 10^20.
    """

    share: float
    rows: int
    count: int = 1
    exact: bool = True

    def __post_init__(self) -> None:
        share = check_real("share of a Wishart curve", self.share, low=0.0, high=MOST_LOSS)
        object.__setattr__(self, "share", max(share, LEAST_SHARE))  # a larger one has a larger delta
        check_whole("rows of a Wishart curve", self.rows * self.count, low=1, high=MOST_COUNT)

    @property
    def spread(self) -> float:
        """Returns q^2 / (1 + q), on which alone the law of the loss depends."""
        return self.share * (self.share / (1.0 + self.share))

    def log_delta(self, epsilon: float) -> float:
        """Computes log delta(epsilon) for epsilon >= 0, also where delta underflows."""
        return saddle_point.log_delta(WishartCumulant(self.spread, self.rows * self.count), epsilon)

    def _delta(self, epsilon: float) -> float:
        return math.exp(self.log_delta(epsilon))

    def _epsilon(self, delta: float) -> float:
        cumulant = WishartCumulant(self.spread, self.rows * self.count)
        return epsilon_at(
            self.log_delta, math.log(delta), mean=cumulant.slope(0.0), spread=math.sqrt(cumulant.curvature(0.0))
        )


@dataclass(frozen=True)
class WishartCumulant:
    """K(s) = -(r/2) log(1 - k s (s + 1)), finite while the logarithm's argument is positive."""

    spread: float
    rows: int

    def exponent(self, s: Complex, epsilon: float) -> Complex:
        found: Complex = -self.rows / 2.0 * log1p(-self.spread * s * (s + 1.0)) - s * epsilon
        return found

    def slope(self, s: float) -> float:
        left = 1.0 - self.spread * s * (s + 1.0)
        return self.rows * self.spread * (s + 0.5) / left if left > 0.0 else BEYOND

    def curvature(self, s: float) -> float:
        left = 1.0 - self.spread * s * (s + 1.0)
        return self.rows * self.spread / left * (1.0 + self.spread / 2.0 * (2.0 * s + 1.0) ** 2 / left)
