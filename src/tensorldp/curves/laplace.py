"""The exact profile of I independent Laplace mechanisms, each shifted by the same share of its scale.

Derived in docs/mathematics/curves.md#laplace. An element's loss is a or -a, or strictly between with a density. With
u = 1/(1 + 2s) the moment function (docs/mathematics/curves.md#saddle-point) is M = A + D u, with
A = (e^{sa} + e^{-(1+s)a}) / 2 for the two ends and D = (e^{sa} - e^{-(1+s)a}) / 2.

Where many elements are expected strictly inside, delta is the contour integral of `saddle_point`. Of a few elements, or
of many with a small shift, nearly all sit at an end, so that losses nearly lie on a lattice: M^n hardly falls along a
vertical line but returns in a peak every pi/a. There the terms of no and of one element between the ends are taken out
and summed in closed form (`log_delta_by_series`); what is left falls with the fourth power of the distance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln
from scipy.special import log1p as complex_log1p

from tensorldp.curves import saddle_point
from tensorldp.curves.base import LEAST_LOSS, MOST_COUNT, MOST_LOSS, RepeatedCurve, epsilon_at
from tensorldp.curves.saddle_point import Complex, Cumulant
from tensorldp.errors import InputError, check_real, check_whole

Reals = npt.NDArray[np.float64]
MAX_NODES = 40_000
PRECISION = 1e-10


def log_delta_by_series(cumulant: Cumulant, shift: float, count: int, epsilon: float, saddle: float) -> float:
    """Computes log delta of `count` >= 2 elements, 0 <= epsilon < shift * count; `saddle` is the c of the contour."""
    if (1.0 + 2.0 * saddle) * shift > 32.0 + math.log(count) or epsilon >= shift * (count - 2):
        return _log_top(count, shift * count - epsilon)
    c = saddle
    peak = float(cumulant.exponent(np.array([complex(c)]), epsilon)[0].real) - math.log(c * (1.0 + c))
    share = _share(shift, c)
    ends = _window(count, share, shift, epsilon)
    one = _window(count - 1, share, shift, epsilon - shift)
    gap = epsilon - shift * (count - 1 - 2.0 * one)
    total = float(
        (
            np.exp(_log_weight(count, ends, shift) - peak)
            * -np.expm1(np.minimum(0.0, epsilon - shift * (count - 2.0 * ends)))
        ).sum()
    )
    total += count * float((np.exp(_log_weight(count - 1, one, shift) - peak) * _one_inside(gap, shift)).sum())
    total += _rest(cumulant, shift, count, epsilon, c, peak)
    return peak + math.log(total) if total > 0.0 else -math.inf


def _share(shift: float, c: float) -> float:
    """Computes the share of elements at the lower end under the law tilted by e^{cL}."""
    u = 1.0 / (1.0 + 2.0 * c)
    odds = math.exp(-min(shift * (1.0 + 2.0 * c), 700.0)) * (1.0 - u) / (1.0 + u)
    return odds / (1.0 + odds)


def _window(count: int, share: float, shift: float, epsilon: float) -> Reals:
    """Returns the counts k of elements at the lower end that matter, with a loss shift (count - 2k) above epsilon."""
    radius = 12.0 * math.sqrt(count * share * (1.0 - share)) + 60.0
    last = math.ceil((count - epsilon / shift) / 2.0)
    low, high = max(0, math.floor(count * share - radius)), min(count, last, math.ceil(count * share + radius))
    return np.arange(low, high + 1.0)


def _log_weight(count: int, k: Reals, shift: float) -> Reals:
    choose = gammaln(count + 1.0) - gammaln(k + 1.0) - gammaln(count - k + 1.0)
    return np.asarray(choose - count * math.log(2.0) - k * shift)


def _one_inside(x: Reals, a: float) -> Reals:
    """Computes Int (1 - e^{x - l})_+ e^{-(a - l)/2} / 4 dl over -a < l < a."""
    within = np.expm1(np.minimum(0.0, x - a) / 2.0) ** 2 / 2.0
    return np.where(x < -a, math.expm1(-a) * np.expm1(np.minimum(x, 0.0)) / 2.0, within)


def _rest(cumulant: Cumulant, a: float, n: int, epsilon: float, c: float, peak: float) -> float:
    """Computes the contour integral of M^n - A^n - n A^{n-1} D u over Re s = c, divided by e^peak, peak by peak."""
    curvature = cumulant.curvature(c)
    pole = 1.0 / c**2 + 1.0 / (1.0 + c) ** 2
    step, reach, period = 0.15 / math.sqrt(curvature + pole), 9.0 / math.sqrt(curvature), math.pi / a
    whole_line = reach > period / 2.0
    if whole_line:
        per_period = math.ceil(period / step)
        step = period / per_period
        offsets = step * (np.arange(per_period) - per_period // 2)
    else:
        offsets = step * np.arange(-math.ceil(reach / step), math.ceil(reach / step) + 1)
    u = 1.0 / (1.0 + 2.0 * c)
    hidden = n * math.tanh((1.0 + 2.0 * c) * a / 2.0) * u
    scale = hidden * (1.0 + 2.0 * c) / 2.0  # n D u / A at distance y is scale / y
    tail = 0.5 * (scale * c / period**2) ** 2 * math.exp(-min(hidden / (1.0 + hidden / n), 700.0))
    far = max(2.0 * scale / period, 4.0)
    peaks = math.ceil(max(far, (tail / (3.0 * PRECISION)) ** (1.0 / 3.0)))
    peaks = min(peaks, max(4, MAX_NODES // offsets.size))
    centres = period * np.arange(-peaks, peaks + 1)
    values = np.empty((centres.size, offsets.size), dtype=np.complex128).real  # the layout decides a sum's last bit
    mirrored = values[:, 1:] if -offsets[0] > offsets[-1] else values  # a period's first offset may have no opposite
    for rows in np.array_split(np.arange(peaks, centres.size), max(1, values.size // 40_000)):
        values[rows] = _integrand(cumulant, a, n, epsilon, peak, c + 1j * (centres[rows, None] + offsets))
    mirrored[:peaks] = mirrored[: -peaks - 1 : -1, ::-1]  # conjugates have the same real part
    if mirrored is not values:
        s = c + 1j * (centres[:peaks] + offsets[0])
        values[:peaks, 0] = _integrand(cumulant, a, n, epsilon, peak, s)
    blocks = np.array_split(values, max(1, values.size // 20_000))
    return sum(float(block.sum()) for block in blocks) * step / (2.0 * math.pi)


def _integrand(cumulant: Cumulant, a: float, n: int, epsilon: float, peak: float, s: Complex) -> Reals:
    x = 1.0 + 2.0 * s
    below = np.log(s * (s + 1.0)) + peak
    fall = np.exp(-a * x)
    ratio = n * (1.0 - fall) / ((1.0 + fall) * x)
    ends = s * (n * a - epsilon) + n * np.log((1.0 + fall) / 2.0)
    values = np.exp(cumulant.exponent(s, epsilon) - below) - np.exp(ends - below) * (1.0 + ratio)
    return np.asarray(values.real)


def _log_top(n: int, t: float) -> float:
    """Computes log of 2^-n times the inverse Laplace transform of (1 + u)^n / (s (s + 1)) at t = n a - epsilon.

    Right where no element can be at its lower end (t <= 2a) or hardly ever is. The contour is the parabola
    s = m (1 + iy)^2 through the saddle point m.
    """

    def slope(log_s: float) -> float:
        s = math.exp(log_s)
        return t * s - n / ((1.0 + s) * (1.0 + 2.0 * s)) * s - 1.0 - s / (1.0 + s)

    low, high = -50.0, 1.0
    while slope(high) < 0.0:
        high += 10.0
    for _ in range(200):
        middle = (low + high) / 2.0
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    m = math.exp(high)
    bend = n * m * m * (3.0 + 4.0 * m) / ((1.0 + m) * (1.0 + 2.0 * m)) ** 2 + 1.0 + (m / (1.0 + m)) ** 2
    step = min(0.16, 0.4 / math.sqrt(4.0 * bend))
    y = step * np.arange(400)
    s = m * (1.0 + 1j * y) ** 2
    exponent = s * t + n * np.log1p(1.0 / (1.0 + 2.0 * s)) - np.log(s) - np.log1p(s) + np.log(2.0 * m * (1.0 + 1j * y))
    peak = float(exponent[0].real)
    values = np.exp(exponent - peak).real
    total = step / math.pi * (float(values.sum()) - float(values[0]) / 2.0)
    return peak + math.log(max(total, 1e-300)) - n * math.log(2.0)


SMOOTH = 25.0  # with this many elements expected strictly inside their loss range, the contour's integrand dies out


@dataclass(frozen=True)
class LaplaceCurve(RepeatedCurve):
    """`count` elements, each Laplace with sensitivity / scale = `shift`.

    delta is exact: the closed form for one element, else the moment function's contour integral, with the losses
    at the ends of their range summed apart where few elements are strictly inside.

    One element's curve bounds that of any two records as far apart in l1, and for noise whose density falls as
    e^-||z||/b in any norm, as far apart in that norm. On the line through the records, by distance, the density f of
    a release has b^2 f'' <= f. So f is the mean, over Laplace noise on the line, of the law f - b^2 f'', and the
    release can be made of that noise.

    Raises:
        InputError: if shift is not in [0, 1e50], or count is not a whole number from 1 to 10^20.
    """

    shift: float
    count: int = 1
    exact: bool = True

    def __post_init__(self) -> None:
        shift = check_real("shift of a Laplace curve", self.shift, low=0.0, high=MOST_LOSS)
        object.__setattr__(self, "shift", max(shift, LEAST_LOSS) if shift else 0.0)  # a larger one has a larger delta
        check_whole("count of a Laplace curve", self.count, low=1, high=MOST_COUNT)

    def nearer(self, share: float) -> LaplaceCurve:
        return LaplaceCurve(self.shift * share, self.count, self.exact)

    @property
    def pure_epsilon(self) -> float:
        return self.shift * self.count

    @property
    def mean_loss(self) -> float:
        """Returns I (a - 1 + e^-a), the Kullback-Leibler divergence of the worst pair in nats."""
        a = self.shift
        return self.count * (a + math.expm1(-a) if a > 1e-4 else a * a / 2.0 - a**3 / 6.0)

    @property
    def loss_variance(self) -> float:
        """Returns I (3 - (4a + 2) e^-a - e^-2a), in nats squared."""
        a = self.shift
        if a > 1e-3:
            return self.count * (3.0 - (4.0 * a + 2.0) * math.exp(-a) - math.exp(-2.0 * a))
        return self.count * a * a * (1.0 - 2.0 * a / 3.0)

    def log_delta(self, epsilon: float) -> float:
        """Computes log delta(epsilon) for epsilon >= 0, also where delta underflows."""
        if not epsilon >= 0.0:
            raise InputError(f"epsilon must be at least 0, got {epsilon!r}")
        if epsilon >= self.pure_epsilon:
            return -math.inf
        if self.count == 1:
            return math.log(-math.expm1((epsilon - self.shift) / 2.0))
        cumulant = LaplaceCumulant(self.shift, self.count)
        saddle = saddle_point.right_saddle(cumulant.slope, epsilon)
        if cumulant.inside(saddle) >= SMOOTH:
            return saddle_point.log_delta(cumulant, epsilon, saddle)
        return min(0.0, log_delta_by_series(cumulant, self.shift, self.count, epsilon, saddle))

    def _delta(self, epsilon: float) -> float:
        return math.exp(self.log_delta(epsilon))

    def _epsilon(self, delta: float) -> float:
        return epsilon_at(
            self.log_delta,
            math.log(delta),
            mean=self.mean_loss,
            spread=math.sqrt(self.loss_variance),
            top=self.pure_epsilon,
        )


@dataclass(frozen=True)
class LaplaceCumulant:
    """K(s) = n [s a + log(1 + s (e^{-(1+2s)a} - 1) / (1 + 2s))], the logarithm of M(s)^n rearranged."""

    shift: float
    count: int

    def exponent(self, s: Complex, epsilon: float) -> Complex:
        x = 1.0 + 2.0 * s
        x = np.where(x == 0.0, 1e-300, x)
        return s * (self.count * self.shift - epsilon) + self.count * complex_log1p(s * np.expm1(-self.shift * x) / x)

    def _parts(self, s: float) -> tuple[float, float, float]:
        """Computes f, f' and f'' of f = s E / x, x = 1 + 2s, E = e^{-ax} - 1."""
        a, x = self.shift, 1.0 + 2.0 * s
        if abs(x) * max(a, 1.0) < 1e-4:  # E/x = -a + a^2 x/2 - a^3 x^2/6, near s = -1/2
            ratio, first, second = -a + a * a * x / 2 - a**3 * x * x / 6, a * a - 2 * a**3 * x / 3, -4 * a**3 / 3
        else:
            fall, rest = math.expm1(-a * x), math.exp(-a * x)
            ratio = fall / x
            first = (-2.0 * a * rest - 2.0 * ratio) / x
            second = (4.0 * a * a * rest - 4.0 * first) / x
        return s * ratio, ratio + s * first, 2.0 * first + s * second

    def slope(self, s: float) -> float:
        f, first, _ = self._parts(s)
        return self.count * (self.shift + first / (1.0 + f))

    def curvature(self, s: float) -> float:
        a = self.shift
        if a * (1.0 + abs(s)) < 1e-4:
            return self.count * a * a
        f, first, second = self._parts(s)
        return self.count * max(second / (1.0 + f) - (first / (1.0 + f)) ** 2, 1e-12 * min(a, 1.0) ** 2)

    def inside(self, s: float) -> float:
        """Computes the expected number of elements with a loss strictly between its ends, under the tilt e^{sL}."""
        u = 1.0 / (1.0 + 2.0 * s)
        weight = math.tanh((1.0 + 2.0 * s) * self.shift / 2.0) * u
        return self.count * weight / (1.0 + weight)
