"""Where a decreasing log delta(epsilon) reaches a target."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.special import ndtri

FLOOR = -1e12  # stands for log 0: finite, so that a bracket may end there


def epsilon_at(
    log_delta: Callable[[float], float], log_target: float, *, mean: float, spread: float, top: float = math.inf
) -> float:
    """The smallest epsilon >= 0 with log_delta(epsilon) <= log_target, to about 1e-10 and rounded up.

    Args:
        log_delta: decreasing in epsilon; -inf allowed.
        log_target: in nats, below 0.
        mean: of the privacy loss; the search starts at its normal approximation.
        spread: standard deviation of the privacy loss.
        top: an epsilon at which delta is 0, if there is one.
    """
    from scipy.optimize import brentq

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
