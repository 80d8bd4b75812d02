"""Optimized [xiang2019]: Gaussian noise on one clipped gradient, least in a weighted sense."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tensorldp.domain import Ball, Box
from tensorldp.errors import MOST_USES, InputError, check_positive, check_whole
from tensorldp.mechanisms.directional import DirectionalGaussian, ModeFactor, numbers
from tensorldp.mechanisms.registry import register
from tensorldp.mechanisms.tvg_budget import Schedule, sampled_budget, step_budget

WEIGHT_FLOOR = 1e-12  # of the largest weight: an element without weight gets at most 10^4 times the noise


def loss_budget(epsilon: float, delta: float, steps: int = 1) -> float:
    """Computes y*, the most that sum_i Delta_i^2 / sigma_i^2 may be in each of `steps` compositions.

    y* = 2 (sqrt(epsilon + ln(1/delta)) - sqrt(ln(1/delta)))^2 / T in a form without cancellation; y*/2 is the zCDP
    rho of a step [bun2016].
    """
    tail = math.log(1.0 / delta)
    return 2.0 * (epsilon / (math.sqrt(epsilon + tail) + math.sqrt(tail))) ** 2 / steps


def epsilon_at_mu(mu: float, delta: float) -> float:
    """Computes the nominal epsilon at which one use is the Gaussian mechanism of mu: the inverse of mu = sqrt(y*)."""
    tail = math.log(1.0 / delta)
    return float((mu / 2.0**0.5 + tail**0.5) ** 2 - tail)


def box_sigma(weights: Tensor, reach: float, budget: float) -> Tensor:
    """Computes sigma with the least sum_i w_i sigma_i and sum_i C^2 / sigma_i^2 = y, where |Delta_i| <= C = `reach`.

    sigma_i = sqrt(S/y) (C^2 / w_i)^(1/3), S = sum_i (C w_i)^(2/3): sound, since the worst difference is used.
    """
    w = weights.abs()
    w = w.clamp_min(WEIGHT_FLOOR * float(w.max()))
    return ((reach * w) ** (2 / 3)).sum().div(budget).sqrt() * (reach**2 / w) ** (1 / 3)


@register
class Optimized(DirectionalGaussian):
    """N(0, sigma^2) with sigma = a / sqrt(y*), a the l2 diameter of the clipped gradients; isotropic by default.

    epsilon and delta are those of `steps` uses together; `guarantee` is that of one step, which a Gaussian curve
    composes exactly.

    Args:
        steps: T, how many uses share epsilon and delta.
        weights: non-negative, one per element, on a box only: how much each element's noise matters
            (minimises sum_i w_i sigma_i). Must be public or already noised.
    """

    name = "optimized"
    formula = (
        r"x + \mathcal{N}(0, s_2^2 / y)^I, y = 2 (\sqrt{\varepsilon + \ln(1/\delta)} - "
        r"\sqrt{\ln(1/\delta)})^2 / T"
    )
    epsilon_unit = "run"
    unit = "step"
    source = "[xiang2019]; the solution as in the TVG authors' code"
    status = "as printed"

    steps: int = 1
    weights: Tensor | Sequence[float] | None = None

    def _prepare(self) -> None:
        super()._prepare()
        self.steps = check_whole("steps of optimized", self.steps, low=1, high=MOST_USES)
        self.budget = loss_budget(self.epsilon, self.delta, self.steps)
        if self.weights is None:
            sigma = torch.tensor([self.domain.diameter / math.sqrt(self.budget)], dtype=torch.float64)
        else:
            if isinstance(self.domain, Ball):
                raise InputError("weights of optimized need a Box: over an l2 ball the best noise is isotropic")
            sigma = box_sigma(self._weights(self.weights), check_positive("width", self.domain.width), self.budget)
        self.factors = (ModeFactor(sigma),)

    @classmethod
    def step_sigma(cls, run: Schedule, domain: Box, **options: Any) -> float | None:
        """Computes sigma at (epsilon / q, delta / q) for all T steps: the mechanism composes over them by itself."""
        epsilon, delta = step_budget(cls.name, run, sampled_budget)
        return cls(epsilon=epsilon, delta=delta, domain=domain, steps=run.steps, **options).isotropic_sigma

    def _weights(self, weights: object) -> Tensor:
        w = numbers(weights, "weights of optimized must be numbers").reshape(-1)
        if w.numel() != self.size or not bool((w >= 0).all() and torch.isfinite(w).all() and (w > 0).any()):
            raise InputError(
                f"weights of optimized must be {self.size} finite non-negative numbers, not all zero, "
                f"got {w.numel()} values"
            )
        return w
