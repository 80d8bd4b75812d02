"""Mechanisms that add noise of whole steps to records rounded to a grid: what follows from the grid alone."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.exact_draws import Integers
from tensorldp.mechanisms.traits import ActsOn
from tensorldp.randomness import numpy_generator


class OnGrid(Mechanism):
    """g (round(x / g) + Z) with whole Z, drawn exactly: a release is a function of whole numbers alone.

    A subclass states how many steps the range has and how Z is drawn. The grid has no part in the record.
    """

    acts_on: ClassVar[ActsOn] = "element"
    on_grid = True
    domain_kind = "box"

    @property
    @abstractmethod
    def steps_of_range(self) -> int:
        """Steps of the grid from the low end of the domain to the high one."""

    @abstractmethod
    def _noise(self, count: int, rng: np.random.Generator) -> Integers:
        """`count` independent draws of Z."""

    @property
    def step(self) -> float:
        """g, the distance of two released values."""
        return self.box.width / self.steps_of_range

    def _steps(self, x: Tensor) -> Tensor:
        return ((x.double() - self.box.low) / self.step).round()

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        noise = torch.from_numpy(self._noise(x.numel(), numpy_generator(generator)))
        steps = self._steps(x).clamp_(0, self.steps_of_range) + noise.view(x.shape).to(x.device)
        return (self.box.low + steps * self.step).to(x.dtype)

    def worst_input(self) -> Tensor:
        return self.box.constant(self.box.low + self.step / 2.0)  # rounding moves it most

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        return self.box.constant(self.box.low), self.box.constant(self.box.high)
