"""How many directions to release at an epsilon: a rule that reads public records and the randomizer's error alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tensorldp.errors import InputError, positive, whole
from tensorldp.learners.scores import LinearScores
from tensorldp.mechanisms import Ball, make
from tensorldp.randomness import generator, standard_normal
from tensorldp.representations.projection import Projection

DRAWS = 4


@dataclass(frozen=True)
class PublicTask:
    """Public labelled features of a task like the private one, in two halves.

    Attributes:
        x, y: what stands for the private records: (records, columns) and class indices.
        x_test, y_test: what stands for the test records.
        projection: fitted on public features of the same kind.
    """

    x: Tensor
    y: Tensor
    x_test: Tensor
    y_test: Tensor
    projection: Projection


@dataclass(frozen=True)
class Plan:
    """How many directions to release, and how far to whiten them; `accuracy` is what the public tasks promise."""

    dimension: int
    exponent: float
    accuracy: float


def mean_error(epsilon: float, dimension: int, records: int, classes: int, *, labels_private: bool) -> float:
    """Variance of one coordinate of a class mean of PrivUnit's releases, from its exact squared error.

    With private labels one release holds `classes` blocks and every record is in the mean of each, divided by the
    class's share.
    """
    size = dimension * classes if labels_private else dimension
    ball = Ball(1.0, (size,))
    error = make("privunit", epsilon=epsilon, domain=ball, lift=False).squared_error()
    assert error is not None
    return error / size * (classes**2 / records if labels_private else classes / records)


def promised_accuracy(
    task: PublicTask, epsilon: float, records: int, *, labels_private: bool = False, draws: int = DRAWS
) -> float:
    """Accuracy of the nearest mean on a public task, with means as noisy as `records` private ones would leave them.

    The noise is Gaussian with PrivUnit's exact variance: a mean of thousands of releases is.
    """
    classes = int(task.y.max()) + 1
    rows, test = task.projection(task.x), task.projection(task.x_test)
    counts = task.y.bincount(minlength=classes).clamp_min(1).double()
    means = torch.zeros(classes, rows.shape[1]).index_add_(0, task.y, rows) / counts.float()[:, None]
    variance = mean_error(epsilon, rows.shape[1], records, classes, labels_private=labels_private)
    total = 0.0
    for draw in range(draws):
        noisy = means + variance**0.5 * standard_normal(means, generator("dimension", draw))
        lengths = noisy.square().sum(dim=1) - rows.shape[1] * variance
        total += LinearScores(noisy, -lengths / 2.0).accuracy(test, task.y_test)
    return total / draws


def choose_dimension(
    tasks: Sequence[PublicTask],
    epsilon: float,
    records: int,
    *,
    dimensions: Sequence[int] = (8, 16, 32, 64, 128, 256),
    exponents: Sequence[float] = (0.0,),
    labels_private: bool = False,
) -> Plan:
    """The dimension and the exponent with the best accuracy on public tasks at this epsilon, the smaller on a tie.

    No argument holds a private record: of those, only their number is known.

    Args:
        tasks: public tasks, each with its own projection.
        epsilon: the guarantee of one release.
        records: how many private records there will be.
        dimensions: what to choose from; those beyond a projection are left out.
        exponents: how far to whiten, see `Projection.weighted`.
        labels_private: whether labels are released with the records.

    Raises:
        InputError: if there is no task, or no dimension fits.
    """
    epsilon, records = positive("epsilon", epsilon), whole("records", records, low=2)
    if not tasks:
        raise InputError("the rule for the dimension needs at least one public task")
    most = min(task.projection.dimension for task in tasks)
    fitting = [d for d in sorted(set(dimensions)) if 2 <= d <= most]
    if not fitting:
        raise InputError(f"no dimension among {list(dimensions)} is between 2 and the projection's {most}")
    plans = []
    for d in fitting:
        for exponent in exponents:
            promised = [
                promised_accuracy(
                    PublicTask(t.x, t.y, t.x_test, t.y_test, t.projection.weighted(exponent).first(d)),
                    epsilon,
                    records,
                    labels_private=labels_private,
                )
                for t in tasks
            ]
            plans.append(Plan(d, float(exponent), sum(promised) / len(promised)))
    return max(plans, key=lambda plan: (plan.accuracy, -plan.dimension))
