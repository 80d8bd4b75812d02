"""A privacy curve with an atom: outcomes that are impossible under the other record."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tensorldp.curves.base import PrivacyCurve


@dataclass(frozen=True)
class AtomCurve(PrivacyCurve):
    """delta(epsilon) = a + (1 - a) delta_0(epsilon): with probability a the release gives its record away.

    For TLDP a = 1 - (1 - p)^I, and this is exact: docs/mathematics/curves.md#atoms.

    Args:
        inner: the curve of the other outcomes.
        mass: a.
        log_mass: log a; it follows from `mass` but where that underflows to 0.
    """

    inner: PrivacyCurve
    mass: float
    log_mass: float = -math.inf

    def __post_init__(self) -> None:
        if self.mass > 0.0:
            object.__setattr__(self, "log_mass", math.log(self.mass))

    @classmethod
    def over(cls, inner: PrivacyCurve, mass: float, log_mass: float = -math.inf) -> PrivacyCurve:
        """The curve with its atom, or `inner` itself where there is none."""
        return cls(inner, mass, log_mass) if mass > 0.0 or log_mass > -math.inf else inner

    @property
    def exact(self) -> bool:  # type: ignore[override]
        return self.inner.exact

    @property
    def pure_epsilon(self) -> float:
        return self.inner.pure_epsilon

    @property
    def atom(self) -> float:
        return self.mass + (1.0 - self.mass) * self.inner.atom

    @property
    def log_atom(self) -> float:
        return max(self.log_mass, super().log_atom, self.inner.log_atom)

    def _delta(self, epsilon: float) -> float:
        return self.mass + (1.0 - self.mass) * self.inner.delta(epsilon)

    def _epsilon(self, delta: float) -> float:
        if self.mass >= 1.0:
            return math.inf
        return self.inner.epsilon(max(0.0, (delta - self.mass) / (1.0 - self.mass)))

    def nearer(self, share: float) -> PrivacyCurve | None:
        inner = self.inner.nearer(share)
        return None if inner is None else AtomCurve(inner, self.mass, self.log_mass)  # any difference gives it away

    def epsilon_without_atom(self, delta: float) -> float:
        return self.inner.epsilon_without_atom(delta)

    def _compose(self, count: int) -> PrivacyCurve:
        log_mass = self.log_mass + math.log(count)  # 1 - (1 - a)^n is n a where a underflows
        mass = -math.expm1(count * math.log1p(-self.mass)) if self.mass < 1.0 else 1.0
        return AtomCurve(self.inner.compose(count), mass or math.exp(log_mass), log_mass)
