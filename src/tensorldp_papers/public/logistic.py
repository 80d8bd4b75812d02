"""Logistic regression on the records themselves: what a classifier gets without privacy, not bound to class means."""

from __future__ import annotations

import torch
from torch import Tensor

from tensorldp.errors import check_positive
from tensorldp_papers.public.scores import LinearScores, check_releases


def logistic(features: Tensor, labels: Tensor, classes: int, *, strength: float = 0.1) -> LinearScores:
    """Multinomial logistic regression on standardised features with an l2 penalty: a control, with no guarantee.

    Args:
        features: (records, columns), not released by any mechanism.
        labels: (records,) class indices, each class at least once.
        classes: how many, at least 2.
        strength: the inverse of the penalty.

    Raises:
        InputError: if features and labels do not fit, or the strength is not positive.
    """
    from sklearn.linear_model import LogisticRegression

    check_releases(features, labels, classes)
    centre, scale = features.mean(dim=0), features.std(dim=0).clamp_min(1e-12)
    fit = LogisticRegression(C=check_positive("strength", strength), max_iter=200)
    fit.fit(((features - centre) / scale).numpy(), labels.numpy())
    weight, bias = torch.from_numpy(fit.coef_).float(), torch.from_numpy(fit.intercept_).float()
    if classes == 2:  # one row: the log odds of the second class
        weight, bias = torch.cat((-weight, weight)) / 2.0, torch.cat((-bias, bias)) / 2.0
    weight = weight / scale
    return LinearScores(weight, bias - weight @ centre)
