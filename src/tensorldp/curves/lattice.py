"""delta(epsilon) of sums of privacy losses on a common lattice, by a Fourier transform of the tilted law."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float64]
TAIL = 42.0  # -log of the tilted mass that a window may leave out

NEAR = 3.0  # standard deviations of the tilted sum within which a window serves another epsilon


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
        self.step, self.parts = step, parts
        self.base = math.fsum(part.count * part.first for part in parts)
        self.last = sum(part.count * int(part.index[-1]) for part in parts)
        self.reach = max(int(part.index[-1]) for part in parts)
        self._kept: _Window | None = None

    @property
    def top(self) -> float:
        """The largest sum."""
        return self.base + self.step * self.last

    def tilted(self, t: float) -> tuple[float, float, float]:
        """log E e^{tS}, and the mean and variance of S under the law tilted by t."""
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

    def _tilt(self, epsilon: float) -> float:
        from scipy.optimize import brentq

        def slope(log_t: float) -> float:
            t = math.exp(log_t)
            return self.tilted(t)[1] - epsilon - 1.0 / t - 1.0 / (1.0 + t)

        low, high = -1.0, 1.0
        while slope(low) > 0.0:
            low *= 2.0
        while slope(high) < 0.0:
            high *= 2.0
            if high > 64.0:
                return math.exp(64.0)
        return math.exp(float(brentq(slope, low, high, xtol=1e-6)))

    def log_delta(self, epsilon: float) -> float:
        """log delta(epsilon) of the finite sums; -inf where no sum exceeds epsilon."""
        start = math.floor((epsilon - self.base) / self.step) + 1
        if start > self.last or epsilon >= self.top:
            return -math.inf
        if self._kept is None or abs(epsilon - self._kept.epsilon) > NEAR * self._kept.spread:
            self._kept = self._window_at(epsilon)  # a search for epsilon asks for many that are near each other
        t, log_total, low, mass = self._kept.tilt, self._kept.log_total, self._kept.low, self._kept.mass
        index = np.arange(max(low, start), low + mass.size)
        above = self.base - epsilon + self.step * index
        terms = mass[index - low] * np.exp(-t * np.maximum(above, 0.0)) * -np.expm1(np.minimum(-above, 0.0))
        total = float(terms.sum())
        return log_total - t * epsilon + math.log(total) if total > 0.0 else -math.inf

    def _window_at(self, epsilon: float) -> _Window:
        t = self._tilt(epsilon)
        log_total, mean, variance = self.tilted(t)
        bound = self.reach * TAIL / 3.0
        radius = bound + math.sqrt(bound**2 + 2.0 * TAIL * variance / self.step**2) + 2.0
        centre = (mean - self.base) / self.step
        low, high = max(0, math.floor(centre - radius)), min(self.last, math.ceil(centre + radius))
        return _Window(epsilon, math.sqrt(variance), t, log_total, low, self._window(t, low, high - low + 1))

    def _window(self, t: float, low: int, size: int) -> Reals:
        """The tilted masses of base + step * (low .. low + size - 1)."""
        from scipy.fft import irfft, next_fast_len, rfft

        length = next_fast_len(size, real=True)
        phase = np.zeros(length // 2 + 1, dtype=np.complex128)
        for part in self.parts:
            weight = part.log_mass + t * self.step * part.index
            mass = np.exp(weight - weight.max())
            folded = np.bincount(part.index % length, weights=mass / mass.sum(), minlength=length)
            with np.errstate(divide="ignore"):
                phase += part.count * np.log(rfft(folded))
        turn = 2.0 * math.pi / length * np.mod(np.arange(length // 2 + 1) * (low % length), length)
        return np.maximum(np.asarray(irfft(np.exp(phase + 1j * turn), length))[:size], 0.0)
