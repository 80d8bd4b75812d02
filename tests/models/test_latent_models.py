"""LATENT's networks have the printed shapes and are functions of their seeds."""

import math

import pytest
import torch
from torch import nn

from tensorldp.errors import InputError
from tensorldp.mechanisms.bits import encode_bits
from tensorldp.randomness import generator
from tensorldp_papers.nets import Task
from tensorldp_papers.papers.latent.networks import BitANN, baseline_cnn, conv_module, feature_count, printed

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


def test_without_same_padding_cifar_would_have_1600_features() -> None:
    module = conv_module(COLOUR, generator("conv"))
    valid = (nn.Conv2d(m.in_channels, m.out_channels, 3) if isinstance(m, nn.Conv2d) else m for m in module)
    assert nn.Sequential(*valid)(torch.rand(1, 3, 32, 32)).shape == (1, 1600)


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
    with pytest.raises(InputError, match="too small"):
        feature_count((5, 28))
    with pytest.raises(InputError, match="activation"):
        BitANN(8, 2, activation="selu", generator=generator("ann"))  # type: ignore[arg-type]
