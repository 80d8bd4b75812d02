"""Attacks on data releases: denoise one, name its owner among candidates, and tell members by their loss [yeom2018]."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from tensorldp.curves.base import PrivacyCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms import Mechanism


@dataclass(frozen=True)
class Prior:
    """What an attacker knows about records from public ones: mean, principal directions and what is left."""

    mean: Tensor  # (I,) float64
    directions: Tensor  # (I, k), orthonormal
    variances: Tensor  # (k,)
    rest: float  # variance per element beyond the directions

    @classmethod
    def of(cls, public: Tensor, rank: int = 100) -> Prior:
        """Estimates the prior from at least two public records, (records, ...)."""
        flat = public.reshape(len(public), -1).double()
        mean = flat.mean(dim=0)
        values, vectors = torch.linalg.eigh((flat - mean).T @ (flat - mean) / (len(flat) - 1))
        rank = min(rank, int((values > 1e-9 * values[-1]).sum()) or 1)
        rest = float(values[:-rank].clamp_min(0).sum()) / max(1, flat.shape[1])
        return cls(mean, vectors[:, -rank:], values[-rank:].clamp_min(1e-12), max(rest, 1e-9 * float(values[-1])))


def denoise(mechanism: Mechanism, released: Tensor, prior: Prior) -> Tensor:
    """Computes the best linear estimate of each record from its release, clipped to the mechanism's box.

    E[x | y] for Gaussian records and unbiased noise of the mechanism's own variance per element. Elements that TLDP
    kept are recognised where records are whole numbers: noise never hits one inside the range.
    """
    box = mechanism.given_domain.as_box()
    error = mechanism.squared_error()
    if error is None:
        raise InputError(
            f"the squared error of {mechanism.name} has no closed form, so its releases cannot be denoised"
        )
    y = released.reshape(len(released), -1).double()
    retention = float(getattr(mechanism, "retention", 0.0))
    noise = error / (box.size * max(1.0 - retention, 1e-12))
    kept = (y == y.round()) & (y >= box.low) & (y <= box.high) & (retention > 0.0)
    variance = torch.where(kept, prior.rest, noise + prior.rest)
    weighted = prior.directions / variance.unsqueeze(2)  # (batch, I, k)
    precision = torch.diag(1.0 / prior.variances) + prior.directions.T @ weighted
    right = torch.einsum("nik,ni->nk", weighted, y - prior.mean)
    estimate = prior.mean + torch.linalg.solve(precision, right) @ prior.directions.T
    estimate = estimate + prior.rest / variance * (y - estimate)  # what the directions do not hold
    return torch.where(kept, y, estimate).clamp(box.low, box.high).reshape(released.shape)


def identify(mechanism: Mechanism, released: Tensor, candidates: Tensor) -> Tensor:
    """Returns for each release the candidate in the mechanism's domain that makes it most likely, as indices, (batch,).

    Equal likelihoods are decided by l2 distance, as are all where the mechanism has no tractable density.
    """
    y = released.double()
    best = torch.zeros(len(y), dtype=torch.long)
    distance = torch.cdist(y.reshape(len(y), -1), candidates.reshape(len(candidates), -1).double())
    for index in range(1, len(candidates)):
        challenger = candidates[index].double().expand(y.shape)
        closer = distance[:, index] < distance.gather(1, best.unsqueeze(1)).squeeze(1)
        try:
            ratio = mechanism.log_likelihood_ratio(y, challenger, candidates[best].double()).nan_to_num(
                0.0, math.inf, -math.inf
            )
            wins = (ratio > 0) | ((ratio == 0) & closer)
        except InputError:
            wins = closer
        best = torch.where(wins, index, best)
    return best


@dataclass(frozen=True)
class SuccessBound:
    """How often a guarantee lets an attack succeed at most, if it succeeds at some base rate without the record.

    min over epsilon of e^epsilon base_rate + delta(epsilon), at most 1: with base_rate = 1/N for naming one of N
    equally likely candidates, with the false positive rate for the true positive rate of a membership attack.
    """

    points: tuple[tuple[float, float], ...]  # (epsilon, delta) of the guarantee that the minimum is taken over

    @classmethod
    def of(cls, curve: PrivacyCurve) -> SuccessBound:
        """Makes the bound from epsilon at delta 0, 1e-5, 1e-3 and 0.05, and delta at epsilon 0."""
        found = [curve.epsilon(delta) for delta in (0.0, 1e-5, 1e-3, 0.05)]
        return cls(tuple((epsilon, curve.delta(epsilon)) for epsilon in {0.0, *found} if math.isfinite(epsilon)))

    def __call__(self, base_rate: float) -> float:
        return min([1.0, *(math.exp(min(epsilon, 700.0)) * base_rate + delta for epsilon, delta in self.points)])


@torch.no_grad()
def record_losses(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """Computes the cross-entropy of each record in evaluation mode, (records,) float64."""
    model.eval()
    return functional.cross_entropy(model(x), y, reduction="none").double().cpu()


def true_positive_rate(members: Tensor, others: Tensor, false_positive_rate: float) -> float:
    """Computes the share of members named by an attacker who calls a record a member if its loss is low enough.

    The threshold is the largest that names at most that share of the records that are not members.
    """
    allowed = int(false_positive_rate * len(others) + 1e-9)
    ordered = others.sort().values
    return float((members < ordered[allowed]).double().mean())


def attack_auc(members: Tensor, others: Tensor) -> float:
    """Computes the probability that a member has a lower loss than another record; 0.5 is guessing."""
    from sklearn.metrics import roc_auc_score

    truth = torch.cat([torch.ones(len(members)), torch.zeros(len(others))])
    return float(roc_auc_score(truth.numpy(), -torch.cat([members, others]).numpy()))
