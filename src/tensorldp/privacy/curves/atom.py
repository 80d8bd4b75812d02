"""A curve plus outcomes that are impossible under the other record."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tensorldp.privacy.curves.base import PrivacyCurve


@dataclass(frozen=True)
class AtomCurve(PrivacyCurve):
    """delta(epsilon) = a + (1 - a) delta_0(epsilon): with probability a the release gives its record away.

    For TLDP a = 1 - (1 - p)^I, and this is exact: docs/mathematics/curves.md#atoms.
    """

    inner: PrivacyCurve
    mass: float

    @classmethod
    def over(cls, inner: PrivacyCurve, mass: float) -> PrivacyCurve:
        """`inner` itself where the mass is 0, otherwise the curve with its atom."""
        return cls(inner, mass) if mass > 0.0 else inner

    @property
    def exact(self) -> bool:  # type: ignore[override]
        return self.inner.exact

    @property
    def pure_epsilon(self) -> float:
        return self.inner.pure_epsilon

    @property
    def atom(self) -> float:
        return self.mass + (1.0 - self.mass) * self.inner.atom

    def _delta(self, epsilon: float) -> float:
        return self.mass + (1.0 - self.mass) * self.inner.delta(epsilon)

    def _epsilon(self, delta: float) -> float:
        if self.mass >= 1.0:
            return math.inf
        return self.inner.epsilon(max(0.0, (delta - self.mass) / (1.0 - self.mass)))

    def _compose(self, count: int) -> PrivacyCurve:
        mass = -math.expm1(count * math.log1p(-self.mass)) if self.mass < 1.0 else 1.0
        return AtomCurve(self.inner.compose(count), mass)
