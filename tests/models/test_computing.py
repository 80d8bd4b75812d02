"""Layout, arithmetic and denormal numbers of networks."""

import pytest
import torch
from torch import nn

from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.computing import arithmetic, channels_last, flushing_denormals, lay_out, pool_first

CPU = torch.device("cpu")


def gen(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("channels", [1, 3])
def test_channels_are_innermost_and_values_the_same(channels: int) -> None:
    x = torch.randn(4, channels, 6, 5, generator=gen())
    last = channels_last(x)
    assert torch.equal(last, x)
    assert last.stride()[1] == 1
    assert last.stride()[3] == channels


def test_other_tensors_stay() -> None:
    x = torch.randn(4, 7)
    assert channels_last(x) is x


def test_a_network_laid_out_is_the_same_function() -> None:
    x = torch.randn(8, 3, 32, 32, generator=gen())
    plain = build("small_cnn", Task((32, 32, 3), 10), gen(1))
    quick = lay_out(build("small_cnn", Task((32, 32, 3), 10), gen(1)))
    torch.testing.assert_close(quick(channels_last(x)), plain(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("active", [nn.ReLU, nn.Tanh])
def test_pooling_first_is_the_same_function_and_gradient(active: type[nn.Module]) -> None:
    layers = [nn.Conv2d(2, 3, 3), active(), nn.MaxPool2d(2), nn.Flatten()]
    swapped = pool_first(layers)
    assert [type(layer) for layer in swapped] == [nn.Conv2d, nn.MaxPool2d, active, nn.Flatten]
    x = torch.randn(5, 2, 10, 10, generator=gen())
    weight = next(layers[0].parameters())
    results = []
    for network in (nn.Sequential(*layers), nn.Sequential(*swapped)):
        found = network(x)
        results.append((found, *torch.autograd.grad(found.square().sum(), [weight])))
    assert torch.equal(results[0][0], results[1][0])
    torch.testing.assert_close(results[0][1], results[1][1], rtol=1e-6, atol=1e-6)


def test_products_are_in_the_precision_and_weights_in_float32() -> None:
    layer, x = nn.Linear(4, 3), torch.randn(2, 4, generator=gen())
    for precision, expected in (("float32", torch.float32), ("bfloat16", torch.bfloat16)):
        with arithmetic(precision, CPU):
            found = layer(x)
        found.sum().backward()
        assert found.dtype is expected
        assert layer.weight.grad is not None
        assert layer.weight.grad.dtype is torch.float32


def test_denormals_are_zero_within_alone() -> None:
    tiny = torch.tensor([1e-39])
    with flushing_denormals():
        assert float(tiny * 0.5) == 0.0
    assert float(tiny * 0.5) > 0.0
    with pytest.raises(ValueError, match="on the way"), flushing_denormals():
        raise ValueError("on the way")
    assert float(tiny * 0.5) > 0.0
