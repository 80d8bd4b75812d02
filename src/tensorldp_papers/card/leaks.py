"""What leaks: how many of a hundred digits are named from their releases, beside Laplace's at the label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from tensorldp.mechanisms import Box, Mechanism
from tensorldp.randomness import generator
from tensorldp_papers.attacks.likelihood import identify

VICTIMS = 100  # digits, so that guessing names one of them
DIGITS = Box(0, 16, (8, 8))


@dataclass(frozen=True)
class Leak:
    """What releases of `VICTIMS` digits give away.

    Attributes:
        name: of the mechanism.
        named: the share of digits that the most likely record names; by guessing 1 / VICTIMS.
        originals, released: the first few, (images, 8, 8).
    """

    name: str
    named: float
    originals: Tensor
    released: Tensor


def leak(build: Callable[[Box], Mechanism]) -> Leak:
    """Computes the share of scikit-learn's digits that are named among `VICTIMS` of them by their releases.

    Raises:
        InputError: if the mechanism cannot be made on 8 x 8 pixels.
    """
    from sklearn.datasets import load_digits

    mechanism = build(DIGITS)
    records = torch.from_numpy(load_digits().images[:VICTIMS]).double()
    released = mechanism.privatize(records, generator("card", "leaks"))
    found = identify(mechanism, released, records)
    named = float((found == torch.arange(VICTIMS)).double().mean())
    return Leak(mechanism.name, named, records[:6], released.double()[:6])
