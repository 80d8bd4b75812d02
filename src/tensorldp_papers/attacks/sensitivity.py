"""The l1 sensitivity of a two-layer network's gradient, measured (dp-lecture, section 4.3)."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tensorldp_papers.attacks.two_layer import unit_records

SCALINGS = ("mean", "root", "sign")  # a_j = 1/m, +-1/sqrt(m), +-1


def output_weights(m: int, scaling: str, generator: torch.Generator) -> Tensor:
    """a_j = 1/m (`mean`, Eq. 4.7), +-1/sqrt(m) (`root`) or +-1 (`sign`), shape (m,) float64."""
    if scaling == "mean":
        return torch.full((m,), 1.0 / m, dtype=torch.float64)
    signs = 1.0 - 2.0 * torch.randint(0, 2, (m,), generator=generator).double()
    return signs / math.sqrt(m) if scaling == "root" else signs


def gradient_parts(w: Tensor, a: Tensor, x: Tensor, y: float) -> tuple[Tensor, Tensor]:
    """The gradient of (f(x) - y)^2 for a ReLU network: over a, (m,), and over W, (m, d).

    G(a_j) = 2 r s(w_j . x) and G(w_j) = 2 r a_j s'(w_j . x) x: Eq. 4.4 and 4.6 with the factor 2 of the squared loss.
    """
    z = w @ x
    r = a @ z.clamp_min(0) - y
    return 2 * r * z.clamp_min(0), 2 * r * torch.outer(a * (z > 0), x)


def measured_change(m: int, d: int, scaling: str, pairs: int, generator: torch.Generator) -> tuple[float, float]:
    """The largest l1 change of the gradient over random replacements of one record: of the a part and of the w part.

    A lower bound of the sensitivity; records have norm one and labels +1 or -1, and labels may change.
    """
    w = torch.randn(m, d, generator=generator, dtype=torch.float64)
    a = output_weights(m, scaling, generator)
    x, _ = unit_records(2 * pairs, d, generator)
    most_a = most_w = 0.0
    for left, right in zip(x[:pairs], x[pairs:], strict=True):
        first, second = gradient_parts(w, a, left, 1.0), gradient_parts(w, a, right, -1.0)
        most_a = max(most_a, float((first[0] - second[0]).abs().sum()))
        most_w = max(most_w, float((first[1] - second[1]).abs().sum()))
    return most_a, most_w
