"""I.i.d. Laplace noise on every element, in floats and on a grid, where no float gives a record away."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.discrete import PureCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms.additive_noise import LAPLACE, StatedRange
from tensorldp.mechanisms.exact_draws import STEPS, Integers, OnGrid, discrete_laplace
from tensorldp.mechanisms.registry import register


@register
class Laplace(StatedRange):
    """Lap(0, I Delta / epsilon) per element: exactly epsilon-LDP for the whole record (TLDP, Theorem 2(1)).

    Args:
        delta_range: Delta, the range that the formula uses; default high - low. Another one gives epsilon R / Delta,
            R = high - low.
    """

    name = "laplace"
    formula = r"x + \mathrm{Lap}(I \Delta / \varepsilon)^I"
    source = "TLDP, Theorem 2(1), Eq. 5"
    law = LAPLACE
    leaves_input = True

    @property
    def scale(self) -> float:
        """b, the Laplace scale, in the unit of the data."""
        return self.size * self.range / self.epsilon


BITS = 20  # of the rate's numerator: epsilon is met up to a part in 2^20, from below
MOST = 1 << 52  # of the scale's numerator, so that 64-bit integers do not overflow


@register
class LaplaceSecure(OnGrid):
    """Laplace noise in whole steps of a grid of 1024 over the range: epsilon-LDP for the record, floats included.

    A record is rounded to the grid, which does not depend on it; the noise has P(Z = k) proportional to exp(-|k| s)
    with a rational s = epsilon / (1024 I), rounded down, and is drawn from random whole numbers without rounding. The
    release depends only on the resulting whole numbers. An epsilon below I / 2^22 is refused.
    """

    name = "laplace-secure"
    formula = r"g (\lfloor x / g \rceil + Z), P(Z = k) \propto e^{-s \lvert k \rvert}"
    source = "[canonne2020], Algorithms 1 and 2; [mironov2012]"

    def _prepare(self) -> None:
        super()._prepare()
        share = Fraction(self.epsilon) / self.size
        shift = max(0, BITS - math.floor(math.log2(share)))
        self._unit = math.floor(share * (1 << shift))
        self._scale = STEPS << shift
        if self._scale > MOST:
            least = STEPS * 2.0**BITS / MOST * self.size
            raise InputError(
                f"epsilon of {self.name} must be at least {least:.3g} for a record of {self.size} elements, "
                f"got {self.epsilon:g}"
            )

    @property
    def rate(self) -> float:
        """s, the loss of one step."""
        return self._unit / self._scale

    def _noise(self, count: int, rng: np.random.Generator) -> Integers:
        return discrete_laplace(count, self._scale, self._unit, rng)

    def squared_error(self) -> float:
        half = math.sinh(self.rate / 2.0) if self.rate < 700.0 else math.inf
        return self.size * self.step**2 * (0.5 / half**2 + 0.25)

    def curve(self) -> PrivacyCurve:
        return PureCurve(self.size * STEPS * self.rate)

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        y, x, x_prime = (self._steps(self._flat(z)) for z in (y, x, x_prime))
        return ((y - x_prime).abs() - (y - x).abs()).sum(dim=1) * self.rate
