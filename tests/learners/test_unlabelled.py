"""Learners that use public records without labels, or choose among themselves across public sources."""

import itertools

import pytest
import torch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from torch import Tensor

from tensorldp.errors import InputError
from tensorldp.randomness import generator
from tensorldp_papers.public.means import LinearScores
from tensorldp_papers.public.unlabelled import (
    accuracy,
    best_across_sources,
    best_names,
    clusters,
    linear_discriminant,
    self_train,
)

CENTRES = torch.randn(5, 20, generator=generator("centres")) * 0.9


def blobs(count: int, centres: Tensor, spread: float, *key: object) -> tuple[Tensor, Tensor]:
    y = torch.arange(count) % len(centres)
    return centres[y] + spread * torch.randn(count, centres.shape[1], generator=generator("blobs", *key)), y


def test_clear_groups_are_found_without_labels_and_named_with_them() -> None:
    (public, _), (x, y) = (blobs(count, 3.0 * torch.eye(4), 0.3, count) for count in (400, 200))
    assert best_names(clusters(public, 4, generator("starts")), x, y).accuracy(x, y) == 1.0
    with pytest.raises(InputError, match="401 clusters need at least as many"):
        clusters(public, 401, generator("starts"))


def test_no_other_naming_is_better() -> None:
    x, y = blobs(200, 3.0 * torch.eye(4), 3.0)
    weight = torch.randn(4, 4, generator=generator("any"))
    found = best_names(LinearScores(weight, torch.zeros(4)), x, y).accuracy(x, y)
    orders = map(list, itertools.permutations(range(4)))
    every = [LinearScores(weight[order], torch.zeros(4)).accuracy(x, y) for order in orders]
    assert min(every) < found == max(every)


def test_the_discriminant_is_scikit_learns_up_to_the_ridge() -> None:
    x, y = blobs(3000, CENTRES, 1.0)
    ours = linear_discriminant(x, y, 5, ridge=1e-9).predict(x)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(x.numpy(), y.numpy()).predict(x.numpy())
    assert float((ours == torch.from_numpy(theirs)).float().mean()) > 0.999
    without = linear_discriminant(x[y < 4], y[y < 4], 5)  # a class that no public record gets
    assert int(without.predict(x).max()) == 3


def test_public_records_without_labels_improve_a_noisy_classifier() -> None:
    (x, _), (test, y) = (blobs(3000, CENTRES, 1.0, part) for part in ("public", "test"))
    noisy_centres = CENTRES + torch.randn(5, 20, generator=generator("noise")) * 0.9
    noisy = LinearScores(noisy_centres, -noisy_centres.square().sum(1) / 2)
    assert self_train(noisy, x, x).accuracy(test, test, y) > noisy.accuracy(test, y) + 0.05


def rings(count: int, *key: str) -> tuple[Tensor, Tensor]:
    """Two classes that no straight line divides: points near the origin, and far from it."""
    source, y = generator(*key), torch.arange(count) % 2
    angle = 6.283 * torch.rand(count, generator=source)
    radius = 1.0 + 2.0 * y + 0.2 * torch.randn(count, generator=source)
    return torch.stack((radius * angle.cos(), radius * angle.sin()), dim=1), y


def test_the_learner_that_carries_over_to_other_sources_is_chosen_and_repeats_with_its_stream() -> None:
    x, y = rings(600, "public")
    (best, means), (again, same) = (
        best_across_sources(x, y, torch.arange(600) // 200, 2, lambda x: x, generator("networks")) for _ in range(2)
    )
    assert means == same
    assert means["nearest"] < 0.7
    assert means["network"] > 0.95
    x_test, y_test = rings(500, "test")
    assert accuracy(best, x_test, y_test) > 0.95
    assert torch.equal(best(x_test), again(x_test))
