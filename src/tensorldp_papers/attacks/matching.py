"""Matching of reconstructions to records when their order is unknown."""

from __future__ import annotations

import torch
from torch import Tensor

from tensorldp.errors import InputError


def match(found: Tensor, truth: Tensor) -> Tensor:
    """`found` in the order that minimises the summed squared distance to `truth`; both (batch, ...).

    Raises:
        InputError: if the shapes differ.
    """
    from scipy.optimize import linear_sum_assignment

    if found.shape != truth.shape:
        raise InputError(
            f"reconstructions must have the shape of the records, got {tuple(found.shape)} and {tuple(truth.shape)}"
        )
    cost = torch.cdist(truth.reshape(len(truth), -1).double(), found.reshape(len(found), -1).double()) ** 2
    _, columns = linear_sum_assignment(cost.numpy())
    return found[torch.from_numpy(columns)]


def vector_error(found: Tensor, truth: Tensor) -> float:
    """sqrt(mean_i ||x_hat_i - x_i||^2) after matching (dp-lecture, Eq. 5.2)."""
    gap = (match(found, truth) - truth).reshape(len(truth), -1).double()
    return float(gap.pow(2).sum(dim=1).mean().sqrt())
