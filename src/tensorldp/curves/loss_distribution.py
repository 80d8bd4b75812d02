"""Laws of privacy losses, of finite distributions or rounded onto a lattice, where a Fourier transform composes them.

Rounding goes up: the profile can only grow. With t = e^epsilon, delta is convex in t, and the chords between lattice
points lie above it ([doroshenko2022], "Connect the Dots"). A larger profile composes to a larger one, so what follows
is an upper bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.saddle_point import right_saddle
from tensorldp.errors import check_whole

Reals = npt.NDArray[np.float64]
LOG_LEFT_OUT = 42.0  # -log of the tilted mass that a window may leave out
MOST_SUMMED = 10**10  # losses of one law: their number multiplies the transform's rounding, 1e-16
WINDOW_SPREADS = 3.0  # standard deviations of the tilted sum within which a window serves another epsilon


def log_sum(logs: Reals) -> float:
    """Computes log(sum(exp(logs))) of a row, largest terms apart, as SciPy does in 14 times the time."""
    top = float(logs.max(initial=-math.inf))
    if not math.isfinite(top):
        return top
    largest = logs == top
    count = float(np.count_nonzero(largest))
    rest = float(np.exp(np.where(largest, -math.inf, logs) - top).sum())
    return float(np.log1p(rest / count) + np.log(count) + top)


@dataclass(frozen=True, eq=False)
class LatticePart:
    """`count` losses, each first + step * index with its log mass (the masses may sum to less than 1)."""

    first: float
    index: npt.NDArray[np.int64]
    log_mass: Reals
    count: int


@dataclass(frozen=True, eq=False)
class _Window:
    """The tilted masses around the sum that an epsilon asks about, from the lattice point `low` on."""

    epsilon: float
    spread: float
    tilt: float
    log_total: float
    low: int
    mass: Reals


class LatticeSum:
    """The sum of independent losses whose values are on lattices of one step.

    delta(epsilon) = M(t) e^{-t epsilon} E_t[e^{-t (S - epsilon)} (1 - e^{epsilon - S})_+], where E_t is under the law
    tilted by e^{tS} and t puts its mean just above epsilon. The tilted law is a power of a discrete Fourier
    transform on a window around that mean, so even a delta of 1e-300 keeps its leading digits.
    """

    def __init__(self, step: float, parts: list[LatticePart]) -> None:
        for part in parts:
            check_whole("count of losses on a lattice", part.count, low=1, high=MOST_SUMMED)
        self.step, self.parts = step, parts
        self.base = math.fsum(part.count * part.first for part in parts)
        self.last = sum(part.count * int(part.index[-1]) for part in parts)
        self.reach = max(int(part.index[-1]) for part in parts)
        self._kept: _Window | None = None

    @property
    def top(self) -> float:
        """Returns the largest sum."""
        return self.base + self.step * self.last

    def tilted(self, t: float) -> tuple[float, float, float]:
        """Computes log E e^{tS}, and the mean and variance of S under the law tilted by t."""
        log_total, mean, variance = 0.0, 0.0, 0.0
        for part in self.parts:
            value = part.first + self.step * part.index
            weight = part.log_mass + t * value
            peak = float(weight.max())
            mass = np.exp(weight - peak)
            total = float(mass.sum())
            centre = float(np.dot(mass, value)) / total
            log_total += part.count * (peak + math.log(total))
            mean += part.count * centre
            variance += part.count * float(np.dot(mass, (value - centre) ** 2)) / total
        return log_total, mean, variance

    def log_delta(self, epsilon: float) -> float:
        """Computes log delta(epsilon) of the finite sums; -inf where no sum exceeds epsilon."""
        start = math.floor((epsilon - self.base) / self.step) + 1
        if start > self.last or epsilon >= self.top:
            return -math.inf
        if self._kept is None or abs(epsilon - self._kept.epsilon) > WINDOW_SPREADS * self._kept.spread:
            self._kept = self._window_at(epsilon)  # a search for epsilon needs many that are near each other
        t, log_total, low, mass = self._kept.tilt, self._kept.log_total, self._kept.low, self._kept.mass
        index = np.arange(max(low, start), low + mass.size)
        above = self.base - epsilon + self.step * index
        terms = mass[index - low] * np.exp(-t * np.maximum(above, 0.0)) * -np.expm1(np.minimum(-above, 0.0))
        total = float(terms.sum())
        return log_total - t * epsilon + math.log(total) if total > 0.0 else -math.inf

    def _window_at(self, epsilon: float) -> _Window:
        t = right_saddle(lambda t: self.tilted(t)[1], epsilon, most=64.0)
        log_total, mean, variance = self.tilted(t)
        bound = self.reach * LOG_LEFT_OUT / 3.0
        radius = bound + math.sqrt(bound**2 + 2.0 * LOG_LEFT_OUT * variance / self.step**2) + 2.0
        centre = (mean - self.base) / self.step
        low, high = max(0, math.floor(centre - radius)), min(self.last, math.ceil(centre + radius))
        return _Window(epsilon, math.sqrt(variance), t, log_total, low, self._window(t, low, high - low + 1))

    def _window(self, t: float, low: int, size: int) -> Reals:
        """Computes the tilted masses of base + step * (low .. low + size - 1)."""
        from scipy.fft import irfft, next_fast_len, rfft

        length = next_fast_len(size, real=True)
        phase = np.zeros(length // 2 + 1, dtype=np.complex128)
        for part in self.parts:
            weight = part.log_mass + t * self.step * part.index
            mass = np.exp(weight - weight.max())
            folded = np.bincount(part.index % length, weights=mass / mass.sum(), minlength=length)
            with np.errstate(divide="ignore", invalid="ignore"):  # a transform of 0 has the log -inf, and no angle
                phase += part.count * np.log(rfft(folded))
        turn = 2.0 * math.pi / length * np.mod(np.arange(length // 2 + 1) * (low % length), length)
        return np.maximum(np.asarray(irfft(np.exp(phase + 1j * turn), length))[:size], 0.0)


SAME_LOSS = 1e-12  # losses closer than this share of the largest are one loss
MAX_STEPS = 1 << 16
BETA_NOISE = 4e-16  # of beta: a fall of no more may be rounding
LOG_LEAST = -690.0  # of beta: smaller ones have fewer digits in floats, and their masses go to the largest loss
HUGE = 600.0  # a loss whose exponential nears the end of float64


@dataclass(frozen=True, eq=False)
class LossLaw:
    """The loss ln(P/Q) under P: distinct finite values, ascending, their log masses, and the mass at infinity."""

    loss: Reals
    log_mass: Reals
    infinite: float = 0.0

    def log_delta(self, epsilon: float) -> float:
        """Computes log of the part of delta(epsilon) that the finite losses make, for one use."""
        above = self.loss > epsilon
        if not above.any():
            return -math.inf
        return log_sum(self.log_mass[above] + np.log(-np.expm1(epsilon - self.loss[above])))

    def matches(self, other: LossLaw) -> bool:
        """Returns whether the two laws are the same up to rounding."""
        return (
            self.loss.size == other.loss.size
            and bool(np.allclose(self.loss, other.loss, rtol=1e-9, atol=1e-12))
            and bool(np.allclose(self.log_mass, other.log_mass, rtol=1e-9, atol=1e-9))
            and math.isclose(self.infinite, other.infinite, rel_tol=1e-9)  # 0 is close to 0 alone
        )


def loss_law(log_p: Reals, log_q: Reals, losses: Reals | None = None) -> LossLaw:
    """Computes the law of ln(p/q) under p, from the logs of two mass functions; equal losses merge.

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
    starts = np.concatenate(([True], np.diff(loss) > SAME_LOSS * max(1e-300, float(np.abs(loss).max()))))
    groups = np.split(np.arange(loss.size), np.flatnonzero(starts)[1:])
    return LossLaw(loss[starts], np.array([log_sum(mass[group]) for group in groups]), infinite)


def envelope(first: LossLaw, second: LossLaw) -> LossLaw:
    """Computes the law whose delta(epsilon) is the larger of two laws' at every real epsilon.

    Between neighbouring losses each delta is alpha - beta e^epsilon, so the larger one is piecewise of that form, with
    further corners where the two cross. A corner's mass is e^epsilon times the fall of beta. A larger profile still
    composes to a larger one ([zhu2022], Theorem 10), so that n uses of this law bound every mixture of n uses of
    either.
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
    beta = np.array(betas)
    beta[beta < math.exp(LOG_LEAST)] = 0.0
    fall = -np.diff(beta)
    loss = np.array(points[1:])
    mass = fall * np.exp(loss)
    real = np.flatnonzero(fall > BETA_NOISE * beta[:-1])
    # what may be rounding goes to the next larger loss, where it changes no digit of delta
    mass = np.add.reduceat(np.maximum(mass, 0.0), np.concatenate(([0], real + 1))[:-1])
    log_mass, loss = np.log(mass), loss[real]
    last = loss.max(initial=-math.inf)
    rarer = [law.log_mass[(law.loss > last) & (law.log_mass - law.loss < LOG_LEAST)] for law in (first, second)]
    if any(part.size for part in rarer):
        loss, log_mass = np.append(loss, corners[-1]), np.append(log_mass, log_sum(np.concatenate(rarer)))
    return LossLaw(loss, log_mass, max(first.infinite, second.infinite))


def _response(budget: float, infinite: float) -> LossLaw:
    """Builds randomised response beside an atom, which dominates all that is (budget, infinite)-DP [kairouz2015]."""
    keep = math.log1p(-infinite) - float(np.logaddexp(0.0, -budget))
    return LossLaw(np.array([-budget, budget]), np.array([keep - budget, keep]), infinite)


def _between(left: float, right: float) -> float:
    if math.isinf(left):
        return right - 1.0 if math.isfinite(right) else 0.0
    return (left + right) / 2.0 if math.isfinite(right) else left + 1.0


def _line(law: LossLaw, low: float) -> tuple[float, float]:
    """Computes alpha and beta of delta(epsilon) = alpha - beta e^epsilon just above `low`."""
    above = law.loss > low
    mass = np.exp(law.log_mass[above])
    return law.infinite + float(mass.sum()), float((mass * np.exp(-law.loss[above])).sum())


def lattice_step(loss: Reals) -> float | None:
    """Finds the step h with every loss at loss[0] + h times a whole number, or None where none is coarse enough."""
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


POINTS = 600  # lattice points over the range of the narrowest profile
MAX_POINTS = 20_000  # over the range of any
MAX_WINDOW = 1 << 21
CUT = 1e-30  # delta at which a profile is cut off; the rest counts as an atom


def rounded_up(laws: list[tuple[LossLaw, int]]) -> LatticeSum:
    """Computes the sum of finite losses, each split between the lattice points around it with E e^-L kept.

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
    """Computes the sum of the losses of curves without atoms, and the mass cut off at its top.

    Only each curve's delta is used, so any curve can take part.
    """
    ranges = [_range(curve) for curve in curves]
    step = min(high - low for low, high in ranges) / POINTS
    step = max(step, max(high - low for low, high in ranges) / MAX_POINTS)
    parts, kept = [], 1.0
    for curve, (low, high) in zip(curves, ranges, strict=True):
        first, last = max(0, math.floor(low / step)), math.ceil(high / step)
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
    """Computes lattice masses from delta at neighbouring points, the first of them 0 or with nearly no loss below."""
    growth = math.expm1(step)
    slopes = np.maximum(delta[:-1] - delta[1:], 0.0) / growth  # beta_j e^{epsilon_j}
    before = 1.0 - delta[0]
    mass = np.maximum(np.concatenate(([before], slopes * math.exp(step))) - np.concatenate((slopes, [0.0])), 0.0)
    if index[0] > 0:
        return index, mass, float(delta[-1])
    positive = mass[1:]
    mirrored = positive * np.exp(-step * index[1:])
    centre = max(0.0, 1.0 - float(delta[-1]) - float(positive.sum()) - float(mirrored.sum()))
    return (
        np.concatenate((-index[:0:-1], [0], index[1:])),
        np.concatenate((mirrored[::-1], [centre], positive)),
        float(delta[-1]),
    )
