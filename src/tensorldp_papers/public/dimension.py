"""How many directions to release at an epsilon: a rule that reads only public records and the randomizer's error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tensorldp.errors import InputError
from tensorldp.randomness import generator, standard_normal
from tensorldp_papers.public.means import mean_scores, public_metric
from tensorldp_papers.public.projection import Projection, to_sphere

DIMENSIONS = (4, 8, 16, 32, 64, 128, 256)
DRAWS = 3  # of the noise, over which a promised accuracy is averaged

Error = Callable[[int], float]  # the expected squared error of one release of a unit vector, by its dimension


@dataclass(frozen=True)
class PublicTask:
    """Public labelled features, (records, columns), of a task like the private one, in two halves."""

    x: Tensor  # what takes the place of the private records
    y: Tensor
    x_test: Tensor  # and for the test records
    y_test: Tensor
    projection: Projection  # fitted on public features of the same kind

    def on_spheres(self, exponent: float, dimensions: Sequence[int]) -> list[UnitRows]:
        """Returns the task at each dimension, its coordinates the first of the largest one's."""
        whole = self.projection.weighted(exponent).first(max(dimensions))
        x, test = whole.coordinates(self.x), whole.coordinates(self.x_test)
        return [UnitRows(to_sphere(x[:, :d]), self.y, to_sphere(test[:, :d]), self.y_test) for d in dimensions]


@dataclass(frozen=True)
class Plan:
    """What to release and how to learn from it."""

    dimension: int  # how many directions
    exponent: float  # how far they are whitened, see `Projection.weighted`
    ridge: float  # of the learner's public metric; infinite gives the plain distance
    accuracy: float  # what the public tasks promise
    codewords: int = 0  # how many, where a release is the number of one


def mean_error(error: Error, dimension: int, records: int, classes: int, *, labels_private: bool) -> float:
    """Computes the variance of one coordinate of a class mean of releases, from the exact squared error of one.

    With private labels one release holds `classes` blocks, all equally large, and every record is in the mean of each,
    divided by the class's share.
    """
    size = dimension * classes if labels_private else dimension
    return error(size) / size * (classes**2 / records if labels_private else classes / records)


@dataclass(frozen=True)
class UnitRows:
    """A public task whose records are unit rows of some dimension."""

    rows: Tensor
    y: Tensor
    test: Tensor
    y_test: Tensor

    def promises(self, error: Error, records: int, *, ridge: float, labels_private: bool) -> float:
        """Computes the accuracy of class means as noisy as `records` private ones would leave them, over a few draws.

        The noise is Gaussian with the randomizer's exact variance: a mean of thousands of releases is.
        """
        rows, classes = self.rows, int(self.y.max()) + 1
        counts = self.y.bincount(minlength=classes).clamp_min(1).double()
        means = torch.zeros(classes, rows.shape[1], dtype=torch.float64).index_add_(0, self.y, rows.double())
        means /= counts[:, None]
        variance = mean_error(error, rows.shape[1], records, classes, labels_private=labels_private)
        lengths = torch.full((classes,), rows.shape[1] * variance, dtype=torch.float64)
        metric = public_metric(rows, ridge)
        total = 0.0
        for draw in range(DRAWS):
            noisy = means + variance**0.5 * standard_normal(means, generator("dimension", draw))
            total += mean_scores(noisy, lengths, metric).accuracy(self.test, self.y_test)
        return total / DRAWS


def choose_dimension(
    tasks: Sequence[PublicTask],
    error: Error,
    records: int,
    *,
    dimensions: Sequence[int] = DIMENSIONS,
    exponents: Sequence[float] = (0.0,),
    ridges: Sequence[float] = (math.inf,),
    labels_private: bool = False,
) -> Plan:
    """Chooses the dimension, exponent and ridge with the best accuracy on public tasks, the smaller dimension on a tie.

    No argument holds a private record: of those, only their number is known.

    Args:
        tasks: public tasks, each with its own projection.
        error: the randomizer's squared error.
        records: how many private records there will be.
        dimensions: what to choose from; those beyond a projection are left out.
        exponents: how far to whiten, see `Projection.weighted`.
        ridges: ridges of the learner's public metric; infinite gives the plain distance.
        labels_private: whether labels are released with the records.
    """
    most = min(task.projection.dimension for task in tasks)
    fitting = [d for d in sorted(set(dimensions)) if 2 <= d <= most]
    if not fitting:
        raise InputError(f"no dimension among {list(dimensions)} is between 2 and the projection's {most}")
    plans = []
    for exponent in exponents:
        projected = [task.on_spheres(exponent, fitting) for task in tasks]
        for d, at_dimension in zip(fitting, zip(*projected, strict=True), strict=True):
            for ridge in ridges:
                promised = [
                    rows.promises(error, records, ridge=ridge, labels_private=labels_private) for rows in at_dimension
                ]
                plans.append(Plan(d, float(exponent), float(ridge), sum(promised) / len(promised)))
    return max(plans, key=lambda plan: (plan.accuracy, -plan.dimension))
