"""Layout, products, arithmetic and denormal numbers of networks change no function."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tensorldp.randomness import generator
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.computing import (
    Depthwise,
    Pointwise,
    arithmetic,
    as_products,
    channels_last,
    flushing_denormals,
    lay_out,
    pool_first,
)


@pytest.mark.parametrize("channels", [1, 3])
def test_channels_are_innermost_and_values_the_same(channels: int) -> None:
    x = torch.randn(4, channels, 6, 5, generator=generator())
    last = channels_last(x)
    assert torch.equal(last, x)
    assert (last.stride()[1], last.stride()[3]) == (1, channels)
    rows = torch.randn(4, 7)
    assert channels_last(rows) is rows


def test_a_network_laid_out_is_the_same_function() -> None:
    x = torch.randn(8, 3, 32, 32, generator=generator())
    plain, quick = (build("small_cnn", Task((32, 32, 3), 10), generator(1)) for _ in range(2))
    torch.testing.assert_close(lay_out(quick)(channels_last(x)), plain(x), rtol=1e-5, atol=1e-6)


def results(network: nn.Module, x: Tensor) -> list[Tensor]:
    """The output, and the gradients of some function of it by the input and all parameters."""
    at = x.clone(memory_format=torch.preserve_format).requires_grad_()
    out = network(at)
    toward = torch.randn(out.shape, generator=generator("toward"))
    return [out, *torch.autograd.grad((out * toward).sum(), [at, *network.parameters()])]


@pytest.mark.parametrize("active", [nn.ReLU, nn.Tanh])
def test_pooling_first_is_the_same_function_and_gradient(active: type[nn.Module]) -> None:
    layers = [nn.Conv2d(2, 3, 3), active(), nn.MaxPool2d(2), nn.Flatten()]
    swapped = pool_first(layers)
    assert [type(layer) for layer in swapped] == [nn.Conv2d, nn.MaxPool2d, active, nn.Flatten]
    x = torch.randn(5, 2, 10, 10, generator=generator())
    plain, quick = results(nn.Sequential(*layers), x), results(nn.Sequential(*swapped), x)
    assert torch.equal(plain[0], quick[0])
    torch.testing.assert_close(plain[1:], quick[1:], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("side", [1, 2, 5])
@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (Pointwise, {"out_channels": 7, "kernel_size": 1}),
        (Depthwise, {"out_channels": 6, "kernel_size": 3, "padding": 1, "groups": 6}),
        (Depthwise, {"out_channels": 6, "kernel_size": 3, "padding": 1, "groups": 6, "stride": 2}),
    ],
)
def test_products_are_the_convolution_and_its_gradients(
    kind: type[nn.Conv2d], settings: dict[str, Any], side: int, bias: bool
) -> None:
    plain, made = (nn.Sequential(nn.Conv2d(6, bias=bias, **settings)) for _ in range(2))
    as_products(made)
    assert type(made[0]) is kind
    made.load_state_dict(plain.state_dict())
    x = torch.randn(4, 6, side, side, generator=generator())
    torch.testing.assert_close(results(made, channels_last(x)), results(plain, x), rtol=1e-4, atol=1e-5)


def test_other_convolutions_stay() -> None:
    net = nn.Sequential(nn.Conv2d(6, 6, 3), nn.Conv2d(6, 6, 1, stride=2), nn.Conv2d(6, 6, 3, padding=1, groups=2))
    as_products(net)
    assert all(type(layer) is nn.Conv2d for layer in net)


@pytest.mark.parametrize(("precision", "expected"), [("float32", torch.float32), ("bfloat16", torch.bfloat16)])
def test_products_are_in_the_precision_and_weights_in_float32(precision: str, expected: torch.dtype) -> None:
    layer = nn.Linear(4, 3)
    with arithmetic(precision, torch.device("cpu")):
        found = layer(torch.randn(2, 4, generator=generator()))
    found.sum().backward()
    assert layer.weight.grad is not None
    assert (found.dtype, layer.weight.grad.dtype) == (expected, torch.float32)


def test_denormals_are_zero_within_alone() -> None:
    tiny = torch.tensor([1e-39])
    with flushing_denormals():
        assert float(tiny * 0.5) == 0.0
    assert float(tiny * 0.5) > 0.0
    with pytest.raises(ValueError, match="on the way"), flushing_denormals():
        raise ValueError("on the way")
    assert float(tiny * 0.5) > 0.0
