"""Epsilon of each case without the product and without the surveyed accountants: mpmath, and losses on a lattice.

Both records of a pair are one another's neighbours by one record that is added or removed, at the worse order.
"""

from __future__ import annotations

import mpmath
import numpy as np
import numpy.typing as npt
from kit import Case
from scipy.special import ndtr

Reals = npt.NDArray[np.float64]
POINTS, SPAN = 1 << 24, 64.0  # of the lattice of losses, and how many nats it covers; what it rounds is in the bounds
mpmath.mp.dps = 40


def bounds(case: Case) -> tuple[float, float]:
    """The least and the greatest epsilon that the case can have: equal where there is a closed form."""
    losses: Reals = (np.arange(POINTS + 1, dtype=np.float64) - POINTS // 2) * (SPAN / POINTS)
    if case.kind == "laplace" and case.steps > 1:
        return _lattice(_laplace(case, losses), case)
    if case.rate < 1:
        removed, added = (_lattice(law(case, losses), case) for law in (_removed, _added))
        return max(removed, added)
    delta = {"gaussian": _gaussian, "laplace": _one_laplace, "response": _responses}[case.kind]
    low, high = (mpmath.mpf(end) for end in _ends(case))
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if delta(case, middle) > case.delta else (low, middle)
    return float(high), float(high)


def _ends(case: Case) -> tuple[float, float]:
    """Epsilons between which delta falls to that of the case."""
    mu = case.steps**0.5 / case.noise
    pure = case.steps * (1 / case.noise if case.kind == "laplace" else case.noise)
    return (0.0, mu * mu / 2 + 8 * mu) if case.kind == "gaussian" else (0.0, pure)


def _gaussian(case: Case, epsilon: mpmath.mpf) -> mpmath.mpf:
    mu = mpmath.sqrt(case.steps) / case.noise
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def _one_laplace(case: Case, epsilon: mpmath.mpf) -> mpmath.mpf:
    return 1 - mpmath.exp((epsilon - 1 / mpmath.mpf(case.noise)) / 2)


def _responses(case: Case, epsilon: mpmath.mpf) -> mpmath.mpf:
    p = 1 / (1 + mpmath.exp(-mpmath.mpf(case.noise)))
    total = mpmath.mpf(0)
    for right in range(case.steps + 1):
        loss = case.noise * (2 * right - case.steps)
        if loss > epsilon:
            chance = mpmath.binomial(case.steps, right) * p**right * (1 - p) ** (case.steps - right)
            total += chance * (1 - mpmath.exp(epsilon - loss))
    return total


def _lattice(law: Reals, case: Case) -> tuple[float, float]:
    """From how likely a loss of one use is at most each point: all losses rounded down, and all rounded up."""
    step = SPAN / POINTS
    up = np.diff(law)  # the chance of (k - 1, k] in steps is put on k, counted from 1 - POINTS / 2
    spectrum = np.fft.rfft(np.roll(up, 1 - POINTS // 2)) ** case.steps
    mass = np.fft.irfft(spectrum, POINTS)[: POINTS // 2]  # losses of at least 0
    losses = np.arange(POINTS // 2) * step
    above = np.cumsum(mass[::-1])[::-1]
    weighed = np.cumsum((mass * np.exp(-losses))[::-1])[::-1]
    place = int(np.argmax(above - np.exp(losses) * weighed <= case.delta))  # epsilon lies in the step before it
    high = float(np.log((above[place] - case.delta) / weighed[place]))
    return high - case.steps * step, high


def _laplace(case: Case, losses: Reals) -> Reals:
    """The law of 1 / scale for releases below both queries, of less between them, and of -1 / scale above."""
    most = 1 / case.noise
    inside = 0.5 * np.exp((losses - most) / 2)
    return np.where(losses >= most, 1.0, np.where(losses >= -most, inside, 0.0))


def _places(case: Case, losses: Reals) -> Reals:
    """The release at which the removed record's loss is so large; -inf where it is never so small."""
    share = np.expm1(losses) / case.rate + 1
    return case.noise**2 * np.log(np.maximum(share, 0), where=share > 0, out=np.full_like(share, -np.inf)) + 0.5


def _removed(case: Case, losses: Reals) -> Reals:
    places = _places(case, losses)
    return (1 - case.rate) * ndtr(places / case.noise) + case.rate * ndtr((places - 1) / case.noise)


def _added(case: Case, losses: Reals) -> Reals:
    return 1 - ndtr(_places(case, -losses) / case.noise)
