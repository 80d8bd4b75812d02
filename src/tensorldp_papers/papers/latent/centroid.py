"""The nearest class mean: unbiased releases average to the class means, whatever their noise."""

from __future__ import annotations

import torch
from torch import Tensor

from tensorldp.errors import InputError


def class_means(x: Tensor, y: Tensor, classes: int) -> Tensor:
    """The mean record of each class, (classes, features); a class without records has the overall mean.

    Raises:
        InputError: if x is not (records, features) with one label each, or there are no records.
    """
    if x.dim() != 2 or len(x) != len(y) or len(x) == 0:
        raise InputError(
            f"class means need records (records, features) and one label each, got {tuple(x.shape)} and {len(y)} labels"
        )
    counts = y.bincount(minlength=classes)
    means = torch.zeros(classes, x.shape[1], dtype=torch.float64).index_add_(0, y, x.double())
    means /= counts.clamp_min(1).unsqueeze(1)
    means[counts == 0] = x.double().mean(dim=0)
    return means.float()


def nearest_mean(means: Tensor, x: Tensor) -> Tensor:
    """The class whose mean is nearest in l2, for each record: (records,)."""
    return torch.cdist(x, means).argmin(dim=1)
