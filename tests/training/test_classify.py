"""Training and scoring a classifier."""

import pytest
import torch
from torch import nn

from tensorldp.errors import InputError
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.classify import fit, predict, scores
from tensorldp_papers.nets.reference_loops import plain_fit, plain_predict


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


def images(shape: tuple[int, ...], count: int = 200) -> tuple[torch.Tensor, torch.Tensor]:
    """Noise in which a bright corner tells the class."""
    x = torch.randn(count, *shape, generator=gen(3))
    y = torch.arange(count) % 4
    for i, label in enumerate(y.tolist()):
        x[i, :, 4 * (label // 2) :, 4 * (label % 2) :][:, :4, :4] += 1.5
    return x, y


@pytest.mark.parametrize("channels", [1, 3])
def test_training_gives_the_weights_of_the_plain_loop(channels: int) -> None:
    x, y = images((channels, 8, 8))
    task = Task((8, 8) if channels == 1 else (8, 8, 3), 4)
    quick, plain = (
        loop(build("small_cnn", task, gen()), x, y, epochs=3, batch_size=16, learning_rate=1e-3, generator=gen(1))
        for loop in (fit, plain_fit)
    )
    for a, b in zip(quick.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=2e-5)  # 39 steps of Adam of 1e-3 each
    assert torch.equal(predict(quick, x), plain_predict(plain, x))


def test_bfloat16_learns_as_much_and_gives_the_same_bits_again() -> None:
    x, y = images((1, 8, 8))
    found = [
        fit(
            build("small_cnn", Task((8, 8), 4), gen()),
            x,
            y,
            epochs=6,
            batch_size=16,
            learning_rate=3e-3,
            generator=gen(1),
            precision=precision,
        )
        for precision in ("float32", "bfloat16", "bfloat16")
    ]
    assert all(torch.equal(a, b) for a, b in zip(found[1].parameters(), found[2].parameters(), strict=True))
    assert not torch.equal(next(found[0].parameters()), next(found[1].parameters()))
    reached = [
        scores(y, predict(model, x, precision=precision))["accuracy"]
        for model, precision in zip(found[:2], ("float32", "bfloat16"), strict=True)
    ]
    assert min(reached) > 0.9
