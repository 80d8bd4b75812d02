"""Vector quantisation under LDP: a record is released as the number of its nearest public codeword, by k-RR.

Codewords are the centres of k-means in public rows. A release stands for a vector whose mean is the record's codeword,
so that class means are learnt as from noisy vectors; what quantisation lost stays lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from tensorldp.errors import InputError
from tensorldp.mechanisms.randomized_response import KaryRandomizedResponse
from tensorldp.randomness import generator, numpy_generator
from tensorldp_papers.public.dimension import DRAWS, Plan, PublicTask, UnitRows
from tensorldp_papers.public.means import LinearScores, mean_scores, public_metric
from tensorldp_papers.public.unlabelled import clusters

COUNTS = (8, 16, 32, 64, 128)  # of codewords
DIMENSIONS = (16, 64)  # a number costs no noise here, so that few choices do


def decoded(words: Tensor, mechanism: KaryRandomizedResponse) -> Tensor:
    """Returns the vector that each released number stands for, (codewords, dimension): unbiased for the codeword."""
    other = math.exp(mechanism.log_other)
    return (words - other * words.sum(dim=0)) / (mechanism.keep - other)


def release_codes(
    rows: Tensor, book: LinearScores, mechanism: KaryRandomizedResponse, source: torch.Generator
) -> Tensor:
    """Releases the number of each row's nearest codeword; returns what the numbers stand for, (records, dimension).

    Args:
        rows: (records, dimension).
        book: the codewords, as `clusters` finds them.
        mechanism: k-RR on as many values as there are codewords.
        source: draws the releases.
    """
    released = mechanism.privatize(book.predict(rows)[:, None].float(), source)[:, 0].long()
    return decoded(book.weight, mechanism)[released]


def choose_codewords(
    tasks: Sequence[PublicTask],
    randomizer: Callable[[int], KaryRandomizedResponse],
    records: int,
    *,
    exponents: Sequence[float] = (0.0,),
    ridges: Sequence[float] = (math.inf,),
) -> Plan:
    """Chooses how many codewords, in which dimension, by the accuracy of class means of releases on public tasks.

    Those of as many records as there are private ones, drawn anew from each class's codewords. No argument holds a
    private record. On a tie there are fewer codewords.

    Args:
        tasks: public tasks, each with its own projection.
        randomizer: makes the k-RR of so many values.
        records: how many private records there will be.
        exponents: how far to whiten, see `Projection.weighted`.
        ridges: ridges of the learner's public metric; infinite gives the plain distance.

    Raises:
        InputError: if a task has fewer records than the fewest codewords.
    """
    most = min(task.projection.dimension for task in tasks)
    counts = [k for k in COUNTS if k <= min(len(task.x) for task in tasks)]
    if not counts:
        raise InputError(f"codewords need public tasks of at least {COUNTS[0]} records")
    plans = []
    for exponent in exponents:
        for dimension in sorted({min(d, most) for d in DIMENSIONS}):
            made = [task.on_spheres(exponent, [dimension])[0] for task in tasks]
            for count in counts:
                books = [clusters(task.rows, count, generator("codewords")) for task in made]
                for ridge in ridges:
                    promised = [
                        _promised(task, book, randomizer(count), records, ridge)
                        for task, book in zip(made, books, strict=True)
                    ]
                    mean = sum(promised) / len(promised)
                    plans.append(Plan(dimension, float(exponent), float(ridge), mean, codewords=count))
    return max(plans, key=lambda plan: (plan.accuracy, -plan.codewords))


def _promised(
    task: UnitRows, book: LinearScores, mechanism: KaryRandomizedResponse, records: int, ridge: float
) -> float:
    classes = int(task.y.max()) + 1
    seen = torch.zeros(classes, len(book.bias), dtype=torch.float64)
    seen.index_put_((task.y, book.predict(task.rows)), torch.ones(len(task.y)).double(), accumulate=True)
    other = math.exp(mechanism.log_other)
    shares = other + (mechanism.keep - other) * seen / seen.sum(dim=1, keepdim=True).clamp_min(1.0)
    vectors, each = decoded(book.weight.double(), mechanism), max(records // classes, 2)
    total = 0.0
    for draw in range(DRAWS):
        rng = numpy_generator(generator("codewords", draw))
        drawn = torch.from_numpy(rng.multinomial(each, shares / shares.sum(dim=1, keepdim=True))).double() / each
        means = drawn @ vectors
        error = (drawn @ vectors.square().sum(dim=1) - means.square().sum(dim=1)) / (each - 1)
        total += mean_scores(means, error, public_metric(task.rows, ridge)).accuracy(task.test, task.y_test)
    return total / DRAWS
