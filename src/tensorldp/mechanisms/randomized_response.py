"""Randomised response on whole numbers, element by element."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.discrete import DiscreteCurve
from tensorldp.domain import Box
from tensorldp.errors import InputError, check_real
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.registry import register
from tensorldp.randomness import numpy_generator, sparse_positions, uniform

LAST_WHOLE = 2.0**53  # up to which float64 has every whole number
RARE = 1e-9  # of the chance to keep an element: below, its complement has too few digits of it for one coin


def alphabet_size(name: str, box: Box) -> int:
    """Computes k, the number of whole numbers from box.low to box.high."""
    if max(abs(box.low), abs(box.high)) > LAST_WHOLE:
        raise InputError(f"{name} needs a domain between -2^53 and 2^53, got {box.low:g} to {box.high:g}")
    if box.low != round(box.low) or box.high != round(box.high):
        raise InputError(f"{name} needs a domain with whole numbers as its ends, got {box.low:g} and {box.high:g}")
    return round(box.high - box.low) + 1


@register
class KaryRandomizedResponse(Mechanism):
    """Each element is kept with probability e^epsilon / (e^epsilon + k - 1), else any other of the k values.

    The nominal epsilon is per element; a record of I elements has exactly I epsilon.
    """

    name = "k-rr"
    formula = r"x_i \text{ with probability } e^\varepsilon / (e^\varepsilon + k - 1), \text{ else another value}"
    epsilon_unit = "element"
    acts_on = "element"
    on_grid = True
    block_bytes = 4 << 20
    domain_kind = "box"
    integer = True
    source = "[kairouz2016]"
    note = "the nominal epsilon is per element, not per record"
    leaves_input = True

    def _prepare(self) -> None:
        super()._prepare()
        self.values = alphabet_size(self.name, self.box)

    @property
    def loss(self) -> float:
        """Returns log(p / q), the loss of one element: epsilon."""
        return self.epsilon

    @property
    def log_other(self) -> float:
        """Returns log q, q = 1 / (e^epsilon + k - 1): the probability of one given other value."""
        return -float(np.logaddexp(self.loss, math.log(self.values - 1)))

    @property
    def keep(self) -> float:
        """Returns p = e^epsilon / (e^epsilon + k - 1)."""
        return math.exp(self.loss + self.log_other)

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        change = (self.values - 1) * math.exp(self.log_other)
        if change > 0.05:
            step = self._steps(x.numel(), generator).view(x.shape).to(x.device)
            if self.keep < RARE:
                step.view(-1)[torch.from_numpy(sparse_positions(x.numel(), self.keep, generator)).to(x.device)] = 0
            else:
                step.mul_(uniform(tuple(x.shape), generator) < change)
            return self._moved(x, step)
        out = x.clone(memory_format=torch.contiguous_format)
        hits = sparse_positions(x.numel(), change, generator)
        positions = torch.from_numpy(hits).to(x.device)
        out.view(-1)[positions] = self._moved(out.view(-1)[positions], self._steps(hits.size, generator).to(x.device))
        return out

    def _moved(self, x: Tensor, steps: Tensor) -> Tensor:
        """Moves x so many int64 steps around the alphabet; in integers, as a sum may be three times 2^53."""
        steps.add_(x.long())
        return steps.sub_(self.values * (steps > int(self.box.high))).to(x.dtype)

    def _steps(self, count: int, generator: torch.Generator) -> Tensor:
        """Draws how far around the alphabet each of `count` elements moves: 1 .. k - 1."""
        if self.values == 2:
            return torch.ones(count, dtype=torch.int64)
        return torch.from_numpy(numpy_generator(generator).integers(1, self.values, size=count))

    def squared_error(self) -> float:
        k = self.values
        return self.size * math.exp(self.log_other) * (k - 1) * k * (2 * k - 1) / 6

    def curve(self) -> PrivacyCurve:
        return self.curve_at(self.size)

    @property
    def metric(self) -> str:
        return "hamming"

    def curve_at(self, distance: float) -> PrivacyCurve:
        count = int(check_real("distance of two records", distance, low=1.0, high=self.size))  # elements that differ
        keep, other = self.loss + self.log_other, self.log_other
        if self.values == 2:
            return DiscreteCurve.mirrored((keep, other), self.loss, count)
        return DiscreteCurve.mirrored((keep, math.log(self.values - 2) + other, other), self.loss, count)

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        y, x, x_prime = self._flat(y), self._flat(x), self._flat(x_prime)
        return self.loss * ((y == x).double() - (y == x_prime).double()).sum(dim=1)


@register
class RandomizedResponse(KaryRandomizedResponse):
    """Warner's coin per element on two neighbouring whole numbers, such as 0 and 1.

    Keep with probability e^epsilon / (1 + e^epsilon); the nominal epsilon is per element.
    """

    name = "randomized-response"
    formula = r"x_i \text{ with probability } e^\varepsilon / (e^\varepsilon + 1), \text{ else the other value}"
    source = "[warner1965]; LATENT, section 2.3"

    def _prepare(self) -> None:
        super()._prepare()
        if self.values != 2:
            raise InputError(
                "randomized-response needs a domain of two neighbouring whole numbers such as 0 and 1, "
                f"got {self.box.low:g} to {self.box.high:g}; k-rr takes more"
            )
