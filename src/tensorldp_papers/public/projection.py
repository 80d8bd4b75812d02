"""Linear maps fitted on public features, to directions in order of worth, and to unit length."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from tensorldp.errors import InputError, check_positive, check_real, check_whole
from tensorldp.mechanisms import Ball

MOST_DIRECTIONS = 256  # directions that a fit keeps


def check_features(features: Tensor, what: str = "features") -> None:
    """Checks that features are finite float rows (records, columns)."""
    if features.dim() != 2 or not features.is_floating_point() or not len(features):
        raise InputError(f"{what} must be float rows (records, columns), got {features.dtype} {tuple(features.shape)}")
    # a sum is finite only if all terms are, and is cheaper to check; one that overflows proves nothing
    if not bool(torch.isfinite(features.sum())) and not bool(torch.isfinite(features).all()):
        raise InputError(f"{what} must be finite")


def to_sphere(rows: Tensor) -> Tensor:
    """Divides each row by its length; a row of zeros becomes the first direction."""
    norm = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
    first = torch.zeros_like(rows[:1])
    first[0, 0] = 1.0
    return torch.where(norm > 0, rows / norm.clamp_min(1e-30), first)


@dataclass(frozen=True)
class Projection:
    """x -> A^T (x - centre), scaled to unit length: a public map into the unit sphere.

    Attributes:
        centre: (columns,).
        directions: (columns, dimension), the most useful first.
        scales: (dimension,) standard deviation of the public features along each direction, for `weighted`.
    """

    centre: Tensor
    directions: Tensor
    scales: Tensor

    def __repr__(self) -> str:
        return f"Projection(columns={len(self.centre)}, dimension={self.dimension})"

    @property
    def dimension(self) -> int:
        """Returns the number of coordinates of a projected record."""
        return self.directions.shape[1]

    @property
    def ball(self) -> Ball:
        """Returns where projected records live; they lie on its sphere, so that mechanisms need no lifting."""
        return Ball(1.0, (self.dimension,))

    def first(self, dimension: int) -> Projection:
        """Returns the map to the first so many directions."""
        dimension = check_whole("dimension", dimension, low=2, high=self.dimension)
        return replace(self, directions=self.directions[:, :dimension], scales=self.scales[:dimension])

    def weighted(self, exponent: float) -> Projection:
        """Divides each direction by its scale to the power of `exponent`: 1 whitens, 0 changes nothing."""
        factor = self.scales.clamp_min(1e-12) ** -check_real("exponent", exponent, low=0.0, high=1.0)
        return replace(self, directions=self.directions * factor, scales=self.scales * factor)

    def coordinates(self, features: Tensor) -> Tensor:
        """Computes the projection without scaling to unit length, (records, dimension)."""
        check_features(features)
        if features.shape[1] != len(self.centre):
            raise InputError(f"the projection takes {len(self.centre)} columns, got {features.shape[1]}")
        return (features - self.centre) @ self.directions

    def __call__(self, features: Tensor) -> Tensor:
        """Computes unit rows (records, dimension); a record at the centre goes to the first direction."""
        return to_sphere(self.coordinates(features))


def principal(features: Tensor, dimension: int = MOST_DIRECTIONS) -> Projection:
    """Finds the directions, at most `dimension`, along which public features, labelled or not, spread most."""
    check_features(features, "public features")
    if len(features) < 2:
        raise InputError("principal directions need at least two public records")
    centre = features.mean(dim=0)
    rows = (features - centre).double()
    values, vectors = torch.linalg.eigh(rows.T @ rows / len(rows))
    kept = min(check_whole("dimension", dimension, low=2), len(centre), len(features) - 1)
    values, vectors = values.flip(0)[:kept], vectors.flip(1)[:, :kept]
    return Projection(centre, vectors.to(features.dtype), values.clamp_min(0.0).sqrt().to(features.dtype))


def discriminant(
    features: Tensor, labels: Tensor, dimension: int = MOST_DIRECTIONS, *, ridge: float = 0.3
) -> Projection:
    """Finds the directions along which the classes of public features differ most, relative to their spread within.

    Solves S_b v = lambda (S_w + ridge t I) v, t the mean variance within classes: Fisher's discriminants with a ridge.
    The classes need not be those of the private task.

    Args:
        features: (records, columns), public.
        labels: (records,) their classes, whole numbers from 0.
        dimension: how many directions to keep, at most.
        ridge: the share of the mean variance added to each.

    Raises:
        InputError: if features and labels do not fit, or a number is out of range.
    """
    check_features(features, "public features")
    ridge = check_positive("ridge", ridge)
    if labels.shape != features.shape[:1] or labels.is_floating_point() or int(labels.min()) < 0:
        raise InputError(
            f"public features need one class index each, got {len(features)} records and labels "
            f"{labels.dtype} {tuple(labels.shape)}"
        )
    rows, centre = features.double(), features.double().mean(dim=0)
    counts = labels.bincount().double()
    means = torch.zeros(len(counts), rows.shape[1], dtype=torch.float64).index_add_(0, labels, rows)
    means /= counts.clamp_min(1.0)[:, None]
    within = rows - means[labels]
    within = within.T @ within / len(rows)
    apart = (means - centre) * (counts / len(rows)).sqrt()[:, None]
    lower = torch.linalg.cholesky(within + ridge * within.diagonal().mean() * torch.eye(len(centre)).double())
    inner = torch.linalg.solve_triangular(lower, apart.T, upper=False)
    values, vectors = torch.linalg.eigh(inner @ inner.T)
    kept = min(check_whole("dimension", dimension, low=2), len(centre))
    values, vectors = values.flip(0)[:kept], vectors.flip(1)[:, :kept]
    directions = torch.linalg.solve_triangular(lower.T, vectors, upper=True)
    scales = (1.0 + values.clamp_min(0.0)).sqrt()  # the spread between and within, the latter about 1
    return Projection(centre.to(features.dtype), directions.to(features.dtype), scales.to(features.dtype))
