"""Randomised response and LATENT's bits with coins of whole numbers, whose probabilities are exact ratios."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from tensorldp.errors import check_word
from tensorldp.mechanisms.exact_draws import odds_below
from tensorldp.mechanisms.latent import Latent
from tensorldp.mechanisms.randomized_response import KaryRandomizedResponse
from tensorldp.mechanisms.registry import register
from tensorldp.randomness import numpy_generator

BITS = 1 << 20  # coins that are tossed at once


@register
class KaryRandomizedResponseSecure(KaryRandomizedResponse):
    """k-RR with one random whole number below a + (k - 1) b per element: below a the element is kept.

    a / b is a ratio of whole numbers just below e^epsilon, and its log is the guarantee per element. On two values it
    is randomised response.
    """

    name = "k-rr-secure"
    formula = r"x_i \text{ with probability } a / (a + (k - 1) b), a / b \le e^\varepsilon, \text{ else another value}"
    source = "[kairouz2016], with odds of whole numbers"
    leaves_input = True

    def _prepare(self) -> None:
        super()._prepare()
        self._keeping, self._moving = odds_below(self.epsilon, self.values - 1)

    @property
    def loss(self) -> float:
        return math.log1p((self._keeping - self._moving) / self._moving)

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        total = self._keeping + (self.values - 1) * self._moving
        drawn = numpy_generator(generator).integers(0, total, size=x.numel())
        steps = np.where(drawn < self._keeping, 0, 1 + (drawn - self._keeping) // self._moving)
        return self._moved(x, torch.from_numpy(steps).view(x.shape).to(x.device))


@register
class LatentSecure(Latent):
    """LATENT in reading A with a random whole number below a + b per bit: below b the bit is flipped.

    a / b is a ratio of whole numbers just below e^(epsilon / (r l)).
    """

    name = "latent-secure"
    formula = r"\text{each of } r l \text{ bits true with probability } a / (a + b), a / b \le e^{\varepsilon/(rl)}"
    source = "LATENT, Eq. 4 to 6, with odds of whole numbers"

    def _prepare(self) -> None:
        super()._prepare()
        check_word(f"reading of {self.name}", self.reading, "A")
        self._keeping, self._flipping = odds_below(self.epsilon / (self.size * self.bits), 1)

    @property
    def bit_epsilon(self) -> float:
        return math.log1p((self._keeping - self._flipping) / self._flipping)

    def _mask(self, count: int, generator: torch.Generator) -> Tensor:
        rng, total = numpy_generator(generator), self._keeping + self._flipping
        out = np.empty(count, dtype=np.uint8)
        for start in range(0, count, BITS // 8):
            rows = min(BITS // 8, count - start)
            flipped = rng.integers(0, total, size=(rows, 8)) < self._flipping
            out[start : start + rows] = np.packbits(flipped, axis=1)[:, 0]
        return torch.from_numpy(out)
