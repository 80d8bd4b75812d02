"""The law of the privacy loss of a pair of finite distributions, and a law that dominates two of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

Reals = npt.NDArray[np.float64]
SAME = 1e-12  # losses closer than this share of the largest are one loss
MAX_STEPS = 1 << 16
HUGE = 600.0  # a loss whose exponential nears the end of float64


@dataclass(frozen=True, eq=False)
class LossLaw:
    """The loss ln(P/Q) under P: distinct finite values, ascending, their log masses, and the mass at infinity."""

    loss: Reals
    log_mass: Reals
    infinite: float = 0.0

    def log_delta(self, epsilon: float) -> float:
        """log of the part of delta(epsilon) that the finite losses make, for one use."""
        above = self.loss > epsilon
        if not above.any():
            return -math.inf
        return float(logsumexp(self.log_mass[above] + np.log(-np.expm1(epsilon - self.loss[above]))))

    def matches(self, other: LossLaw) -> bool:
        """Whether the two laws are the same up to rounding."""
        return (
            self.loss.size == other.loss.size
            and bool(np.allclose(self.loss, other.loss, rtol=1e-9, atol=1e-12))
            and bool(np.allclose(self.log_mass, other.log_mass, rtol=1e-9, atol=1e-9))
            and math.isclose(self.infinite, other.infinite, rel_tol=1e-9, abs_tol=1e-15)
        )


def loss_law(log_p: Reals, log_q: Reals, losses: Reals | None = None) -> LossLaw:
    """The law of ln(p/q) under p, from the logs of two mass functions; equal losses merge.

    Args:
        log_p: logs of the first one's masses, -inf where there is none.
        log_q: logs of the second one's.
        losses: log_p - log_q, where it is known without the rounding errors of a difference.
    """
    kept = log_p > -math.inf
    differences = log_p[kept] - log_q[kept] if losses is None else losses[kept]
    log_p, log_q = log_p[kept], log_q[kept]
    infinite = float(np.exp(log_p[log_q == -math.inf]).sum())
    finite = log_q > -math.inf
    loss, mass = differences[finite], log_p[finite]
    order = np.argsort(loss)
    loss, mass = loss[order], mass[order]
    if loss.size == 0:
        return LossLaw(loss, mass, infinite)
    starts = np.concatenate(([True], np.diff(loss) > SAME * max(1e-300, float(np.abs(loss).max()))))
    groups = np.split(np.arange(loss.size), np.flatnonzero(starts)[1:])
    return LossLaw(loss[starts], np.array([logsumexp(mass[group]) for group in groups]), infinite)


def envelope(first: LossLaw, second: LossLaw) -> LossLaw:
    """The law whose delta(epsilon) is the larger of two laws' at every real epsilon.

    Between neighbouring losses each delta is alpha - beta e^epsilon, so the larger one is piecewise of that form with
    further corners where the two cross, and a corner's mass is e^epsilon times the fall of beta. A larger profile
    still composes to a larger one ([zhu2022], Theorem 10), so that n uses of this law bound
    every mixture of n uses of either.
    """
    corners = np.unique(np.concatenate((first.loss, second.loss)))
    if float(np.abs(corners).max(initial=0.0)) > HUGE:
        return _response(float(max(first.loss[-1], second.loss[-1])), max(first.infinite, second.infinite))
    lines = [(_line(first, low), _line(second, low)) for low in (-math.inf, *corners)]
    points: list[float] = []
    betas: list[float] = []
    for i, pair in enumerate(lines):
        low = corners[i - 1] if i else -math.inf
        high = corners[i] if i < corners.size else math.inf
        (a1, b1), (a2, b2) = pair
        crossing = (a1 - a2) / (b1 - b2) if b1 != b2 else -1.0
        cut = math.log(crossing) if crossing > 0.0 else math.nan
        pieces = [(low, high)] if not low < cut < high else [(low, cut), (cut, high)]
        for left, right in pieces:
            inner = _between(left, right)
            points.append(left)
            betas.append(b1 if a1 - b1 * math.exp(inner) >= a2 - b2 * math.exp(inner) else b2)
    fall = -np.diff(np.array(betas))
    loss = np.array(points[1:])
    mass = fall * np.exp(loss)
    real = mass > 1e-16 * mass.max(initial=0.0)
    return LossLaw(loss[real], np.log(mass[real]), max(first.infinite, second.infinite))


def _response(budget: float, infinite: float) -> LossLaw:
    """Randomised response beside an atom, which dominates all that is (budget, infinite)-DP [kairouz2015]."""
    keep = math.log1p(-infinite) - float(np.logaddexp(0.0, -budget))
    return LossLaw(np.array([-budget, budget]), np.array([keep - budget, keep]), infinite)


def _between(left: float, right: float) -> float:
    if math.isinf(left):
        return right - 1.0 if math.isfinite(right) else 0.0
    return (left + right) / 2.0 if math.isfinite(right) else left + 1.0


def _line(law: LossLaw, low: float) -> tuple[float, float]:
    """alpha and beta of delta(epsilon) = alpha - beta e^epsilon just above `low`."""
    above = law.loss > low
    mass = np.exp(law.log_mass[above])
    return law.infinite + float(mass.sum()), float((mass * np.exp(-law.loss[above])).sum())


def lattice_step(loss: Reals) -> float | None:
    """The step h with every loss at loss[0] + h times a whole number, or None where there is none coarse enough."""
    if loss.size < 2:
        return 1.0
    gaps = loss - loss[0]
    tolerance = 1e-10 * float(np.abs(loss).max())
    step = float(gaps[1])
    for gap in gaps[2:]:
        a, b = float(gap), step
        while b > tolerance:
            a, b = b, math.fmod(a, b)
            b = 0.0 if a - b <= tolerance else b
        step = a
    whole = round(float(gaps[-1]) / step)
    if whole > MAX_STEPS:
        return None
    step = float(gaps[-1]) / whole
    return step if float(np.abs(gaps - step * np.round(gaps / step)).max()) <= tolerance else None
