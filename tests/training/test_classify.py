"""Training and scoring a classifier, one or several linear heads together, and trainings that diverged."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp.randomness import generator
from tensorldp_papers.nets import Task, build, classify
from tensorldp_papers.nets.classify import fit, predict, scores
from tensorldp_papers.nets.dense import dense_layers
from tensorldp_papers.nets.federated import get_vector
from tensorldp_papers.nets.reference_loops import plain_fit, plain_predict
from tensorldp_papers.nets.registry import seed_model
from tensorldp_papers.papers.tldp.linear_heads import fit_linear_heads
from tensorldp_papers.run.method import diverged
from tensorldp_papers.run.native import LOOPS, available

COMPILER = pytest.mark.skipif(not available(LOOPS), reason="no C++ compiler here")
Y = torch.arange(300) % 3
BLOBS = torch.randn(300, 5, generator=generator("blobs")) + 4.0 * nn.functional.one_hot(Y, 5)


def linear(seed: int = 0, **changes: Any) -> nn.Module:
    model = build("linear", Task((5,), 3), generator("linear", seed))
    options = {"epochs": 5, "batch_size": 32, "learning_rate": 0.05, "generator": generator("order", seed), **changes}
    return fit(model, BLOBS, Y, **options)


def test_separable_classes_are_learned_and_the_same_seed_gives_the_same_weights_to_the_bit() -> None:
    first, again, other = linear(0), linear(0), linear(1)
    assert scores(Y, predict(first, BLOBS))["accuracy"] > 0.97
    assert torch.equal(get_vector(first), get_vector(again))
    assert not torch.equal(get_vector(first), get_vector(other))


def test_weighted_f1_is_the_sources_formula() -> None:
    y, guess = torch.tensor([0, 0, 0, 1, 1, 2]), torch.tensor([0, 0, 1, 1, 0, 1])
    # F1 of a class is 2 TP / (2 TP + FP + FN), weighted by its share of the records
    assert scores(y, guess)["weighted_f1"] == pytest.approx(3 / 6 * 4 / 6 + 2 / 6 * 2 / 5 + 1 / 6 * 0)


def test_a_model_with_nan_scores_predicts_the_first_class() -> None:
    model = linear(epochs=1)
    nn.init.constant_(next(model.parameters()), torch.nan)
    assert predict(model, BLOBS).unique().tolist() == [0]


def test_lengths_must_agree() -> None:
    model = build("linear", Task((5,), 3), generator())
    with pytest.raises(InputError, match="as many labels as records"):
        fit(model, BLOBS, Y[:-1], epochs=1, batch_size=8, learning_rate=0.1, generator=generator())


def images(channels: int, count: int = 200) -> tuple[Tensor, Tensor, Task]:
    """Noise in which a bright corner tells the class."""
    x, y = torch.randn(count, channels, 8, 8, generator=generator("images")), torch.arange(count) % 4
    for image, label in zip(x, y.tolist(), strict=True):
        image[:, 4 * (label // 2) :, 4 * (label % 2) :][:, :4, :4] += 1.5
    return x, y, Task((8, 8) if channels == 1 else (8, 8, 3), 4)


@pytest.mark.parametrize(
    ("channels", "precision"), [(1, "float32"), (3, "float32"), pytest.param(3, "compiled", marks=COMPILER)]
)
def test_training_gives_the_weights_of_the_plain_loop_and_the_same_bits_again(channels: int, precision: str) -> None:
    x, y, task = images(channels)
    options: dict[str, Any] = {"epochs": 3, "batch_size": 16, "learning_rate": 1e-3}
    plain = plain_fit(build("small_cnn", task, generator()), x, y, generator=generator(1), **options)
    quick, again = (
        fit(build("small_cnn", task, generator()), x, y, generator=generator(1), precision=precision, **options)
        for _ in range(2)
    )
    assert torch.equal(get_vector(quick), get_vector(again))
    # 39 steps of Adam of 1e-3 each
    torch.testing.assert_close(get_vector(quick), get_vector(plain), rtol=1e-3, atol=2e-5)
    assert torch.equal(predict(quick, x), plain_predict(plain, x))


@pytest.mark.parametrize("model", ["fcn", "mlp", "linear"])
@pytest.mark.parametrize("shape", [(12,), (8, 8)])
def test_gradients_written_out_have_the_bits_of_autograds(
    model: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    task = Task(shape, 3)
    x, y = torch.randn(150, *([1] * (len(shape) == 2)), *shape, generator=generator("x")), torch.arange(150) % 3
    options: dict[str, Any] = {"epochs": 4, "batch_size": 64, "learning_rate": 1e-2}
    assert dense_layers(build(model, task, generator()))
    written = fit(build(model, task, generator()), x, y, generator=generator(1), **options)
    monkeypatch.setattr(classify, "dense_layers", lambda _: None)
    graph = fit(build(model, task, generator()), x, y, generator=generator(1), **options)
    assert torch.equal(get_vector(written), get_vector(graph))
    assert not torch.equal(get_vector(written), get_vector(build(model, task, generator())))


def test_gradients_are_written_out_of_fully_connected_networks_alone() -> None:
    assert dense_layers(build("small_cnn", Task((8, 8), 3), generator())) is None
    assert dense_layers(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))) is None
    assert dense_layers(nn.Sequential(nn.Linear(3, 4, bias=False), nn.Linear(4, 2))) is None
    frozen = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    frozen[0].requires_grad_(False)
    assert dense_layers(frozen) is None


def test_bfloat16_learns_as_much_and_gives_the_same_bits_again() -> None:
    x, y, task = images(1)
    options: dict[str, Any] = {"epochs": 6, "batch_size": 16, "learning_rate": 3e-3}
    weights = []
    for precision in ("float32", "bfloat16", "bfloat16"):
        model = build("small_cnn", task, generator())
        fit(model, x, y, generator=generator(1), precision=precision, **options)
        assert scores(y, predict(model, x, precision=precision))["accuracy"] > 0.9
        weights.append(get_vector(model))
    assert torch.equal(weights[1], weights[2])
    assert not torch.equal(weights[0], weights[1])


def heads() -> list[nn.Linear]:
    made = [nn.Linear(12, 3) for _ in range(4)]
    for k, head in enumerate(made):
        seed_model(head, generator("head", k))
    return made


@pytest.mark.parametrize("records", [2, 63, 65])  # a last batch of one record is left out by both
def test_linear_heads_trained_together_have_the_weights_of_each_training_alone(records: int) -> None:
    x = list(torch.randn(4, records, 12, generator=generator("heads")))
    y = torch.arange(records) % 3
    start, alone, together = heads(), heads(), heads()
    options: dict[str, Any] = {"epochs": 20, "batch_size": 32, "learning_rate": 0.01}
    for k, (head, part) in enumerate(zip(alone, x, strict=True)):
        fit(head, part, y, generator=generator("order", k), **options)
    fit_linear_heads(together, x, y, generators=[generator("order", k) for k in range(4)], **options)
    for a, b, before in zip(alone, together, start, strict=True):
        torch.testing.assert_close(get_vector(a), get_vector(b), rtol=0, atol=1e-5)
        assert float((get_vector(a) - get_vector(before)).abs().max()) > 0.05


@pytest.mark.parametrize(("rate", "found"), [(1e30, True), (1e-3, False)])
def test_a_learning_rate_without_sense_is_found_out(rate: float, found: bool) -> None:
    weights = linear(epochs=2, learning_rate=rate).state_dict()
    assert bool(diverged({name: value.numpy() for name, value in weights.items()})) is found


def test_whole_numbers_and_empty_arrays_are_no_divergence() -> None:
    arrays = {"count": np.array([10**15]), "none": np.empty(0), "weights": np.array([1e3, -2.0])}
    assert diverged(arrays) == ""
    assert diverged(arrays | {"bias": np.array([1.0, np.nan])}) == "bias"
