"""Public unlabelled records, labelled by a classifier from releases, teach a second one: post-processing, no cost.

Assumes that the public records are like the private ones. Their labels are never read.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tensorldp.errors import InputError, check_positive, check_whole
from tensorldp_papers.public.scores import LinearScores


def linear_discriminant(features: Tensor, labels: Tensor, classes: int, *, ridge: float = 0.3) -> LinearScores:
    """Linear discriminant analysis with one covariance, ridged by `ridge` of its mean variance, and equal priors.

    Raises:
        InputError: if features and labels do not fit, or the ridge is not positive.
    """
    classes, ridge = check_whole("classes", classes, low=2), check_positive("ridge", ridge)
    if features.dim() != 2 or labels.shape != features.shape[:1]:
        raise InputError(f"features need one label each, got {tuple(features.shape)} and {tuple(labels.shape)}")
    rows, chosen = features.double(), nn.functional.one_hot(labels, classes).double()
    counts = chosen.sum(dim=0)
    means = (chosen.T @ rows) / counts.clamp_min(1.0)[:, None]
    means[counts == 0] = rows.mean(dim=0)
    rest = rows - means[labels]
    within = rest.T @ rest / len(rows)
    lower = torch.linalg.cholesky(within + ridge * within.diagonal().mean() * torch.eye(rows.shape[1]).double())
    weight = torch.cholesky_solve(means.T, lower)
    bias = -(means.T * weight).sum(dim=0) / 2.0
    bias[counts == 0] = -torch.inf
    return LinearScores(weight.T.float(), bias.float())


@dataclass(frozen=True)
class SelfTrained:
    """The sum of two classifiers' scores, each over its own deviation on the public records."""

    private: LinearScores
    public: LinearScores
    scales: tuple[float, float]

    def __call__(self, rows: Tensor, features: Tensor) -> Tensor:
        """Scores (records, classes) from projected rows and public coordinates of the same records."""
        return self.private(rows) / self.scales[0] + self.public(features) / self.scales[1]

    def accuracy(self, rows: Tensor, features: Tensor, y: Tensor) -> float:
        """The share of records whose class is predicted."""
        return float((self(rows, features).argmax(dim=1) == y).double().mean())


def _deviation(scores: Tensor) -> float:
    finite = scores[torch.isfinite(scores)]
    return max(float(finite.std()), 1e-12)


def self_train(
    private: LinearScores, rows: Tensor, features: Tensor, *, rounds: int = 3, ridge: float = 0.3
) -> SelfTrained:
    """Label public records with the classifier from releases, fit a discriminant to those labels, repeat with both.

    The labels' errors average out in the discriminant, which also uses more directions than the releases have.

    Args:
        private: the classifier from releases.
        rows: (records, dimension) the public records as `private` takes them.
        features: (records, coordinates) the same records for the discriminant.
        rounds: how often to label anew.
        ridge: as `linear_discriminant` takes it.

    Raises:
        InputError: if the rows and features are not of the same records, or there are fewer than two.
    """
    rounds = check_whole("rounds", rounds, low=1)
    if len(rows) != len(features) or len(rows) < 2:
        raise InputError(
            f"self-training needs rows and features of the same public records, got {len(rows)} and {len(features)}"
        )
    private = private.on_average()
    own = private(rows)
    classes, combined = own.shape[1], own
    for _ in range(rounds):
        public = linear_discriminant(features, combined.argmax(dim=1), classes, ridge=ridge)
        scores = public(features)
        scales = (_deviation(own), _deviation(scores))
        combined = own / scales[0] + scores / scales[1]
    return SelfTrained(private, public, scales)
