"""Streamed training: the same arithmetic as training at once, one batch at a time; and the nearest class mean."""

from typing import Any

import pytest
import torch
from torch import nn

from tensorldp.errors import InputError
from tensorldp.randomness import generator
from tensorldp_papers.nets.federated import get_vector
from tensorldp_papers.papers.latent.networks import BitANN
from tensorldp_papers.papers.latent.training import (
    checkpoint_epochs,
    class_means,
    fit_stream,
    make_optimizer,
    nearest_mean,
    predict_stream,
)

CPU = torch.device("cpu")
Y = torch.arange(60) % 3
X = torch.randint(0, 256, (60, 6), generator=generator("bits"), dtype=torch.uint8)
X[:, 0] = torch.tensor([0x00, 0x0F, 0xF0], dtype=torch.uint8)[Y]


def net() -> BitANN:
    return BitANN(48, 3, width=8, dropout=0.0, generator=generator("net"))


def trained(name: str, rate: float | None = None, y: torch.Tensor = Y, **options: Any) -> BitANN:
    model, settings = net(), {"epochs": 1, "batch_size": 60, **options}
    optimizer = make_optimizer(name, model, rate)
    fit_stream(model, X, y, optimizer=optimizer, generator=generator("order"), device=CPU, **settings)
    return model


@pytest.mark.parametrize(("name", "rate"), [("sgd", 0.2), ("adadelta", None), ("adam", 0.02)])
def test_training_learns_and_is_deterministic(name: str, rate: float | None) -> None:
    seen: list[tuple[int, float]] = []
    first, again = (
        trained(name, rate, epochs=30, batch_size=16, after_epoch=lambda *told: seen.append(told)) for _ in range(2)
    )
    assert torch.equal(get_vector(first), get_vector(again))
    assert [epoch for epoch, _ in seen] == [*range(1, 31)] * 2
    assert seen[-1][1] > 0.95
    assert float((predict_stream(first, X, CPU, batch_size=7) == Y).float().mean()) > 0.95


def test_one_step_of_sgd_is_the_gradient_of_the_whole_batch() -> None:
    plain = net()
    nn.functional.cross_entropy(plain(X), Y).backward()
    for a, b in zip(trained("sgd", 0.1).parameters(), plain.parameters(), strict=True):
        assert b.grad is not None
        assert torch.allclose(a, b - 0.1 * b.grad, atol=1e-6)


def test_only_one_batch_is_prepared_at_a_time() -> None:
    sizes: list[int] = []

    def prepare(batch: torch.Tensor) -> torch.Tensor:
        sizes.append(len(batch))
        return batch

    trained("adam", batch_size=25, prepare=prepare)
    assert sizes == [25, 25, 10]


def test_checkpoints_are_spread_and_end_with_the_last_epoch() -> None:
    assert [checkpoint_epochs(*given) for given in ((10, 5), (3, 8), (50, 1))] == [[2, 4, 6, 8, 10], [1, 2, 3], [50]]


def test_mistakes_are_told() -> None:
    with pytest.raises(InputError, match="unknown optimizer 'adm': did you mean 'adam'"):
        trained("adm")
    with pytest.raises(InputError, match="as many labels as records"):
        trained("adam", y=Y[:-1])
    with pytest.raises(InputError, match="class means need records"):
        class_means(torch.zeros(0, 3), torch.zeros(0).long(), 2)


def test_class_means() -> None:
    x = torch.tensor([[0.0, 0.0], [2.0, 0.0], [5.0, 1.0]])
    means = class_means(x, torch.tensor([0, 0, 2]), 3)
    assert torch.allclose(means, torch.tensor([[1.0, 0.0], [7 / 3, 1 / 3], [5.0, 1.0]]))
    assert nearest_mean(means, torch.tensor([[0.9, 0.1], [9.0, 9.0]])).tolist() == [0, 2]
