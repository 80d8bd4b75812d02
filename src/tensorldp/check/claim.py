"""What is claimed: the (epsilon, delta) points that a search tries to contradict."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import numpy.typing as npt
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.deltas import REPORT_DELTA
from tensorldp.errors import InputError, blamed, check_real, shown

TESTED_DELTAS = (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5)  # smaller ones take millions of releases
COUNTABLE_NATS = 20.0  # nats: a claim of more cannot be tested by counting, as e^20 releases would be needed


Array = npt.NDArray[np.float64]
Points = tuple[tuple[float, float], ...]
METRICS: dict[str, Callable[[Array, Array], float]] = {
    "l1": lambda x, x_prime: float(np.abs(x - x_prime).sum()),
    "l2": lambda x, x_prime: float(np.sqrt(((x - x_prime) ** 2).sum())),
    "linf": lambda x, x_prime: float(np.abs(x - x_prime).max()),
    "hamming": lambda x, x_prime: float(np.count_nonzero(x != x_prime)),
}
ASYMMETRY = 1e-9  # of a distance: how much a metric's two directions may differ by rounding


def distance_of(name: str) -> str:
    """Returns what a sentence calls the distance of a metric: a function of a user's by its name alone."""
    return f"{name} distance" if name in METRICS else name


@dataclass(frozen=True)
class Metric:
    """A distance between records.

    Attributes:
        name: "l1", "l2", "linf", "hamming", or the name of a function of the user's.
        function: from two float64 arrays of a record's shape to their distance.
    """

    name: str
    function: Callable[[Array, Array], float] = field(repr=False)

    @classmethod
    def of(cls, metric: object) -> Metric:
        """Builds the metric of a name or a function of two arrays.

        Raises:
            InputError: if it is neither.
        """
        if callable(metric):
            return cls(str(getattr(metric, "__name__", type(metric).__name__)), metric)
        if not isinstance(metric, str) or metric not in METRICS:
            allowed = ", ".join(METRICS)
            raise InputError(f"metric of a check must be one of {allowed} or a function of two records, got {metric!r}")
        return cls(metric, METRICS[metric])

    def __str__(self) -> str:
        return distance_of(self.name)

    def between(self, x: Tensor, x_prime: Tensor) -> float:
        """Computes the distance of two records, infinity where the metric says so.

        Raises:
            InputError: if the metric fails, or returns no number of at least 0 that is the same in both directions.
        """
        there, back = (self._checked(*sides) for sides in ((x, x_prime), (x_prime, x)))
        if not (there == back or abs(there - back) <= ASYMMETRY * max(there, back)):
            raise InputError(f"metric {self.name} must be symmetric, got {there:.6g} one way and {back:.6g} the other")
        return min(there, back)

    def _checked(self, x: Tensor, x_prime: Tensor) -> float:
        arrays = [np.array(record.double().numpy()) for record in (x, x_prime)]
        with blamed(f"metric {self.name} failed"):
            value = np.asarray(self.function(*arrays))
        if value.size != 1 or value.dtype.kind not in "biuf" or not float(value.reshape(())) >= 0.0:
            said = shown(value.tolist() if value.size == 1 else value)
            raise InputError(f"metric {self.name} must return one number of at least 0, got {said}")
        return float(value.reshape(()))


@dataclass(frozen=True)
class Claim:
    """A claimed guarantee.

    Attributes:
        points: pairs (epsilon, delta) that are all claimed to hold for replacing one record by any other; with a
            metric, for one at distance 1, and with a curve for each distance, at distance 0.
        unit: the unit of the claim.
        text: the claim in words.
        curve: the whole privacy curve, where one is claimed.
        metric: what the epsilons are proportional to, or the curves depend on; None where records are all alike.
        curve_at: the curve that is claimed of two records at a distance above 0, where there is one for each.
    """

    points: Points = field(repr=False)
    unit: str = field(repr=False)
    text: str
    curve: PrivacyCurve | None = field(default=None, repr=False)
    metric: Metric | None = field(default=None, repr=False)
    curve_at: Callable[[float], PrivacyCurve] | None = field(default=None, repr=False)

    @property
    def countable(self) -> Points:
        """Returns the points that counting releases could contradict: those of at most 20 nats.

        With a metric these are all points, as they are smaller for records that are near each other.
        """
        if self.metric is not None:
            return self.points
        return tuple(point for point in self.points if point[0] <= COUNTABLE_NATS)

    def distance(self, x: Tensor, x_prime: Tensor) -> float:
        """Computes the distance of two records that the claim depends on; 1 without a metric."""
        return 1.0 if self.metric is None else self.metric.between(x, x_prime)

    def at(self, x: Tensor, x_prime: Tensor) -> Points:
        """Returns the points that are claimed of two records; none where they are infinitely far from each other."""
        distance = self.distance(x, x_prime)
        if self.curve_at is not None and 0.0 < distance < math.inf:
            return _points(self.curve_at(distance))
        return tuple((epsilon * distance, delta) for epsilon, delta in self.points) if distance < math.inf else ()

    def told(self, x: Tensor, x_prime: Tensor) -> float:
        """Returns what is claimed of two records as one number: the pure epsilon that lets as much be told."""
        distance = self.distance(x, x_prime)
        if self.curve_at is None or not 0.0 < distance < math.inf:
            return self.points[0][0] * distance if distance < math.inf else math.inf
        return 2.0 * math.atanh(min(self.curve_at(distance).delta(0.0), 1.0 - 1e-16))

    def countable_at(self, x: Tensor, x_prime: Tensor) -> Points:
        """Returns those of them that counting releases could contradict."""
        return tuple(point for point in self.at(x, x_prime) if point[0] <= COUNTABLE_NATS)

    @classmethod
    def per_distance(cls, epsilon: float, metric: object, delta: float = 0.0, unit: str = "record") -> Claim:
        """Builds the claim of (epsilon d(x, x'), delta) for all records x and x', as of geo-indistinguishability.

        Raises:
            InputError: if epsilon is not positive, delta outside [0, 1), or there is no such metric.
        """
        epsilon = check_real("claimed epsilon per distance", epsilon, low=0.0, open_low=True)
        delta = check_real("claimed delta", delta, low=0.0, high=1.0, open_high=True)
        found = Metric.of(metric)
        text = f"({epsilon:.6g} d, {delta:.3g}) for each {unit}, d being the {found} of the two records"
        return cls(((epsilon, delta),), unit, text, metric=found)

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
    def curve_per_distance(cls, curve_at: Callable[[float], object], metric: object, unit: str = "record") -> Claim:
        """Builds the claim of a whole curve for each distance, such as `lambda d: GaussianCurve(d / sigma)`.

        Raises:
            InputError: if there is no such metric; where the claim is asked, if `curve_at` fails or gives no curve.
        """

        @cache
        def checked(distance: float) -> PrivacyCurve:
            with blamed(f"claim_curve failed at distance {distance:.6g}"):
                curve = curve_at(distance)
            if not isinstance(curve, PrivacyCurve):
                raise InputError(f"claim_curve must return a PrivacyCurve, got {shown(curve)}")
            return curve

        found = Metric.of(metric)
        text = f"a privacy curve for each {found} of two {unit}s"
        return cls(((0.0, 0.0),), unit, text, metric=found, curve_at=checked)

    @classmethod
    def of_curve(cls, curve: PrivacyCurve, unit: str) -> Claim:
        """Builds the claim of a whole curve, tested at epsilon 0, at the pure epsilon and at several deltas."""
        pure, kept = curve.epsilon(0.0), _points(curve)
        if math.isfinite(pure):
            text = f"pure epsilon {pure:.6g} for each {unit}, and its whole privacy curve"
        else:
            text = (
                f"epsilon {curve.epsilon(REPORT_DELTA):.6g} at delta 1e-5 for each {unit}, and its whole privacy curve"
            )
        return cls(kept, unit, text, curve)


def _points(curve: PrivacyCurve) -> Points:
    """Returns the points at which a curve is tested: at epsilon 0, at the pure epsilon and at several deltas.

    `epsilon` and `delta` of a curve from outside need not be inverses: the smaller delta counts.
    """
    points = {(0.0, curve.delta(0.0)), (curve.epsilon(0.0), 0.0)}
    if curve.atom > 0.0 and math.isfinite(curve.pure_epsilon):
        points.add((curve.pure_epsilon, curve.atom))
    points |= {(curve.epsilon(delta), delta) for delta in TESTED_DELTAS}
    return tuple(sorted({(e, min(d, curve.delta(e))) for e, d in points if math.isfinite(e) and d < 1.0}))
