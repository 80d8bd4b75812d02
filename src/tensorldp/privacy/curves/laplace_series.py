"""delta(epsilon) of a few Laplace elements, or of many whose shift is far below the scale: a lattice plus a little."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

NODES = 24
_ANGLE = (2.0 * np.arange(NODES // 2) + 1.0) * math.pi / NODES
# the cotangent contour of Weideman (SIAM J. Numer. Anal. 44, 2006): N (-0.6122 + 0.5017 w cot(0.6407 w) + 0.2645 i w)
_POINT = NODES * (-0.6122 + 0.5017 * _ANGLE / np.tan(0.6407 * _ANGLE) + 0.2645j * _ANGLE)
_SLOPE = NODES * (0.5017 / np.tan(0.6407 * _ANGLE) - 0.5017 * 0.6407 * _ANGLE / np.sin(0.6407 * _ANGLE)**2 + 0.2645j)


def log_delta(shift: float, count: int, epsilon: float, saddle: float) -> float:
    """log delta as a sum over k, the number of elements whose loss is drawn from the lower end.

    With u = 1/(1 + 2s), the moment function of mathematics.md 1.1 is M(s) = (e^{sa} (1 + u) + e^{-(1+s)a} (1 - u)) / 2.
    The binomial expansion of M^n has the delays a (n - 2k) - epsilon = t_k, and only t_k > 0 counts:
    delta = sum_k C(n, k) 2^-n e^{-ka} F_k(t_k), F_k the inverse Laplace transform of
    (1 + u)^{n-k} (1 - u)^k / (s (s + 1)), whose singularities all lie in [-1, 0].

    Args:
        saddle: the c of the contour integral, which says which k matter.
    """
    last = math.ceil((count - epsilon / shift) / 2.0) - 1
    u = 1.0 / (1.0 + 2.0 * saddle)
    odds = math.exp(-min(shift * (1.0 + 2.0 * saddle), 700.0)) * (1.0 - u) / (1.0 + u)
    share = odds / (1.0 + odds)
    radius = 10.0 * math.sqrt(count * share * (1.0 - share)) + 40.0
    k = np.arange(max(0, math.floor(count * share - radius)), min(last, math.ceil(count * share + radius)) + 1.0)
    if k.size == 0:
        return -math.inf
    log_weight = (gammaln(count + 1.0) - gammaln(k + 1.0) - gammaln(count - k + 1.0)
                  - count * math.log(2.0) - k * shift)
    delay = shift * (count - 2.0 * k) - epsilon
    s = _POINT[None, :] / np.maximum(delay, 1e-300)[:, None]
    exponent = ((count - k - 1.0)[:, None] * np.log1p(1.0 / (1.0 + 2.0 * s)) + k[:, None] * np.log(2.0 * s)
                - k[:, None] * np.log1p(2.0 * s) + math.log(2.0) - np.log(s) - np.log1p(2.0 * s))
    exponent += log_weight[:, None] + _POINT[None, :] - np.log(np.maximum(delay, 1e-300))[:, None]
    peak = float(exponent.real.max())
    total = 2.0 / NODES * float((np.exp(exponent - peak) * _SLOPE[None, :]).imag.sum())
    return peak + math.log(total) if total > 0.0 else -math.inf
