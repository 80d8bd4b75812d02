"""Draws of coins and of noise on whole numbers whose probabilities are exact: no float is formed on the way.

[canonne2020], Algorithms 1 to 3.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tensorldp.mechanisms.base import ActsOn, Mechanism
from tensorldp.randomness import numpy_generator

Integers = npt.NDArray[np.int64]
MOST = 1 << 61  # of a sum of weights
STEPS = 1024  # of a grid over the range of an element, at least


def bernoulli_exp(numerator: Integers, denominator: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Coins that are True with probability exp(-numerator / denominator), exactly, for ratios in [0, 1].

    Forsyth and von Neumann's series (Algorithm 1): only whole numbers are drawn and compared.
    """
    count = np.ones(numerator.size, dtype=np.int64)
    active = np.arange(numerator.size)
    for k in range(1, 1024):
        going = rng.integers(0, denominator * k, size=active.size) < numerator[active]
        active = active[going]
        count[active] += 1
        if active.size == 0:
            break
    return np.asarray(count % 2 == 1)


def bernoulli_exp_any(numerator: Integers, denominator: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """As `bernoulli_exp` for ratios of at least 0, however large: a coin of exp(-1) for each whole unit."""
    units, rest = np.divmod(numerator, denominator)
    out = bernoulli_exp(rest, denominator, rng)
    active = np.flatnonzero(out & (units > 0))
    turn = 0
    while active.size:
        going = bernoulli_exp(np.ones(active.size, dtype=np.int64), 1, rng)
        out[active[~going]] = False
        turn += 1
        active = active[going]
        active = active[units[active] > turn]
    return out


def discrete_laplace(size: int, scale: int, unit: int, rng: np.random.Generator) -> Integers:
    """Whole numbers with P(Z = k) proportional to exp(-|k| unit / scale), exactly (Algorithm 2)."""
    out = np.empty(size, dtype=np.int64)
    missing = np.arange(size)
    while missing.size:
        low = rng.integers(0, scale, size=missing.size)
        kept = bernoulli_exp(low, scale, rng)
        places, low = missing[kept], low[kept]
        turns = np.zeros(low.size, dtype=np.int64)
        active = np.arange(low.size)
        while active.size:
            active = active[bernoulli_exp(np.ones(active.size, dtype=np.int64), 1, rng)]
            turns[active] += 1
        value = (low + scale * turns) // unit
        negative = rng.integers(0, 2, size=value.size) == 1
        valid = ~(negative & (value == 0))  # zero has one sign
        out[places[valid]] = np.where(negative, -value, value)[valid]
        missing = np.setdiff1d(missing, places[valid], assume_unique=True)
    return out


def discrete_gaussian(size: int, sigma: int, rng: np.random.Generator) -> Integers:
    """Whole numbers with P(Z = k) proportional to exp(-k^2 / (2 sigma^2)), exactly (Algorithm 3 with t = sigma).

    Args:
        size: how many.
        sigma: a whole number from 1 to 2^25, so that 64-bit integers do not overflow.
        rng: the source of all randomness.
    """
    out = np.empty(size, dtype=np.int64)
    missing = np.arange(size)
    while missing.size:
        drawn = discrete_laplace(missing.size, sigma, 1, rng)
        kept = bernoulli_exp_any((np.abs(drawn) - sigma) ** 2, 2 * sigma**2, rng)
        out[missing[kept]] = drawn[kept]
        missing = missing[~kept]
    return out


def odds_below(epsilon: float, others: int) -> tuple[int, int]:
    """Whole weights (a, b) with a / b just below e^epsilon and a + others b below 2^61, for a coin without rounding.

    a / b falls short of e^epsilon by a share of at most 1 / a + 2^-49; e^epsilon above 2^60 is cut there.
    """
    room = MOST // 2
    for shift in range(40, -1, -1):
        unit = 1 << shift
        if (others + 1) * unit <= room and epsilon + shift * math.log(2.0) <= math.log(room):
            return max(unit, math.floor(math.exp(epsilon) * unit * (1.0 - 2.0**-49))), unit
    return room, 1


class OnGrid(Mechanism):
    """g (round(x / g) + Z) with whole Z, drawn exactly: a release is a function only of whole numbers.

    A subclass states how Z is drawn. The record has no part in the grid.
    """

    acts_on: ClassVar[ActsOn] = "element"
    on_grid = True
    domain_kind = "box"
    leaves_input = True

    steps_of_range = STEPS  # from the low end of the domain to the high one; an instance may have more

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
