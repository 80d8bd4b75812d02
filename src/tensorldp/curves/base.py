"""The interface of privacy profiles (docs/mathematics.md#profile)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from tensorldp.errors import check_real, check_whole

DELTA_FLOOR = 1e-300


class PrivacyCurve(ABC):
    """A profile epsilon -> delta(epsilon), the hockey-stick divergence over all pairs of neighbours.

    Attributes:
        exact: whether `delta` is attained by some pair of records; otherwise it is an upper bound.
    """

    exact: bool = True

    @property
    @abstractmethod
    def pure_epsilon(self) -> float:
        """The smallest epsilon with delta = 0 once any atom is removed; `math.inf` where there is none."""

    @property
    def atom(self) -> float:
        """The mass on outcomes that are impossible under the other record: the limit of delta at infinity."""
        return 0.0

    @property
    def log_atom(self) -> float:
        """log of the atom, -inf where there is none; finite also where the atom itself underflows to 0."""
        return math.log(self.atom) if self.atom > 0.0 else -math.inf

    @abstractmethod
    def _delta(self, epsilon: float) -> float:
        """delta(epsilon) for a checked epsilon >= 0."""

    @abstractmethod
    def _compose(self, count: int) -> PrivacyCurve:
        """The curve of `count` >= 2 adaptive uses."""

    def nearer(self, share: float) -> PrivacyCurve | None:
        """The curve of the same additive noise where neighbours differ by `share` of what they differ by here.

        Args:
            share: in (0, 1].

        Returns:
            None for a law that it is not known of.
        """
        return None

    def delta(self, epsilon: float) -> float:
        """delta(epsilon) in [0, 1], decreasing in epsilon.

        Raises:
            InputError: if epsilon is negative or not a number.
        """
        epsilon = check_real("epsilon", epsilon, low=0.0, infinite=True)
        if epsilon == math.inf:
            return self.atom
        return min(1.0, max(self.atom, self._delta(epsilon)))

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon >= 0 with delta(epsilon) <= delta; `math.inf` where there is none.

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
        """`epsilon(delta)` of the release given that it does not fall on the atom; `pure_epsilon` at delta = 0.

        Raises:
            InputError: if delta is outside [0, 1).
        """
        delta = check_real("delta", delta, low=0.0, high=1.0, open_high=True)
        atom = self.atom
        if delta == 0.0 or atom >= 1.0:
            return self.pure_epsilon
        found = self.epsilon(atom + (1.0 - atom) * delta)
        return self.pure_epsilon if math.isinf(found) else found

    def _epsilon(self, delta: float) -> float:
        """The root of delta(epsilon) = delta in log delta, bracketed by doubling."""
        from scipy.optimize import brentq

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
        """The curve of `count` adaptive uses on the same record.

        Raises:
            InputError: if count is not a whole number of at least 1.
        """
        count = check_whole("count", count, low=1)
        return self if count == 1 else self._compose(count)
