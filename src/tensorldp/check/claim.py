"""What is claimed: the (epsilon, delta) points that a search tries to contradict."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tensorldp.curves.base import PrivacyCurve
from tensorldp.deltas import REPORT_DELTA
from tensorldp.errors import check_real

TESTED_DELTAS = (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5)  # smaller ones take millions of releases
COUNTABLE_NATS = 20.0  # nats: a claim of more cannot be tested by counting, as e^20 releases would be needed


@dataclass(frozen=True)
class Claim:
    """A claimed guarantee.

    Attributes:
        points: pairs (epsilon, delta) that are all claimed to hold for replacing one record by any other.
        unit: the unit of the claim.
        text: the claim in words.
        curve: the whole privacy curve, where one is claimed.
    """

    points: tuple[tuple[float, float], ...] = field(repr=False)
    unit: str = field(repr=False)
    text: str
    curve: PrivacyCurve | None = field(default=None, repr=False)

    @property
    def countable(self) -> tuple[tuple[float, float], ...]:
        """Returns the points that counting releases could contradict: those of at most 20 nats."""
        return tuple(point for point in self.points if point[0] <= COUNTABLE_NATS)

    @classmethod
    def point(cls, epsilon: float, delta: float = 0.0, unit: str = "record") -> Claim:
        """Builds the claim of one (epsilon, delta).

        Raises:
            InputError: if epsilon is negative or delta outside [0, 1).
        """
        epsilon = check_real("claimed epsilon", epsilon, low=0.0)
        delta = check_real("claimed delta", delta, low=0.0, high=1.0, open_high=True)
        return cls(((epsilon, delta),), unit, f"({epsilon:.6g}, {delta:.3g}) for each {unit}")

    @classmethod
    def of_curve(cls, curve: PrivacyCurve, unit: str) -> Claim:
        """Builds the claim of a whole curve, tested at epsilon 0, at the pure epsilon and at several deltas.

        `epsilon` and `delta` of a curve from outside need not be inverses: the smaller delta counts.
        """
        pure = curve.epsilon(0.0)
        points = {(0.0, curve.delta(0.0)), (pure, 0.0)}
        if curve.atom > 0.0 and math.isfinite(curve.pure_epsilon):
            points.add((curve.pure_epsilon, curve.atom))
        points |= {(curve.epsilon(delta), delta) for delta in TESTED_DELTAS}
        kept = tuple(sorted({(e, min(d, curve.delta(e))) for e, d in points if math.isfinite(e) and d < 1.0}))
        if math.isfinite(pure):
            text = f"pure epsilon {pure:.6g} for each {unit}, and its whole privacy curve"
        else:
            text = (
                f"epsilon {curve.epsilon(REPORT_DELTA):.6g} at delta 1e-5 for each {unit}, and its whole privacy curve"
            )
        return cls(kept, unit, text, curve)
