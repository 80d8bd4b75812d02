"""Class means from noisy releases: the means are unbiased, their squared lengths are made so.

Assumes that a release is unbiased, E[M(x) | x] = x, as those of PrivUnit, Laplace, Gaussian and the sampled mechanisms
are, and that a class is known by its mean. Without a metric the nearest mean wins, as among equal spherical classes;
with one, classes share the covariance of public unlabelled records, as in linear discriminant analysis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from tensorldp.errors import InputError, check_whole


@dataclass(frozen=True)
class LinearScores:
    """x -> W x + b."""

    weight: Tensor  # (classes, dimension)
    bias: Tensor  # (classes,)

    def __repr__(self) -> str:
        return f"LinearScores(classes={len(self.bias)}, dimension={self.weight.shape[1]})"

    def __call__(self, x: Tensor) -> Tensor:
        """Computes scores (records, classes) of rows (records, dimension)."""
        if x.dim() != 2 or x.shape[1] != self.weight.shape[1]:
            raise InputError(f"the classifier takes rows of {self.weight.shape[1]} numbers, got {tuple(x.shape)}")
        return x @ self.weight.T + self.bias

    def predict(self, x: Tensor) -> Tensor:
        """Returns the class with the largest score, (records,)."""
        return self(x).argmax(dim=1)

    def accuracy(self, x: Tensor, y: Tensor) -> float:
        """Computes the share of rows whose class is predicted."""
        return float((self.predict(x) == y).double().mean())

    def on_average(self) -> LinearScores:
        """Returns the same scores less their mean over the classes: the same predictions."""
        return LinearScores(self.weight - self.weight.mean(dim=0), self.bias - self.bias.mean())


def check_releases(releases: Tensor, labels: Tensor, classes: int) -> Tensor:
    """Checks that releases are finite float rows (records, dimension) with a class index each.

    Returns the indices as int64: as bytes or booleans they would choose rows, and not classes.
    """
    if releases.dim() != 2 or not releases.is_floating_point() or not len(releases):
        raise InputError(
            f"releases must be float rows (records, dimension), got {releases.dtype} {tuple(releases.shape)}"
        )
    if labels.shape != releases.shape[:1] or labels.is_floating_point():
        raise InputError(f"releases need one class index each, got {len(releases)} and {tuple(labels.shape)}")
    if int(labels.min()) < 0 or int(labels.max()) >= classes:
        raise InputError(f"class indices must lie in 0 .. {classes - 1}")
    if not bool(torch.isfinite(releases).all()):
        raise InputError("releases must be finite")
    return labels.long()


def class_moments(releases: Tensor, labels: Tensor, classes: int) -> tuple[Tensor, Tensor, Tensor]:
    """Computes counts (classes,), mean releases (classes, dimension) and each mean's squared error (classes,), float64.

    The squared error is the sum of the sample variances of the releases over the count. A class with fewer than two
    releases has the mean of all and no error.
    """
    classes = check_whole("classes", classes, low=2)
    labels = check_releases(releases, labels, classes)
    counts = labels.bincount(minlength=classes).double()
    rows = releases.double()
    means = torch.zeros(classes, rows.shape[1], dtype=torch.float64).index_add_(0, labels, rows)
    squares = torch.zeros(classes, dtype=torch.float64).index_add_(0, labels, rows.square().sum(dim=1))
    means /= counts.clamp_min(1.0)[:, None]
    spread = squares / counts.clamp_min(1.0) - means.square().sum(dim=1)
    error = spread / (counts - 1.0).clamp_min(1.0)
    few = counts < 2
    means[few], error[few] = rows.mean(dim=0), 0.0
    return counts, means, error.clamp_min(0.0)


@dataclass(frozen=True)
class Metric:
    """(S + ridge t I)^-1 about a centre, in float64, S the covariance of public records and t its mean variance."""

    centre: Tensor
    inverse: Tensor


def public_metric(rows: Tensor, ridge: float) -> Metric | None:
    """Computes the metric of public records, projected as releases; None for an infinite ridge, the plain distance."""
    if math.isinf(ridge):
        return None
    centre = rows.double().mean(dim=0)
    spread = rows.double() - centre
    covariance = spread.T @ spread / len(rows)
    covariance += ridge * covariance.diagonal().mean() * torch.eye(len(centre), dtype=torch.float64)
    return Metric(centre, torch.linalg.inv(covariance))


def mean_scores(means: Tensor, error: Tensor, metric: Metric | None = None) -> LinearScores:
    """Returns scores <x, m_c> - (||m_c||^2 - v_c) / 2 in the metric, up to what all classes share.

    Without subtracting v_c, the noise in a squared length, a class with few records would seem far from everything.
    The means, (classes, dimension) float64, have independent noise of equal variance in all directions, whose squared
    error is (classes,); the metric is that of the classes' common covariance, and None the plain distance.
    """
    if metric is None:
        return LinearScores(means.float(), (-(means.square().sum(dim=1) - error) / 2.0).float())
    apart = means - metric.centre
    weight = apart @ metric.inverse
    lengths = (apart * weight).sum(dim=1) - error * metric.inverse.diagonal().mean()
    return LinearScores(weight.float(), (-(weight @ metric.centre) - lengths / 2.0).float())


def nearest_mean(releases: Tensor, labels: Tensor, classes: int, metric: Metric | None = None) -> LinearScores:
    """Fits the rule of the class whose mean release is nearest, with unbiased squared lengths.

    Args:
        releases: (records, dimension).
        labels: (records,) public class indices.
        classes: number of classes.
        metric: as `mean_scores` takes it.

    Raises:
        InputError: if releases and labels do not fit.
    """
    _, means, error = class_moments(releases, labels, classes)
    return mean_scores(means, error, metric)


def block_moments(releases: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """Computes class means (classes, dimension) and their squared errors (classes,) from releases of `label_blocks`.

    The mean release, (classes x dimension), holds p_c m_c in block c. Assumes that all classes are equally likely,
    p_c = 1 / classes.

    Raises:
        InputError: if the releases do not divide into blocks.
    """
    classes = check_whole("classes", classes, low=2)
    check_releases(releases, torch.zeros(len(releases), dtype=torch.long), 1)
    if releases.shape[1] % classes:
        raise InputError(f"releases of {releases.shape[1]} numbers do not divide into {classes} blocks")
    rows = releases.double()
    mean = rows.mean(dim=0)
    error = (rows.square().mean(dim=0) - mean.square()) / max(len(rows) - 1, 1)
    return classes * mean.reshape(classes, -1), classes**2 * error.reshape(classes, -1).sum(dim=1)


def nearest_block_mean(releases: Tensor, classes: int, metric: Metric | None = None) -> LinearScores:
    """Fits as `nearest_mean` from releases of `label_blocks`, whose owners keep their labels to themselves too."""
    means, error = block_moments(releases, classes)
    return mean_scores(means, error, metric)


def label_blocks(features: Tensor, labels: Tensor, classes: int) -> Tensor:
    """Returns label and features as one vector: the features in the label's block, zeros elsewhere, of the same norm.

    One release of it, (records, classes x dimension), covers the whole record, its label too.
    """
    classes = check_whole("classes", classes, low=2)
    labels = check_releases(features, labels, classes)
    out = features.new_zeros(len(features), classes, features.shape[1])
    out[torch.arange(len(features)), labels] = features
    return out.flatten(1)
