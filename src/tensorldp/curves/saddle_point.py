"""delta(epsilon) of a sum of privacy losses from its moment function, by a line integral through the saddle point."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt

Complex = npt.NDArray[np.complex128]
CHUNK = 256
MAX_CHUNKS = 400
MAX_LOG = 100.0  # of a saddle point
NEGLIGIBLE = -32.0  # log of what may be left out, relative to the peak


class Cumulant(Protocol):
    """K(s) = log E e^{sL} of a privacy loss L, less s times an epsilon."""

    def exponent(self, s: Complex, epsilon: float) -> Complex:
        """Computes K(s) - s epsilon; apart, the two would cancel."""

    def slope(self, s: float) -> float:
        """Computes K'(s)."""

    def curvature(self, s: float) -> float:
        """Computes K''(s)."""


def right_saddle(slope: Callable[[float], float], epsilon: float, most: float = MAX_LOG) -> float:
    """Finds the c > 0 with K'(c) - epsilon = 1/c + 1/(c + 1), where a contour's integrand oscillates least.

    Args:
        slope: K', increasing.
        epsilon: what the loss is compared with.
        most: log of the largest c.
    """
    from scipy.optimize import brentq

    def gap(log_c: float) -> float:
        c = math.exp(log_c)
        return slope(c) - epsilon - 1.0 / c - 1.0 / (c + 1.0)

    low, high = -1.0, 1.0
    while gap(low) > 0.0:
        low *= 2.0
    while gap(high) < 0.0:
        high *= 2.0
        if high > most:
            return math.exp(most)
    return math.exp(float(brentq(gap, low, high, xtol=1e-6)))


def _left_saddle(cumulant: Cumulant, epsilon: float) -> float:
    from scipy.optimize import brentq

    def slope(log_c: float) -> float:
        c = math.exp(log_c)
        return cumulant.slope(-c) - epsilon + 1.0 / c - 1.0 / (1.0 - c)

    low = -2.0
    while slope(low) < 0.0:
        low *= 2.0
    return -math.exp(float(brentq(slope, low, math.log(0.5), xtol=1e-6))) if slope(math.log(0.5)) < 0.0 else -0.5


def log_delta(cumulant: Cumulant, epsilon: float, saddle: float | None = None) -> float:
    """Computes log of delta = (1/2 pi i) Int e^{K(s) - s epsilon} / (s (s + 1)) ds over Re s = c > 0.

    See docs/mathematics/curves.md#saddle-point.

    The trapezoid rule converges exponentially in the node count, as the integrand is analytic around the line. Left
    of the mean the line passes between the poles 0 and -1 and yields 1 - delta, so that no digits are lost.
    """
    mean, spread = cumulant.slope(0.0), math.sqrt(cumulant.curvature(0.0))
    left = epsilon < mean - 3.0 * spread
    c = _left_saddle(cumulant, epsilon) if left else (saddle or right_saddle(cumulant.slope, epsilon))
    width = 1.0 / math.sqrt(cumulant.curvature(c) + 1.0 / c**2 + 1.0 / (1.0 + c) ** 2)
    step = 0.15 * width
    peak = float(cumulant.exponent(np.array([complex(c)]), epsilon)[0].real) - math.log(abs(c) * (1.0 + c))
    total = 0.0
    for chunk in range(MAX_CHUNKS):
        y = step * np.arange(chunk * CHUNK, (chunk + 1) * CHUNK)
        s: Complex = np.asarray(c + 1j * y, dtype=np.complex128)
        exponent = cumulant.exponent(s, epsilon) - np.log(s * (s + 1.0) * (-1.0 if left else 1.0)) - peak
        values = np.exp(exponent).real
        total += float(values.sum()) - (0.5 * float(values[0]) if chunk == 0 else 0.0)
        if float(exponent.real.max()) < NEGLIGIBLE:
            break
    log_integral = peak + math.log(max(total, 1e-300) * step / math.pi)
    return math.log1p(-math.exp(min(log_integral, -1e-300))) if left else min(log_integral, 0.0)
