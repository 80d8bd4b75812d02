"""I.i.d. Gaussian noise on every element, with the scale of each source, in floats and on a grid."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, Literal

import numpy as np
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.discrete import DiscreteGaussianCurve
from tensorldp.curves.gaussian import mu_of
from tensorldp.domain import Box
from tensorldp.errors import InputError, check_word
from tensorldp.mechanisms.additive_noise import GAUSSIAN, AdditiveNoise, StatedRange
from tensorldp.mechanisms.exact_draws import STEPS, Integers, OnGrid, discrete_gaussian
from tensorldp.mechanisms.registry import register
from tensorldp.mechanisms.tvg_budget import Schedule, moments_sigma


class _IsotropicGaussian(AdditiveNoise):
    """N(0, sigma^2) per element; a subclass says by `scale` how sigma follows from epsilon."""

    law = GAUSSIAN
    leaves_input = True

    @property
    def sigma(self) -> float:
        """The standard deviation per element, in the unit of the data."""
        return self.scale

    @property
    def sensitivity(self) -> float:
        """The l2 diameter of the domain, ||x - x'||_F at most."""
        return self.domain.diameter


@register
class Gaussian(_IsotropicGaussian, StatedRange):
    """TLDP's Gaussian baseline, which the paper calls epsilon-LDP; it is Gaussian-DP and never pure.

    Args:
        form: "theorem2" has sigma^2 = I Delta^2 / (2 epsilon) (Theorem 2(2), Eq. 7); "table5" has
            sigma = I Delta / (2 epsilon), which is what the paper's Table 5 assumes.
        delta_range: Delta, the range that the formula uses; default high - low.
    """

    name = "gaussian"
    formula = r"x + \mathcal{N}(0, I \Delta^2 / (2 \varepsilon))^I"
    source = "TLDP, Theorem 2(2), Eq. 7, and Table 5"
    status = "as printed"
    note = "the source claims pure epsilon-LDP; Gaussian noise has no finite pure epsilon"

    form: Literal["theorem2", "table5"] = "theorem2"

    def _prepare(self) -> None:
        super()._prepare()
        check_word("form of gaussian", self.form, "theorem2", "table5")

    @property
    def scale(self) -> float:
        if self.form == "theorem2":
            return self.range * math.sqrt(self.size / (2.0 * self.epsilon))
        return self.size * self.range / (2.0 * self.epsilon)

    @classmethod
    def step_sigma(cls, run: Schedule, domain: Box, **options: Any) -> float:
        """TVG's i.i.d. Gaussian by the moments accountant, 2 q s2 sqrt(T ln(1/delta)) / epsilon."""
        return moments_sigma(run.epsilon, run.delta, rate=run.rate, steps=run.steps, clip=domain.diameter)


@register
class GaussianClassical(_IsotropicGaussian):
    """sigma = s2 sqrt(2 ln(1.25/delta)) / epsilon, proved for epsilon < 1; at delta 1e-5 too small from 8.42 on."""

    name = "gaussian-classical"
    formula = r"x + \mathcal{N}(0, 2 s_2^2 \ln(1.25/\delta) / \varepsilon^2)^I"
    source = "[dwork2014], Theorem A.1; TVG, section VIII.C"

    @property
    def scale(self) -> float:
        return self.sensitivity * math.sqrt(2.0 * math.log(1.25 / self.delta)) / self.epsilon


@register
class GaussianAnalytic(_IsotropicGaussian):
    """The least sigma that is exactly (epsilon, delta)-DP for the whole record [balle2018]."""

    name = "gaussian-analytic"
    formula = r"x + \mathcal{N}(0, s_2^2 / \mu^2)^I, \mu \text{ the largest with } \delta_\mu(\varepsilon) \le \delta"
    source = "[balle2018], Algorithm 1"

    @cached_property
    def scale(self) -> float:  # found by a search, so kept
        return self.sensitivity / mu_of(self.epsilon, self.delta)


@register
class GaussianPerElement(_IsotropicGaussian):
    """TVG's handicapped baseline: the classical formula per element at (epsilon/I, delta/I), range as sensitivity."""

    name = "gaussian-per-element"
    formula = r"x + \mathcal{N}(0, 2 R^2 I^2 \ln(1.25 I / \delta) / \varepsilon^2)^I"
    domain_kind = "box"
    source = "TVG, section VIII.C; basic composition over elements"
    status = "as printed"

    @property
    def scale(self) -> float:
        budget = self.epsilon / self.size
        return self.box.width * math.sqrt(2.0 * math.log(1.25 * self.size / self.delta)) / budget


SIGMA = 1 << 20  # steps that the standard deviation has, where the grid may be that fine
MOST_SIGMA = 1 << 25  # that 64-bit integers hold


@register
class GaussianSecure(OnGrid):
    """Discrete Gaussian noise in whole steps of a grid: (epsilon, delta)-DP for the whole record, floats included.

    A record is rounded to the grid, which depends only on the domain, epsilon and delta; the noise has P(Z = k)
    proportional to exp(-k^2 / (2 sigma^2)) with a whole sigma: that of the analytic Gaussian, rounded up, and at
    least 1024. It is drawn from random whole numbers without rounding. The curve is that of the discrete law.
    """

    name = "gaussian-secure"
    formula = r"g (\lfloor x / g \rceil + Z), P(Z = k) \propto e^{-k^2 / 2 \sigma^2}"
    source = "[canonne2020], Algorithm 3; [mironov2012]"

    def _prepare(self) -> None:
        super()._prepare()
        ratio = math.sqrt(self.size) / mu_of(self.epsilon, self.delta)  # of sigma and the range
        self.steps_of_range = min(SIGMA, max(STEPS, math.floor(SIGMA / ratio)))
        self._sigma = max(STEPS, math.ceil(self.steps_of_range * ratio))
        if self._sigma > MOST_SIGMA:
            raise InputError(
                f"epsilon of {self.name} is too small for a record of {self.size} elements: the noise may be at most "
                f"{MOST_SIGMA // STEPS} times the range, epsilon {self.epsilon:g} needs {ratio:.3g} times"
            )

    def _noise(self, count: int, rng: np.random.Generator) -> Integers:
        return discrete_gaussian(count, self._sigma, rng)

    def squared_error(self) -> float:
        return self.size * self.step**2 * (float(self._sigma) ** 2 + 0.25)

    def curve(self) -> PrivacyCurve:
        return DiscreteGaussianCurve(self._sigma, self.steps_of_range, self.size)

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        y, x, x_prime = (self._steps(self._flat(z)) for z in (y, x, x_prime))
        return ((x - x_prime) * (2.0 * y - (x + x_prime))).sum(dim=1) / (2.0 * float(self._sigma) ** 2)
