"""The Gaussian mechanism on a grid, with randomness of whole numbers: no float gives a record away."""

from __future__ import annotations

import math

import numpy as np
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.discrete_gaussian import DiscreteGaussianCurve
from tensorldp.curves.gaussian import mu_of
from tensorldp.errors import InputError
from tensorldp.mechanisms.exact_draws import Integers, discrete_gaussian
from tensorldp.mechanisms.on_grid import OnGrid
from tensorldp.mechanisms.registry import register

LEAST_STEPS = 1024  # of the grid over the range
SIGMA = 1 << 20  # steps that the standard deviation has, where the grid may be that fine
MOST_SIGMA = 1 << 25  # that 64-bit integers hold


@register
class GaussianSecure(OnGrid):
    """Discrete Gaussian noise in whole steps of a grid: (epsilon, delta)-DP for the whole record, floats included.

    A record is rounded to the grid, which depends on the domain, epsilon and delta alone; the noise has P(Z = k)
    proportional to exp(-k^2 / (2 sigma^2)) with a whole sigma, at least that of the analytic Gaussian and at most one
    step more, and is drawn from random whole numbers without rounding. The curve is that of the discrete law.
    """

    name = "gaussian-secure"
    formula = r"g (\lfloor x / g \rceil + Z), P(Z = k) \propto e^{-k^2 / 2 \sigma^2}"
    label = "Gaussian, on a grid"
    family = "gaussian"
    source = "[canonne2020], Algorithm 3; [mironov2012]"

    def _prepare(self) -> None:
        super()._prepare()
        ratio = math.sqrt(self.size) / mu_of(self.epsilon, self.delta)  # of sigma and the range
        self._steps_of_range = min(SIGMA, max(LEAST_STEPS, math.floor(SIGMA / ratio)))
        self._sigma = max(LEAST_STEPS, math.ceil(self._steps_of_range * ratio))
        if self._sigma > MOST_SIGMA:
            raise InputError(
                f"epsilon of {self.name} is too small for a record of {self.size} elements: the noise may be at most "
                f"{MOST_SIGMA // LEAST_STEPS} times the range, epsilon {self.epsilon:g} needs {ratio:.3g} times"
            )

    @property
    def steps_of_range(self) -> int:
        return self._steps_of_range

    def _noise(self, count: int, rng: np.random.Generator) -> Integers:
        return discrete_gaussian(count, self._sigma, rng)

    def squared_error(self) -> float:
        return self.size * self.step**2 * (float(self._sigma) ** 2 + 0.25)

    def curve(self) -> PrivacyCurve:
        return DiscreteGaussianCurve(self._sigma, self._steps_of_range, self.size)

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        y, x, x_prime = (self._steps(self._flat(z)) for z in (y, x, x_prime))
        return ((x - x_prime) * (2.0 * y - (x + x_prime))).sum(dim=1) / (2.0 * float(self._sigma) ** 2)
