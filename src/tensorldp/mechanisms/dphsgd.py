"""DPHSGD [tan2025], reconstructed: the clipping threshold follows a diagonal curvature estimate."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.gaussian import mu_of
from tensorldp.domain import FARTHEST, NARROWEST, Ball, Box, Domain
from tensorldp.errors import MOST_USES, InputError, check_real, check_whole, check_word
from tensorldp.mechanisms.additive_noise import GAUSSIAN, LAPLACE, AdditiveNoise
from tensorldp.mechanisms.registry import register


@register
class Dphsgd(AdditiveNoise):
    """Clip to `threshold` times the domain about its centre, then add noise in proportion to the threshold.

    Laplace: b = C Delta I T / epsilon with Delta the width (TLDP, Table 5, where T = 1). Gaussian: sqrt(T) times the
    analytic sigma for the l2 diameter of the shrunken ball. So epsilon and delta are those of T uses together. A
    threshold above 1 clips nothing and only adds noise.

    Args:
        threshold: C_t / C_0 in [1e-30, 1e30].
        noise: "laplace" (TLDP's release of parameters; a ball is taken as its box) or "gaussian" (a box is taken as
            its ball).
        steps: T.
    """

    name = "dphsgd"
    formula = r"\mathrm{clip}_C(x) + \mathrm{Lap}(C \Delta I T / \varepsilon)^I"
    acts_on = "vector"
    epsilon_unit = "run"
    unit = "step"
    source = "[tan2025], from TLDP's description and Table 5"
    status = "reconstructed"
    leaves_input = True

    threshold: float = 1.0
    noise: Literal["laplace", "gaussian"] = "laplace"
    steps: int = 1

    def _prepare(self) -> None:
        super()._prepare()
        check_word("noise of dphsgd", self.noise, "laplace", "gaussian")
        self.threshold = check_real("threshold of dphsgd", self.threshold, low=NARROWEST, high=FARTHEST)
        self.additive = self.threshold >= 1.0
        self.steps = check_whole("steps of dphsgd", self.steps, low=1, high=MOST_USES)
        self.law = LAPLACE if self.noise == "laplace" else GAUSSIAN
        self.domain = self.domain.as_box() if self.noise == "laplace" else self.domain.as_ball()
        try:
            _ = self.clipped_domain
        except InputError as error:
            raise InputError(
                f"threshold of dphsgd, {self.threshold:g}, leaves nothing of {self.given_domain}: {error}"
            ) from None

    @property
    def clipped_domain(self) -> Domain:
        """What a record is clipped to: the domain, shrunk about its centre by a threshold below 1."""
        factor, domain = min(self.threshold, 1.0), self.domain
        if isinstance(domain, Ball):
            return Ball(factor * domain.radius, domain.shape, centre=domain.centre)
        half = factor * domain.width / 2
        return Box(domain.centre - half, domain.centre + half, domain.shape)

    @property
    def scale(self) -> float:
        """The Laplace b, or the Gaussian sigma, per element."""
        if isinstance(self.domain, Ball):
            reach = 2.0 * self.domain.radius * self.threshold
            return reach * math.sqrt(self.steps) / mu_of(self.epsilon, self.delta)
        return self.threshold * self.domain.width * self.size * self.steps / self.epsilon

    def _clipped(self, x: Tensor) -> Tensor:
        return self.clipped_domain.project(x) if self.threshold < 1.0 else x

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        return super()._randomize(self._clipped(x), generator)

    def squared_error(self) -> float:
        domain = self.domain
        lost = max(0.0, 1.0 - self.threshold)
        if isinstance(domain, Ball):
            return super().squared_error() + (lost * domain.radius) ** 2
        return self.size * (self.law.variance(self.scale) + (lost * domain.width / 2) ** 2)

    def curve(self) -> PrivacyCurve:
        return self.law.curve(self.clipped_domain, self.scale)

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        domain = self.domain
        half = domain.radius / math.sqrt(self.size) if isinstance(domain, Ball) else domain.width / 2
        return domain.constant(domain.centre - half), domain.constant(domain.centre + half)

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        batch = (-1, *self.shape)
        return super().log_likelihood_ratio(y, *(self._clipped(z.double().reshape(batch)) for z in (x, x_prime)))
