"""Training and scoring a classifier."""

import pytest
import torch
from torch import nn

from tensorldp.errors import InputError
from tensorldp.models import Task, build
from tensorldp.training.classify import fit, predict, scores


def gen(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def blobs(count: int = 300) -> tuple[torch.Tensor, torch.Tensor]:
    y = torch.arange(count) % 3
    return torch.randn(count, 5, generator=gen()) + 4.0 * nn.functional.one_hot(y, 5), y


def train(seed: int) -> nn.Module:
    x, y = blobs()
    model = build("linear", Task((5,), 3), gen(seed))
    return fit(model, x, y, epochs=5, batch_size=32, learning_rate=0.05, generator=gen(seed))


def test_separable_classes_are_learned() -> None:
    x, y = blobs()
    assert scores(y, predict(train(0), x))["accuracy"] > 0.97


def test_the_same_seed_gives_the_same_weights_to_the_bit() -> None:
    first, again, other = train(0), train(0), train(1)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first.parameters(), other.parameters(), strict=True))


def test_weighted_f1_is_the_sources_formula() -> None:
    y, guess = torch.tensor([0, 0, 0, 1, 1, 2]), torch.tensor([0, 0, 1, 1, 0, 1])
    f1 = []
    for k in range(3):
        tp = int(((y == k) & (guess == k)).sum())
        precision, recall = tp / max(1, int((guess == k).sum())), tp / int((y == k).sum())
        f1.append(2 * precision * recall / (precision + recall) if tp else 0.0)
    expected = sum(w * f for w, f in zip([3 / 6, 2 / 6, 1 / 6], f1, strict=True))
    assert scores(y, guess)["weighted_f1"] == pytest.approx(expected)


def test_a_model_with_nan_scores_predicts_the_first_class() -> None:
    x, _ = blobs()
    model = build("linear", Task((5,), 3), gen())
    with torch.no_grad():
        for p in model.parameters():
            p.fill_(torch.nan)
    assert predict(model, x).unique().tolist() == [0]


def test_lengths_must_agree() -> None:
    x, y = blobs()
    with pytest.raises(InputError, match="as many labels as records"):
        fit(
            build("linear", Task((5,), 3), gen()), x, y[:-1], epochs=1, batch_size=8, learning_rate=0.1, generator=gen()
        )
