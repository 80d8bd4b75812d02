"""The Laplace mechanism on a grid, with randomness of whole numbers: no float gives a record away."""

from __future__ import annotations

import math
from fractions import Fraction

import torch
from torch import Tensor

from tensorldp.errors import InputError
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.exact_draws import discrete_laplace
from tensorldp.mechanisms.registry import register
from tensorldp.privacy.curves.base import PrivacyCurve
from tensorldp.privacy.curves.pure import PureCurve
from tensorldp.randomness import numpy_generator

STEPS = 1024  # of the grid over the range of an element
BITS = 20  # of the rate's numerator: epsilon is met up to a part in 2^20, from below
MOST = 1 << 52  # of the scale's numerator, so that 64-bit integers do not overflow


@register
class LaplaceSecure(Mechanism):
    """Laplace noise in whole steps of a grid of 1024 over the range: epsilon-LDP for the record, floats included.

    A record is rounded to the grid, which does not depend on it; the noise has P(Z = k) proportional to exp(-|k| s)
    with a rational s = epsilon / (1024 I), rounded down, and is drawn from random whole numbers without rounding. The
    release is a function of the resulting whole numbers alone.
    """

    name = "laplace-secure"
    formula = r"g (\lfloor x / g \rceil + Z), P(Z = k) \propto e^{-s \lvert k \rvert}"
    label = "Laplace, on a grid"
    family = "laplace"
    acts_on = "element"
    on_grid = True
    domain_kind = "box"
    source = "Canonne, Kamath and Steinke, NeurIPS 2020, Algorithms 1 and 2; Mironov, CCS 2012"

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
    def step(self) -> float:
        """g, the distance of two released values."""
        return self.box.width / STEPS

    @property
    def rate(self) -> float:
        """s, the loss of one step."""
        return self._unit / self._scale

    def _steps(self, x: Tensor) -> Tensor:
        return ((x.double() - self.box.low) / self.step).round()

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        noise = discrete_laplace(x.numel(), self._scale, self._unit, numpy_generator(generator))
        steps = self._steps(x).clamp_(0, STEPS) + torch.from_numpy(noise).view(x.shape).to(x.device)
        return (self.box.low + steps * self.step).to(x.dtype)

    def squared_error(self) -> float:
        half = math.sinh(self.rate / 2.0) if self.rate < 700.0 else math.inf
        return self.size * self.step**2 * (0.5 / half**2 + 0.25)

    def worst_input(self) -> Tensor:
        return self.box.constant(self.box.low + self.step / 2.0)  # rounding moves it most

    def curve(self) -> PrivacyCurve:
        return PureCurve(self.size * STEPS * self.rate)

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        return self.box.constant(self.box.low), self.box.constant(self.box.high)

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        y, x, x_prime = (self._steps(self._flat(z)) for z in (y, x, x_prime))
        return ((y - x_prime).abs() - (y - x).abs()).sum(dim=1) * self.rate
