"""LDP-Slicing: a coin for each bit of each pixel, with the budget of a pixel shared out over its bits."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import torch

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.discrete import DiscreteCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms import Mechanism, register

TO_YCBCR = ((0.299, 0.587, 0.114), (-0.168736, -0.331264, 0.5), (0.5, -0.418688, -0.081312))
TO_RGB, OFFSET = ((1.0, 0.0, 1.402), (1.0, -0.344136, -0.714136), (1.0, 1.772, 0.0)), (0.0, 127.5, 127.5)
# pixels all of whose bits differ; where blocks are obfuscated, the first of a block, the others being 100
GREYS = {"none": [[0], [255]], "ll": [[102], [98]]}
FARTHEST = {1: GREYS, 3: {"none": [[127, 127, 127], [130, 128, 130]], "ll": [[104, 100, 105], [96, 100, 95]]}}


@register
class LdpSlicing(Mechanism):
    """Each bit b of a pixel is kept with probability e^eps_b / (e^eps_b + 1), where all eps_b sum to epsilon.

    Before anything else the domain is mapped to [0, 255] and rounded down to whole numbers. So the guarantee holds for
    every record of the box. With `channels=3` a record (height, width x 3), as studies have it, is a colour image: a
    pixel is three neighbours of a row, of which the 24 bits of Y, Cb and Cr are released. Otherwise an element is one.

    The nominal epsilon covers one pixel. The curve is that of a whole record, whose pixels may all differ.
    With `obfuscation="ll"` each 2 x 2 block first has its mean, Haar's low band, replaced by mid-grey. The curve stays
    what it was. But one pixel of the image now changes four pixels of what the coins see, and all of their bits can
    differ: one pixel of the image has 4 epsilon, one pixel of the obfuscated image has epsilon.

    Args:
        allocation: "optimised" minimises the sum of W_b / eps_b with W_b = w_c 2^b, w_c being 4 for Y and 1 for Cb and
            Cr; "uniform" gives each bit the same.
        obfuscation: "ll" or "none".
        channels: 1 or 3.
    """

    name, label, domain_kind = "ldp-slicing", "LDP-Slicing", "box"
    epsilon_unit, acts_on, on_grid = "element", "tensor", True
    formula = r"\text{bit } b \text{ kept with probability } e^{\varepsilon_b} / (e^{\varepsilon_b} + 1)"
    source, status = "LDP-Slicing, arXiv 2603.03711", "as printed"
    note = "the nominal epsilon is per pixel, not per record"

    allocation: Literal["optimised", "uniform"] = "optimised"
    obfuscation: Literal["none", "ll"] = "none"
    channels: int = 1

    def _prepare(self) -> None:
        if self.allocation not in ("optimised", "uniform") or self.obfuscation not in FARTHEST.get(self.channels, {}):
            raise InputError("ldp-slicing is optimised or uniform, its obfuscation none or ll, its channels 1 or 3")
        sides, part = (*self.shape[:-1], self.shape[-1] / self.channels), 2 if self.obfuscation == "ll" else 1
        if len(sides) < part or any(side % part for side in sides[-2:]):
            raise InputError(f"ldp-slicing needs whole pixels, and to obfuscate even sides, got {self.shape}")
        self.low, self.step = self.box.low, self.box.width / 255
        self.weights = np.outer([4.0, 1.0, 1.0][: self.channels], 2.0 ** np.arange(8))  # channels x bits, lowest first
        share = np.sqrt(self.weights) if self.allocation == "optimised" else np.ones_like(self.weights)
        self.budgets = self.epsilon * share / share.sum()

    def levels(self, x: torch.Tensor) -> torch.Tensor:
        """The whole numbers whose bits are tossed; deterministic. The least part lets floats of k / 255 be k."""
        v: torch.Tensor = ((x.double() - self.low) / self.step).unflatten(-1, (-1, self.channels))
        if self.channels == 3:
            v = v @ torch.tensor(TO_YCBCR).to(v).T + torch.tensor(OFFSET).to(v)
        if self.obfuscation == "ll":
            blocks = v.unflatten(-2, (-1, 2)).unflatten(-4, (-1, 2))
            v = (blocks - blocks.mean((-4, -2), keepdim=True)).flatten(-3, -2).flatten(-4, -3) + 128
        return (v + 1e-3).floor().clamp(0, 255).long()

    def _randomize(self, x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        level = self.levels(x)
        for bit, flips in enumerate(1 / (1 + np.exp(self.budgets.T))):
            coin = torch.rand(level.shape, generator=generator, dtype=torch.float64, device=generator.device)
            level ^= (coin < torch.from_numpy(flips).to(coin)).to(level) << bit
        v = level.double()
        if self.channels == 3:
            v = ((v - torch.tensor(OFFSET).to(v)) @ torch.tensor(TO_RGB).to(v).T).clamp(0, 255)
        return (self.low + v * self.step).flatten(-2).to(x.dtype)

    def squared_error(self) -> float | None:
        """Of the darkest record; None with colours, whose release is clamped, and with obfuscation."""
        if self.channels == 3 or self.obfuscation == "ll":
            return None
        flip, unit = 1 / (1 + np.exp(self.budgets[0])), 2.0 ** np.arange(8) * self.step
        return float(self.size * ((unit**2 * flip * (1 - flip)).sum() + (unit * flip).sum() ** 2))

    def curve(self) -> PrivacyCurve:
        """The law of the loss of a pixel all of whose bits differ, once for each pixel."""
        loss, mass = np.zeros(1), np.zeros(1)
        for budget in self.budgets.ravel():
            keep, sums = -math.log1p(math.exp(-budget)), np.concatenate([loss + budget, loss - budget])
            _, first, same = np.unique(np.round(sums / self.epsilon, 12), return_index=True, return_inverse=True)
            loss, logs = sums[first], np.concatenate([mass + keep, mass + keep - budget])
            mass = np.full(len(first), -np.inf)
            np.logaddexp.at(mass, same, logs)
        return DiscreteCurve(tuple(mass), tuple(mass - loss), self.size // self.channels, True, tuple(loss))

    def worst_pair(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Two records all of whose bits differ; with obfuscation, by one pixel of each block."""
        first, second = torch.full((2, *self.shape), 100.0).double().unflatten(-1, (-1, self.channels))
        for record, pixel in zip((first, second), FARTHEST[self.channels][self.obfuscation], strict=True):
            (record[..., ::2, ::2, :] if self.obfuscation == "ll" else record)[:] = torch.tensor(pixel)
        return self.low + self.step * first.flatten(-2), self.low + self.step * second.flatten(-2)

    def log_likelihood_ratio(self, y: torch.Tensor, x: torch.Tensor, x_prime: torch.Tensor) -> torch.Tensor:
        if self.channels == 3:
            return super().log_likelihood_ratio(y, x, x_prime)
        seen = ((y.double() - self.low) / self.step).round().long().unsqueeze(-1)
        ratio = torch.zeros(len(y), dtype=torch.float64)
        for sign, record in ((-1, x), (1, x_prime)):
            bits = ((seen ^ self.levels(record)).unsqueeze(-1) >> torch.arange(8)) & 1
            ratio += sign * (bits * torch.from_numpy(self.budgets[0])).reshape(len(y), -1).sum(dim=1)
        return ratio
