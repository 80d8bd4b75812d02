"""Privacy losses rounded onto a lattice so that the profile can only grow: the convex profile by its chords.

With t = e^epsilon, delta is convex in t, and the chords between lattice points lie above it ([doroshenko2022],
"Connect the Dots"). A larger profile composes to a larger one, so what follows is an upper bound.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.lattice import LatticePart, LatticeSum
from tensorldp.curves.loss_distribution import LossLaw

Reals = npt.NDArray[np.float64]
POINTS = 600  # lattice points over the range of the narrowest profile
MAX_POINTS = 20_000  # over the range of any
MAX_WINDOW = 1 << 21
CUT = 1e-30  # delta at which a profile is cut off; the rest counts as an atom


def rounded_up(laws: list[tuple[LossLaw, int]]) -> LatticeSum:
    """The sum of finite losses, each split between the lattice points around it with E e^-L kept.

    Args:
        laws: laws of one use, and how many uses of each.
    """
    spreads = [_spread(law) for law, _ in laws]
    whole = math.sqrt(sum(count * s**2 for (_, count), s in zip(laws, spreads, strict=True)))
    width = max(float(np.ptp(law.loss)) for law, _ in laws)
    step = max(min(s for s in spreads if s > 0.0) / 200.0, 24.0 * whole / MAX_WINDOW, width / 50_000.0)
    parts = []
    for law, count in laws:
        below = np.floor(law.loss / step)
        upper = np.expm1(-(law.loss - below * step)) / math.expm1(-step)
        index = np.concatenate((below, below + 1.0)).astype(np.int64)
        mass = np.concatenate((1.0 - upper, upper)) * np.exp(np.tile(law.log_mass, 2))
        parts.append(_part(step, index, mass, count))
    return LatticeSum(step, parts)


def _spread(law: LossLaw) -> float:
    mass = np.exp(law.log_mass)
    mean = float(np.dot(mass, law.loss)) / float(mass.sum())
    return math.sqrt(float(np.dot(mass, (law.loss - mean) ** 2)) / float(mass.sum()))


def _part(step: float, index: npt.NDArray[np.int64], mass: Reals, count: int) -> LatticePart:
    kept, place = np.unique(index, return_inverse=True)
    total = np.bincount(place, weights=mass)
    kept, total = kept[total > 0.0], total[total > 0.0]
    return LatticePart(step * float(kept[0]), kept - kept[0], np.log(total), count)


def profiles_up(curves: list[PrivacyCurve]) -> tuple[LatticeSum, float]:
    """The sum of the losses of curves without atoms, and the mass cut off at its top.

    Only each curve's delta is used, so any curve can take part.
    """
    ranges = [_range(curve) for curve in curves]
    step = min(high - low for low, high in ranges) / POINTS
    step = max(step, max(high - low for low, high in ranges) / MAX_POINTS)
    parts, kept = [], 1.0
    for curve, (low, high) in zip(curves, ranges, strict=True):
        first, last = math.floor(low / step), math.ceil(high / step)
        if first <= 0:
            first = 0
        index = np.arange(first, last + 1, dtype=np.int64)
        delta = np.array([curve.delta(step * int(i)) for i in index])
        index, mass, cut = _masses(step, index, delta)
        parts.append(_part(step, index, mass, 1))
        kept *= 1.0 - cut
    return LatticeSum(step, parts), 1.0 - kept


def _range(curve: PrivacyCurve) -> tuple[float, float]:
    high = curve.epsilon(CUT)
    return max(0.0, 0.999 * curve.epsilon(1.0 - 1e-9)), high


def _masses(step: float, index: npt.NDArray[np.int64], delta: Reals) -> tuple[npt.NDArray[np.int64], Reals, float]:
    """Lattice masses from delta at neighbouring lattice points, the first of them 0 or with nearly no loss below."""
    growth = math.expm1(step)
    slopes = np.maximum(delta[:-1] - delta[1:], 0.0) / growth  # beta_j e^{epsilon_j}
    before = 1.0 - delta[0]
    mass = np.maximum(np.concatenate(([before], slopes * math.exp(step))) - np.concatenate((slopes, [0.0])), 0.0)
    if index[0] > 0:
        return index, mass, float(delta[-1])
    positive = mass[1:]
    mirrored = positive * np.exp(-step * index[1:])
    centre = max(0.0, 1.0 - float(delta[-1]) * 1.0 - float(positive.sum()) - float(mirrored.sum()))
    return (
        np.concatenate((-index[:0:-1], [0], index[1:])),
        np.concatenate((mirrored[::-1], [centre], positive)),
        float(delta[-1]),
    )
