"""The exact profile of I independent Laplace mechanisms, each shifted by the same share of its scale."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tensorldp.privacy.curves.base import PrivacyCurve


@dataclass(frozen=True)
class LaplaceCurve(PrivacyCurve):
    """`count` elements, each Laplace with sensitivity / scale = `shift`."""

    shift: float
    count: int = 1
    exact: bool = True

    @property
    def pure_epsilon(self) -> float:
        return self.shift * self.count

    def _delta(self, epsilon: float) -> float:
        if epsilon >= self.pure_epsilon:
            return 0.0
        if self.count == 1:
            return -math.expm1((epsilon - self.shift) / 2.0)
        raise NotImplementedError

    def _compose(self, count: int) -> PrivacyCurve:
        return LaplaceCurve(self.shift, self.count * count, self.exact)
