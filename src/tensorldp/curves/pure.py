"""The curve of a mechanism about which only a pure guarantee is known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.discrete import DiscreteCurve, small_losses
from tensorldp.errors import check_positive, check_whole


@dataclass(frozen=True)
class PureCurve(PrivacyCurve):
    """`count` uses of a mechanism that is `budget`-DP.

    Binary randomised response dominates every such mechanism ([kairouz2015], Theorem 3.3):
    delta(e) = (e^budget - e^e) / (1 + e^budget), and uses compose as its binomial.

    Args:
        budget: epsilon of one use in nats, > 0.
        exact: whether the mechanism attains that delta at every epsilon, as randomised response does.

    Raises:
        InputError: if budget is not above 0 or count is not a whole number of at least 1.
    """

    budget: float
    exact: bool = False
    count: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "budget", check_positive("budget of a pure curve", self.budget))
        check_whole("count of a pure curve", self.count, low=1)

    @property
    def pure_epsilon(self) -> float:
        return self.budget * self.count

    @cached_property
    def dominating(self) -> DiscreteCurve:
        """The curve of as many uses of binary randomised response."""
        keep = -float(np.logaddexp(0.0, -self.budget))
        losses = small_losses(self.budget, -self.budget)
        return DiscreteCurve((keep, keep - self.budget), (keep - self.budget, keep), self.count, self.exact, losses)

    def _delta(self, epsilon: float) -> float:
        return self.dominating.delta(epsilon)

    def _epsilon(self, delta: float) -> float:
        return self.dominating.epsilon(delta)

    def _compose(self, count: int) -> PrivacyCurve:
        return PureCurve(self.budget, self.exact, self.count * count)
