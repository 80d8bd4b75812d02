"""The interface of privacy profiles (docs/mathematics.md#profile), simple curves, and the search for an epsilon."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from scipy.special import ndtri

from tensorldp.errors import MOST_USES, check_real, check_whole

FLOOR = -1e12  # used for log 0: finite, so that a bracket may end there
DELTA_FLOOR = 1e-300  # used for a delta of 0 where its log is taken
LEAST_LOSS, MOST_LOSS = 1e-40, 1e50  # of one element: inverses and sums stay floats; smaller ones are rounded up
MOST_COUNT = 10**20  # of elements, whose contour integral keeps its digits


def epsilon_at(
    log_delta: Callable[[float], float], log_target: float, *, mean: float, spread: float, top: float = math.inf
) -> float:
    """Computes the smallest epsilon >= 0 with log_delta(epsilon) <= log_target, to about 1e-10 and rounded up.

    Args:
        log_delta: decreasing in epsilon; -inf allowed.
        log_target: in nats, below 0.
        mean: the mean of the privacy loss; the search starts at its normal approximation.
        spread: standard deviation of the privacy loss.
        top: an epsilon at which delta is 0, if there is one.
    """
    from scipy.optimize import brentq

    @cache  # ends of a bracket are looked at again
    def gap(epsilon: float) -> float:
        return max(log_delta(epsilon), FLOOR) - log_target

    if gap(0.0) <= 0.0:
        return 0.0
    z = -float(ndtri(math.exp(max(log_target, -700.0))))
    width = max(spread, 1e-12 * abs(mean), 1e-300)
    guess = min(max(mean + z * spread, 0.0), top)
    low, high = max(0.0, guess - width), min(guess + width, top)
    step = width
    while low > 0.0 and gap(low) <= 0.0:
        high, step = low, 2.0 * step
        low = max(0.0, low - step)
    step = width
    while high < top and gap(high) > 0.0:
        low, step = high, 2.0 * step
        high = min(high + step, top)
        if step > 1e300:
            return top
    if gap(high) > 0.0:
        return top
    root = float(brentq(gap, low, high, xtol=1e-13 * max(high, 1e-280), rtol=1e-15))
    step = 1e-10 * min(width, max(root, 1e-300))
    while gap(root) > 0.0 and root < top:
        root, step = root + step, 2.0 * step
    return min(root, top)


class PrivacyCurve(ABC):
    """A profile epsilon -> delta(epsilon), the hockey-stick divergence over all pairs of neighbours.

    Attributes:
        exact: whether `delta` is attained by some pair of records; otherwise it is an upper bound.
    """

    exact: bool = True

    @property
    def pure_epsilon(self) -> float:
        """Returns the smallest epsilon with delta = 0 once any atom is removed; `math.inf` where there is none."""
        return math.inf

    @property
    def atom(self) -> float:
        """Returns the mass on outcomes that are impossible under the other record: the limit of delta at infinity."""
        return 0.0

    @property
    def log_atom(self) -> float:
        """Returns log of the atom, -inf where there is none; finite also where the atom itself underflows to 0."""
        return math.log(self.atom) if self.atom > 0.0 else -math.inf

    @abstractmethod
    def _delta(self, epsilon: float) -> float:
        """Computes delta(epsilon) for a checked epsilon >= 0."""

    @abstractmethod
    def _compose(self, count: int) -> PrivacyCurve:
        """Returns the curve of `count` >= 2 adaptive uses."""

    def nearer(self, share: float) -> PrivacyCurve | None:
        """Returns the curve of the same additive noise where neighbours differ by `share` of what they differ by here.

        Args:
            share: in (0, 1].

        Returns:
            None for a law for which it is not known.
        """
        return None

    def delta(self, epsilon: float) -> float:
        """Computes delta(epsilon) in [0, 1], decreasing in epsilon.

        Raises:
            InputError: if epsilon is negative or not a number.
        """
        epsilon = check_real("epsilon", epsilon, low=0.0, infinite=True)
        if epsilon == math.inf:
            return self.atom
        return min(1.0, max(self.atom, self._delta(epsilon)))

    def epsilon(self, delta: float) -> float:
        """Computes the smallest epsilon >= 0 with delta(epsilon) <= delta; `math.inf` where there is none.

        delta = 0 asks for the pure guarantee, which an atom, however small, or an unbounded loss makes infinite.

        Raises:
            InputError: if delta is outside [0, 1).
        """
        delta = check_real("delta", delta, low=0.0, high=1.0, open_high=True)
        if delta == 0.0:
            return self.pure_epsilon if self.log_atom == -math.inf else math.inf
        if self.atom > delta:
            return math.inf
        return self._epsilon(delta)

    def epsilon_without_atom(self, delta: float) -> float:
        """Computes `epsilon(delta)` of a release given that it misses the atom; `pure_epsilon` at delta = 0."""
        delta = check_real("delta", delta, low=0.0, high=1.0, open_high=True)
        atom = self.atom
        if delta == 0.0 or atom >= 1.0:
            return self.pure_epsilon
        epsilon = self.epsilon(atom + (1.0 - atom) * delta)
        return self.pure_epsilon if math.isinf(epsilon) else epsilon

    def _epsilon(self, delta: float) -> float:
        """Finds the root of delta(epsilon) = delta in log delta, bracketed by doubling."""
        from scipy.optimize import brentq

        @cache
        def gap(epsilon: float) -> float:
            return math.log(max(self.delta(epsilon), DELTA_FLOOR)) - math.log(delta)

        if gap(0.0) <= 0.0:
            return 0.0
        low, high = 0.0, 1.0
        while gap(high) > 0.0:
            low, high = high, 2.0 * high
            if high > 1e18:
                return self.pure_epsilon
        root = float(brentq(gap, low, high, xtol=1e-12, rtol=1e-10))
        return min(root if gap(root) <= 0.0 else root * (1 + 2e-10) + 2e-12, self.pure_epsilon)

    def compose(self, count: int) -> PrivacyCurve:
        """Returns the curve of `count` adaptive uses on the same record.

        Raises:
            InputError: if count is not a whole number from 1 to 10^12.
        """
        count = check_whole("count", count, low=1, high=MOST_USES)
        return self if count == 1 else self._compose(count)


class RepeatedCurve(PrivacyCurve):
    """A curve, as a dataclass, of `count` independent uses of one law."""

    count: int

    def _compose(self, count: int) -> PrivacyCurve:
        return replace(self, count=self.count * count)  # type: ignore[type-var]


@dataclass(frozen=True)
class NoPrivacyCurve(PrivacyCurve):
    """The record is released as it is: delta(epsilon) = 1 for every epsilon."""

    exact: bool = True

    @property
    def atom(self) -> float:
        return 1.0

    def _delta(self, epsilon: float) -> float:
        return 1.0

    def _compose(self, count: int) -> PrivacyCurve:
        return self
