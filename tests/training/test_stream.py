"""Streamed training: the same arithmetic as training at once, one batch at a time."""

import functools

import pytest
import torch
from torch import nn

from tensorldp.errors import InputError
from tensorldp.randomness import generator
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


def strings(count: int = 60) -> tuple[torch.Tensor, torch.Tensor]:
    y = torch.arange(count) % 3
    noise = torch.randint(0, 256, (count, 6), generator=generator("bits"), dtype=torch.uint8)
    noise[:, 0] = torch.tensor([0x00, 0x0F, 0xF0], dtype=torch.uint8)[y]
    return noise, y


def net() -> BitANN:
    return BitANN(48, 3, width=8, dropout=0.0, generator=generator("net"))


def note(seen: list[tuple[int, float]], epoch: int, right: float) -> None:
    seen.append((epoch, right))


@pytest.mark.parametrize("name", ["sgd", "adadelta", "adam"])
def test_training_learns_and_is_deterministic(name: str) -> None:
    x, y = strings()
    models = []
    for _ in range(2):
        model = net()
        seen: list[tuple[int, float]] = []
        fit_stream(
            model,
            x,
            y,
            optimizer=make_optimizer(name, model, {"sgd": 0.2, "adam": 0.02}.get(name)),
            epochs=30,
            batch_size=16,
            generator=generator("order"),
            device=CPU,
            after_epoch=functools.partial(note, seen),
        )
        models.append(model)
        assert [epoch for epoch, _ in seen] == list(range(1, 31))
        assert seen[-1][1] > 0.95
    assert all(torch.equal(a, b) for a, b in zip(*(m.parameters() for m in models), strict=True))
    assert float((predict_stream(models[0], x, CPU, batch_size=7) == y).float().mean()) > 0.95


def test_one_step_of_sgd_is_the_gradient_of_the_whole_batch() -> None:
    x, y = strings()
    streamed, plain = net(), net()
    fit_stream(
        streamed,
        x,
        y,
        optimizer=make_optimizer("sgd", streamed, 0.1),
        epochs=1,
        batch_size=60,
        generator=generator("order"),
        device=CPU,
    )
    nn.functional.cross_entropy(plain(x), y).backward()
    for a, b in zip(streamed.parameters(), plain.parameters(), strict=True):
        assert b.grad is not None
        assert torch.allclose(a, b - 0.1 * b.grad, atol=1e-6)


def test_only_one_batch_is_prepared_at_a_time() -> None:
    x, y = strings()
    sizes: list[int] = []

    def prepare(batch: torch.Tensor) -> torch.Tensor:
        sizes.append(len(batch))
        return batch

    model = net()
    fit_stream(
        model,
        x,
        y,
        optimizer=make_optimizer("adam", model),
        epochs=1,
        batch_size=25,
        generator=generator("order"),
        device=CPU,
        prepare=prepare,
    )
    assert sizes == [25, 25, 10]


def test_checkpoints_are_spread_and_end_with_the_last_epoch() -> None:
    assert checkpoint_epochs(10, 5) == [2, 4, 6, 8, 10]
    assert checkpoint_epochs(3, 8) == [1, 2, 3]
    assert checkpoint_epochs(50, 1) == [50]


def test_mistakes_are_told() -> None:
    x, y = strings()
    with pytest.raises(InputError, match="unknown optimizer 'adm': did you mean 'adam'"):
        make_optimizer("adm", net())
    with pytest.raises(InputError, match="as many labels as records"):
        fit_stream(
            net(),
            x,
            y[:-1],
            optimizer=make_optimizer("adam", net()),
            epochs=1,
            batch_size=8,
            generator=generator("order"),
            device=CPU,
        )
    with pytest.raises(InputError, match="class means need records"):
        class_means(torch.zeros(0, 3), torch.zeros(0).long(), 2)


def test_class_means() -> None:
    x = torch.tensor([[0.0, 0.0], [2.0, 0.0], [5.0, 1.0]])
    means = class_means(x, torch.tensor([0, 0, 2]), 3)
    assert torch.allclose(means, torch.tensor([[1.0, 0.0], [7 / 3, 1 / 3], [5.0, 1.0]]))
    assert nearest_mean(means, torch.tensor([[0.9, 0.1], [9.0, 9.0]])).tolist() == [0, 2]
