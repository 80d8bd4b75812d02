"""LATENT's networks have the printed shapes and are functions of their seeds; their training takes batch by batch."""

import math
from typing import Any

import pytest
import torch
from torch import nn

from tensorldp.errors import InputError
from tensorldp.mechanisms.bits import encode_bits
from tensorldp.randomness import generator
from tensorldp_papers.nets import Task
from tensorldp_papers.nets.classify import predict
from tensorldp_papers.nets.federated import get_vector
from tensorldp_papers.papers.latent.networks import BitANN, baseline_cnn, conv_module, feature_count, printed
from tensorldp_papers.papers.latent.training import (
    checkpoint_epochs,
    class_means,
    fit_stream,
    make_optimizer,
    nearest_mean,
)

GREY, COLOUR = (28, 28), (32, 32, 3)


@pytest.mark.parametrize(
    ("shape", "layout", "features", "bits"), [(GREY, (1, 28, 28), 9216, 92_160), (COLOUR, (3, 32, 32), 2304, 23_040)]
)
def test_flattening_layers_have_the_printed_sizes(
    shape: tuple[int, ...], layout: tuple[int, ...], features: int, bits: int
) -> None:
    module = conv_module(shape, generator("conv"))
    assert module(torch.rand(2, *layout)).shape == (2, features)
    assert feature_count(shape) == features
    assert features * (1 + printed(shape).whole + printed(shape).fraction) == bits
    assert not any(p.requires_grad for p in module.parameters())
    assert not any("Dropout" in type(m).__name__ for m in module.modules())


@pytest.mark.parametrize(
    ("shape", "weights"),
    [(GREY, 320 + 18_496 + 9216 * 128 + 128 + 1290), (COLOUR, 896 + 9248 + 18_496 + 36_928 + 2304 * 512 + 512 + 5130)],
)
def test_baselines_count_their_weights(shape: tuple[int, ...], weights: int) -> None:
    assert sum(p.numel() for p in baseline_cnn(Task(shape, 10), generator("cnn")).parameters()) == weights


def test_weights_are_glorot_uniform_and_follow_the_seed() -> None:
    first, again, other = (list(conv_module(GREY, generator("conv", seed)).parameters()) for seed in (0, 0, 1))
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0], other[0])
    weight, bias = first[2], first[3]
    bound = math.sqrt(6 / (32 * 9 + 64 * 9))
    assert 0.99 * bound < float(weight.abs().max()) <= bound
    assert float(weight.square().mean()) == pytest.approx(bound**2 / 3, rel=0.03)
    assert not bias.any()


def test_the_ann_on_packed_bits_is_the_dense_network_on_centred_bits() -> None:
    net = BitANN(33 * 10, 4, width=5, dropout=0.5, generator=generator("ann")).eval()
    packed = encode_bits(torch.randn(6, 33, generator=generator("x")))
    bits = torch.tensor([[float(int(row[i // 8]) >> (7 - i % 8) & 1) for i in range(330)] for row in packed])
    assert torch.allclose(net(packed), net.body(bits - 0.5), atol=1e-6)
    net.centre(packed, block=4)
    assert torch.allclose(net.shares, bits.mean(dim=0))
    assert torch.allclose(net(packed), net.body(bits - bits.mean(dim=0)), atol=1e-6)


def test_mistakes_are_told() -> None:
    with pytest.raises(InputError, match="takes images of at least"):
        feature_count((5, 28))
    with pytest.raises(InputError, match="activation"):
        BitANN(8, 2, activation="selu", generator=generator("ann"))  # type: ignore[arg-type]


# streamed training: the same arithmetic as training at once, one batch at a time

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
    assert float((predict(first, X, batch_size=7) == Y).float().mean()) > 0.95


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


def test_mistakes_in_training_are_told() -> None:
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
