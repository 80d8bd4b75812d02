"""The profile of different releases of one record, tensor by tensor or round by round, and curves with an atom."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tensorldp.curves import saddle_point
from tensorldp.curves.base import PrivacyCurve, epsilon_at
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.curves.laplace import SMOOTH, LaplaceCumulant, LaplaceCurve
from tensorldp.curves.loss_distribution import LatticeSum, profiles_up
from tensorldp.curves.saddle_point import Complex
from tensorldp.errors import InputError, check_real, check_whole, shown

LARGEST_LOG = -700.0  # of a mass that is 0 in floats, with room for its rounding


@dataclass(frozen=True)
class AtomCurve(PrivacyCurve):
    """delta(epsilon) = a + (1 - a) delta_0(epsilon): with probability a the release gives its record away.

    For TLDP a = 1 - (1 - p)^I, and this is exact: docs/mathematics/curves.md#atoms.

    Args:
        inner: the curve of the other outcomes.
        mass: a.
        log_mass: log a; it follows from `mass` but where that underflows to 0.
        imbalance: the largest log ratio, >= 0, of the chances of two records to miss their atoms. Outputs beside the
            atoms tell these chances too; delta(epsilon) is then an upper bound.

    Raises:
        InputError: if `inner` is not a curve, `mass` is not in [0, 1], `log_mass` does not go with it or `imbalance` is
            negative.
    """

    inner: PrivacyCurve
    mass: float
    log_mass: float = -math.inf
    imbalance: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.inner, PrivacyCurve):
            raise InputError(f"an atom needs the privacy curve of the other outcomes, got {shown(self.inner)}")
        object.__setattr__(self, "mass", check_real("mass of an atom", self.mass, low=0.0, high=1.0))
        if self.mass > 0.0:
            object.__setattr__(self, "log_mass", math.log(self.mass))
        elif self.log_mass != -math.inf:
            object.__setattr__(
                self, "log_mass", check_real("log_mass of an atom of mass 0", self.log_mass, high=LARGEST_LOG)
            )
        check_real("imbalance of an atom", self.imbalance, low=0.0, infinite=True)

    @classmethod
    def over(
        cls, inner: PrivacyCurve, mass: float, log_mass: float = -math.inf, imbalance: float = 0.0
    ) -> PrivacyCurve:
        """Returns the curve with its atom, or `inner` itself where there is none."""
        curve = cls(inner, mass, log_mass, imbalance)
        return curve if curve.log_mass > -math.inf else inner

    @property
    def exact(self) -> bool:  # type: ignore[override]
        return self.inner.exact and self.imbalance == 0.0

    @property
    def pure_epsilon(self) -> float:
        return self.inner.pure_epsilon + self.imbalance

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
        return None if inner is None else replace(self, inner=inner)  # any difference gives it away

    def epsilon_without_atom(self, delta: float) -> float:
        return self.inner.epsilon_without_atom(delta) + self.imbalance

    def _compose(self, count: int) -> PrivacyCurve:
        log_mass = self.log_mass + math.log(count)  # 1 - (1 - a)^n is n a where a underflows
        mass = -math.expm1(count * math.log1p(-self.mass)) if self.mass < 1.0 else 1.0
        return AtomCurve(self.inner.compose(count), mass or math.exp(log_mass), log_mass, count * self.imbalance)


GAUSSIAN_SHARE = 1e-6  # of the loss variance, that makes the contour's integrand die out


@dataclass(frozen=True)
class ProductCurve(PrivacyCurve):
    """The composition of different curves, each used a number of times.

    Gaussian curves combine exactly in mu, and Laplace curves with each other and with a Gaussian through the sum of
    their cumulants: exact for delta above about 1e-15, where one pair of records is the worst for all parts, as it
    is for the tensors of one model. Any other mix is an upper bound: each part's profile is rounded up onto one
    lattice (`profiles_up`) and convolved.

    Args:
        parts: pairs of a curve and its number of uses, >= 1.

    Raises:
        InputError: if there are no parts or a part is not a curve and a whole number of at least 1.
    """

    parts: tuple[tuple[PrivacyCurve, int], ...]

    def __post_init__(self) -> None:
        parts = tuple(self.parts)
        if not parts:
            raise InputError("a product of privacy curves needs at least one part")
        for part in parts:
            if not (isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], PrivacyCurve)):
                raise InputError(f"a part of a product must be a pair of a privacy curve and a count, got {part!r}")
            check_whole("count of a part", part[1], low=1)
        object.__setattr__(self, "parts", parts)

    @cached_property
    def _split(self) -> tuple[float, float, tuple[PrivacyCurve, ...]]:
        counts: dict[PrivacyCurve, int] = {}
        log_kept, imbalance = 0.0, 0.0
        todo = list(self.parts)
        while todo:
            curve, count = todo.pop()
            if isinstance(curve, ProductCurve):
                todo.extend((inner, n * count) for inner, n in curve.parts)
            elif isinstance(curve, AtomCurve):
                log_kept += count * math.log1p(-curve.mass) if curve.mass < 1.0 else -math.inf
                imbalance += count * curve.imbalance
                todo.append((curve.inner, count))
            else:
                counts[curve] = counts.get(curve, 0) + count
        gaussians = [(curve, n) for curve, n in counts.items() if isinstance(curve, GaussianCurve)]
        laplaces: dict[float, tuple[int, bool]] = {}
        rest: list[PrivacyCurve] = []
        for curve, n in counts.items():
            if isinstance(curve, LaplaceCurve):
                had, exact = laplaces.get(curve.shift, (0, True))
                laplaces[curve.shift] = (had + n * curve.count, exact and curve.exact)
            elif not isinstance(curve, GaussianCurve):
                rest.append(curve.compose(n))
        if gaussians:
            mu = math.sqrt(math.fsum(n * curve.mu**2 for curve, n in gaussians))
            rest.append(GaussianCurve(mu, all(curve.exact for curve, _ in gaussians)))
        rest.extend(LaplaceCurve(shift, n, exact) for shift, (n, exact) in laplaces.items())
        kept = [curve for curve in rest if curve.pure_epsilon > 0.0 or curve.atom > 0.0]
        return -math.expm1(log_kept), imbalance, tuple(kept)

    @property
    def _mass(self) -> float:
        """Returns the mass of all explicit atoms."""
        return self._split[0]

    @property
    def _imbalance(self) -> float:
        """Returns the sum of their imbalances."""
        return self._split[1]

    @property
    def _curves(self) -> tuple[PrivacyCurve, ...]:
        """Returns the least list of curves that remains."""
        return self._split[2]

    @cached_property
    def _cumulant(self) -> SumCumulant | None:
        """Returns the sum of cumulants, if all parts are Gaussian or Laplace."""
        if not all(isinstance(curve, (GaussianCurve, LaplaceCurve)) for curve in self._curves):
            return None
        squared = math.fsum(c.mu**2 for c in self._curves if isinstance(c, GaussianCurve))
        laplaces = (c for c in self._curves if isinstance(c, LaplaceCurve))
        return SumCumulant(squared, tuple(LaplaceCumulant(c.shift, c.count) for c in laplaces))

    @property
    def exact(self) -> bool:  # type: ignore[override]
        if self._imbalance > 0.0 or not all(curve.exact for curve in self._curves):
            return False
        return len(self._curves) < 2 or (self._cumulant is not None and self._cumulant.smooth_far_out)

    @property
    def _top(self) -> float:
        """Returns the pure epsilon of the curves beneath the atoms."""
        return math.fsum(curve.pure_epsilon for curve in self._curves)

    @property
    def pure_epsilon(self) -> float:
        return self._top + self._imbalance

    def epsilon_without_atom(self, delta: float) -> float:
        return min(super().epsilon_without_atom(delta) + self._imbalance, self.pure_epsilon)

    @property
    def atom(self) -> float:
        kept = 1.0 - self._mass
        for curve in self._curves:
            kept *= 1.0 - curve.atom
        return self._mass if not any(curve.atom for curve in self._curves) else 1.0 - kept

    @property
    def log_atom(self) -> float:
        known = super().log_atom
        return known if known > -math.inf else max(curve.log_atom + math.log(count) for curve, count in self.parts)

    @cached_property
    def _lattice(self) -> tuple[LatticeSum, float]:
        return profiles_up([_Conditional(curve) if curve.atom > 0.0 else curve for curve in self._curves])

    def _log_smooth(self, epsilon: float) -> float:
        """Computes log delta of the parts without their atoms."""
        if epsilon >= self._top:
            return -math.inf
        if self._cumulant is not None:
            saddle = saddle_point.right_saddle(self._cumulant.slope, epsilon)
            if self._cumulant.smooth(saddle):
                return saddle_point.log_delta(self._cumulant, epsilon, saddle)
        total, cut = self._lattice
        return float(np.logaddexp(total.log_delta(epsilon), math.log(cut) if cut > 0.0 else -math.inf))

    def _delta(self, epsilon: float) -> float:
        if len(self._curves) == 1:
            return self._mass + (1.0 - self._mass) * self._curves[0].delta(epsilon)
        if not self._curves or self.atom >= 1.0:
            return self.atom
        return self.atom + (1.0 - self.atom) * min(1.0, math.exp(min(0.0, self._log_smooth(epsilon))))

    def _epsilon(self, delta: float) -> float:
        if not self._curves:
            return 0.0
        if len(self._curves) == 1:
            rest = (delta - self._mass) / (1.0 - self._mass)
            return self._curves[0].epsilon(rest) if rest > 0.0 else math.inf
        rest = (delta - self.atom) / (1.0 - self.atom)
        if rest <= 0.0:
            return self._top
        if self._cumulant is not None:
            mean, variance = self._cumulant.slope(0.0), self._cumulant.curvature(0.0)
        else:
            _, mean, variance = self._lattice[0].tilted(0.0)
            if rest <= self._lattice[1]:
                return self._top
        return epsilon_at(self._log_smooth, math.log(rest), mean=mean, spread=math.sqrt(variance), top=self._top)

    def _compose(self, count: int) -> PrivacyCurve:
        return ProductCurve(tuple((curve, n * count) for curve, n in self.parts))


@dataclass(frozen=True)
class _Conditional(PrivacyCurve):
    """A curve given that no atom is hit: delta = atom + (1 - atom) delta_0."""

    whole: PrivacyCurve

    @property
    def pure_epsilon(self) -> float:
        return self.whole.pure_epsilon

    def _delta(self, epsilon: float) -> float:
        return (self.whole.delta(epsilon) - self.whole.atom) / (1.0 - self.whole.atom)

    def _epsilon(self, delta: float) -> float:
        return self.whole.epsilon_without_atom(delta)

    def _compose(self, count: int) -> PrivacyCurve:
        return _Conditional(self.whole.compose(count))


@dataclass(frozen=True)
class SumCumulant:
    """The cumulant of a Gaussian loss of mu^2 = `squared` and of independent Laplace losses."""

    squared: float
    laplaces: tuple[LaplaceCumulant, ...]

    def exponent(self, s: Complex, epsilon: float) -> Complex:
        total = s * (s + 1.0) * (self.squared / 2.0) - s * epsilon
        for part in self.laplaces:
            total = total + part.exponent(s, 0.0)
        return np.asarray(total)

    def slope(self, s: float) -> float:
        return (s + 0.5) * self.squared + math.fsum(part.slope(s) for part in self.laplaces)

    def curvature(self, s: float) -> float:
        return self.squared + math.fsum(part.curvature(s) for part in self.laplaces)

    @property
    def smooth_far_out(self) -> bool:
        """Returns whether `smooth` holds as far as 8 standard deviations above the mean, delta about 1e-15."""
        return self.smooth(8.0 / math.sqrt(self.curvature(0.0)))

    def smooth(self, saddle: float) -> bool:
        """Returns whether the contour integral's integrand dies out along the line through the saddle."""
        return (
            self.squared >= GAUSSIAN_SHARE * self.curvature(saddle)
            or math.fsum(part.inside(saddle) for part in self.laplaces) >= SMOOTH
        )
