"""Linear learners beyond class means: ridge regression and discriminants from releases, logistic regression on records.

A mechanism that treats all directions alike has E[z z^T | x] = a x x^T + b I for records of unit length, so that the
second moment of the records is that of the releases, less b I and over a: it costs no further privacy. It is worth
having where the noise of dimension^2 entries has averaged out, that is, from epsilon of about 4 on for 60,000 records;
below, the ridge takes over and the result is close to the nearest mean.

The discriminant estimates the covariance within the classes from it: without public unlabelled records it replaces
theirs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from tensorldp.errors import InputError
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.gaussian import GaussianAnalytic
from tensorldp.mechanisms.privunit import PrivUnit
from tensorldp_papers.public.means import LinearScores, Metric, class_moments, mean_scores


@dataclass(frozen=True)
class SecondMoment:
    """E[z z^T | x] = along x x^T + around I for unit x in `dimension` coordinates."""

    along: float
    around: float


def second_moment(mechanism: Mechanism) -> SecondMoment:
    """Returns what is known of E[z z^T | x] of a release of unit length.

    For PrivUnit ||z|| = 1/m and <z, x> = t/m, so that a + b = E t^2 / m^2 and a + b d = 1 / m^2; E t^2 by quadrature
    over the cap and what is left of the sphere.
    """
    from scipy.integrate import quad

    if isinstance(mechanism, GaussianAnalytic):
        return SecondMoment(1.0, mechanism.sigma**2)
    if not isinstance(mechanism, PrivUnit) or mechanism.lift:
        raise InputError(
            f"the second moment of a release is known for privunit with lift=False and for gaussian-analytic, not for "
            f"{mechanism.name}"
        )
    d, cap = mechanism.dimension, mechanism.cap
    power = (d - 3) / 2.0

    def weight(t: float) -> float:
        return math.exp(power * math.log1p(-t * t)) if t < 1.0 else 0.0

    mean = []
    for low, high in ((cap.gamma, 1.0), (-1.0, cap.gamma)):  # inside the cap and outside
        points = [p for p in (0.0,) if low < p < high]
        mass = quad(weight, low, high, points=points or None)[0]
        mean.append(quad(lambda t: t * t * weight(t), low, high, points=points or None)[0] / mass)
    square = cap.p * mean[0] + (1.0 - cap.p) * mean[1]
    length = 1.0 / cap.gamma**2
    around = length * (1.0 - square) / (d - 1)
    return SecondMoment(length * square - around, around)


def debiased_moment(releases: Tensor, mechanism: Mechanism) -> tuple[Tensor, float]:
    """Computes the second moment of unit records from that of releases, float64, and its noise in operator norm."""
    known, rows = second_moment(mechanism), releases.double()
    count, d = rows.shape
    moment = (rows.T @ rows / count - known.around * torch.eye(d, dtype=torch.float64)) / known.along
    return moment, 2.0 * math.sqrt(d / count) * (known.around + known.along / d) / known.along


def ridged_inverse(matrix: Tensor, ridge: float) -> Tensor:
    """Computes (max(M, 0) + ridge I)^-1 of symmetric M, (dimension, dimension): eigenvalues below 0 count as 0."""
    values, vectors = torch.linalg.eigh(matrix)
    inverse: Tensor = vectors @ torch.diag(1.0 / (values.clamp_min(0.0) + ridge)) @ vectors.T
    return inverse


def least_squares(
    releases: Tensor, labels: Tensor, classes: int, mechanism: Mechanism, *, ridge: float = 1.0
) -> LinearScores:
    """Fits ridge regression of the classes' indicators on records, from class sums and the debiased second moment.

    The ridge is `ridge` times the deviation of the debiased moment's noise in the operator norm, so that it fades as
    records come in; eigenvalues below zero, which only noise makes, count as zero.
    """
    counts, means, _ = class_moments(releases, labels, classes)
    moment, noise = debiased_moment(releases, mechanism)
    shares = counts / len(releases)
    centre = shares @ means
    weight = shares[:, None] * (means - centre) @ ridged_inverse(moment, ridge * noise)
    return LinearScores(weight.float(), (shares - weight @ centre).float())


def discriminant_from_releases(
    releases: Tensor, labels: Tensor, classes: int, mechanism: Mechanism, *, ridge: float = 1.0
) -> LinearScores:
    """Fits linear discriminant analysis: class means of releases in the metric of their debiased scatter in classes.

    Within is the debiased second moment less the spread of the class means, whose known noise is taken out. Assumes
    that all classes have one covariance. The ridge is `ridge` times the moment's noise in the operator norm, so that
    the metric is the plain distance where the noise is all that there is; eigenvalues below zero count as zero.
    """
    counts, means, error = class_moments(releases, labels, classes)
    moment, noise = debiased_moment(releases, mechanism)
    shares, d = counts / len(releases), releases.shape[1]
    between = (means.T * shares) @ means - float(shares @ error) / d * torch.eye(d, dtype=torch.float64)
    within = ridged_inverse(moment - between, ridge * noise)
    return mean_scores(means, error, Metric(shares @ means, within))


def logistic(features: Tensor, labels: Tensor, classes: int, *, strength: float = 0.1) -> LinearScores:
    """Fits multinomial logistic regression on standardised features with an l2 penalty: a control, with no guarantee.

    `strength` is the inverse of the penalty; each class has at least one of the records.
    """
    from sklearn.linear_model import LogisticRegression

    centre, scale = features.mean(dim=0), features.std(dim=0).clamp_min(1e-12)
    fit = LogisticRegression(C=strength, max_iter=200)
    fit.fit(((features - centre) / scale).numpy(), labels.numpy())
    weight, bias = torch.from_numpy(fit.coef_).float(), torch.from_numpy(fit.intercept_).float()
    if classes == 2:  # one row: the log odds of the second class
        weight, bias = torch.cat((-weight, weight)) / 2.0, torch.cat((-bias, bias)) / 2.0
    weight = weight / scale
    return LinearScores(weight, bias - weight @ centre)
