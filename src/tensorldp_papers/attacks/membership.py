"""Membership inference by a threshold on the loss [yeom2018]."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from tensorldp.errors import InputError, check_real


@torch.no_grad()
def record_losses(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """Cross-entropy of each record in evaluation mode, (records,) float64."""
    model.eval()
    return functional.cross_entropy(model(x), y, reduction="none").double().cpu()


def true_positive_rate(members: Tensor, others: Tensor, false_positive_rate: float) -> float:
    """The share of members that an attacker names who calls a record a member if its loss is low enough.

    The threshold is the largest that names at most that share of the records that are no members.

    Raises:
        InputError: if a set is empty or the rate lies outside (0, 1).
    """
    rate = check_real("false_positive_rate", false_positive_rate, low=0.0, high=1.0, open_low=True, open_high=True)
    if len(members) == 0 or len(others) == 0:
        raise InputError("a membership attack needs members and others, got an empty set")
    allowed = int(rate * len(others) + 1e-9)
    ordered = others.sort().values
    return float((members < ordered[allowed]).double().mean())


def attack_auc(members: Tensor, others: Tensor) -> float:
    """The probability that a member has a lower loss than another record; 0.5 is guessing."""
    from sklearn.metrics import roc_auc_score

    truth = torch.cat([torch.ones(len(members)), torch.zeros(len(others))])
    return float(roc_auc_score(truth.numpy(), -torch.cat([members, others]).numpy()))
