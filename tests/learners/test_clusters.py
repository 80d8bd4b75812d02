import itertools

import pytest
import torch
from torch import Tensor

from tensorldp.errors import InputError
from tensorldp.randomness import generator
from tensorldp_papers.public.means import LinearScores
from tensorldp_papers.public.unlabelled import best_names, clusters


def blobs(count: int, spread: float) -> tuple[Tensor, Tensor]:
    centres = 3.0 * torch.eye(4)
    y = torch.arange(count) % 4
    return centres[y] + spread * torch.randn(count, 4, generator=generator("blobs", count)), y


def test_clear_groups_are_found_without_labels_and_named_with_them() -> None:
    (public, _), (x, y) = blobs(400, 0.3), blobs(200, 0.3)
    named = best_names(clusters(public, 4, generator("starts")), x, y)
    assert named.accuracy(x, y) == 1.0


def test_no_other_naming_is_better() -> None:
    x, y = blobs(200, 3.0)
    scores = LinearScores(torch.randn(4, 4, generator=generator("any")), torch.zeros(4))
    found = best_names(scores, x, y).accuracy(x, y)
    each = [
        LinearScores(scores.weight[list(order)], scores.bias[list(order)]).accuracy(x, y)
        for order in itertools.permutations(range(4))
    ]
    assert found == max(each)
    assert min(each) < found


def test_too_few_rows_are_refused() -> None:
    x, _ = blobs(8, 0.3)
    with pytest.raises(InputError, match="9 clusters need at least as many"):
        clusters(x, 9, generator("starts"))
