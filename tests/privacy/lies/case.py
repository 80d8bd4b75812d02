"""What a case of the suite is, and the noise that the cases share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from tensorldp.mechanisms import Box, Domain, Mechanism

BIT, TWO, FOUR, SIXTEEN, SIXTY_FOUR = (Box(-1.0, 1.0, (n,)) for n in (1, 2, 4, 16, 64))


@dataclass(frozen=True)
class Case:
    """A randomizer with its claim.

    Attributes:
        make: builds it anew, so that one that remembers starts afresh.
        domain: where records live.
        epsilon, delta: the claim; None for the curve that a mechanism declares.
        truth: what it really gives, in words.
        floating_point: whether the claim includes the floats.
    """

    name: str
    make: Callable[[], Callable[[Tensor, torch.Generator], Tensor] | Mechanism]
    domain: Domain
    epsilon: float | None = 1.0
    delta: float = 0.0
    truth: str = ""
    floating_point: bool = False


def laplace(x: Tensor, scale: float | Tensor, generator: torch.Generator) -> Tensor:
    """Laplace noise per element, shaped like x."""
    sign = 2.0 * torch.randint(0, 2, x.shape, generator=generator).to(x.dtype) - 1.0
    return torch.empty_like(x).exponential_(generator=generator) * sign * scale


def normal(x: Tensor, sigma: float, generator: torch.Generator) -> Tensor:
    """Gaussian noise per element, shaped like x."""
    return torch.randn(x.shape, generator=generator, dtype=x.dtype) * sigma


def uniform(x: Tensor, generator: torch.Generator) -> Tensor:
    """Uniform draws from [0, 1), shaped like x."""
    return torch.rand(x.shape, generator=generator, dtype=x.dtype)
