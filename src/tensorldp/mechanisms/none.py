"""The reference without noise."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from tensorldp.curves.base import NoPrivacyCurve, PrivacyCurve
from tensorldp.domain import Box
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.registry import register
from tensorldp.mechanisms.tvg_budget import Schedule


@register
class Identity(Mechanism):
    """The record itself, unperturbed: the non-private reference."""

    name = "none"
    formula = r"x"
    source = "-"
    acts_on = "element"
    private = False
    additive = True
    block_bytes = None
    leaves_input = True

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        return x.clone()

    def squared_error(self) -> float:
        return 0.0

    def curve(self) -> PrivacyCurve:
        return NoPrivacyCurve()

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        return self.box.farthest()

    @classmethod
    def step_sigma(cls, run: Schedule, domain: Box, **options: Any) -> float:
        return 0.0

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        same = (self._flat(y) == self._flat(x)).all(dim=1)
        same_prime = (self._flat(y) == self._flat(x_prime)).all(dim=1)
        infinity = torch.full(same.shape, math.inf, dtype=torch.float64)
        return torch.where(
            same & ~same_prime, infinity, torch.where(same_prime & ~same, -infinity, torch.zeros_like(infinity))
        )
