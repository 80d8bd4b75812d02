"""Convolutions as products."""

import pytest
import torch
from torch import nn

from tensorldp_papers.nets.computing import Depthwise, Pointwise, as_products, channels_last


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("side", [1, 2, 3, 5])
@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (Pointwise, {"out_channels": 7, "kernel_size": 1}),
        (Depthwise, {"out_channels": 6, "kernel_size": 3, "padding": 1, "groups": 6}),
        (Depthwise, {"out_channels": 6, "kernel_size": 3, "padding": 1, "groups": 6, "stride": 2}),
    ],
)
def test_they_are_the_convolution_and_its_gradients(
    kind: type[nn.Conv2d], settings: dict[str, int], side: int, bias: bool
) -> None:
    source = torch.Generator().manual_seed(0)
    parent = nn.Sequential(nn.Conv2d(6, bias=bias, **settings))  # type: ignore[arg-type]
    with torch.no_grad():
        for p in parent.parameters():
            p.normal_(generator=source)
    made = nn.Sequential(nn.Conv2d(6, bias=bias, **settings))  # type: ignore[arg-type]
    as_products(made)
    assert type(made[0]) is kind
    made.load_state_dict(parent.state_dict())
    x = torch.randn(4, 6, side, side, generator=source)
    inputs = [x.clone().requires_grad_(), channels_last(x.clone()).requires_grad_()]
    outputs = [net(at) for net, at in zip((parent, made), inputs, strict=True)]
    torch.testing.assert_close(outputs[1], outputs[0], rtol=1e-5, atol=1e-5)
    toward = torch.randn(outputs[0].shape, generator=source)
    gradients = [
        torch.autograd.grad((out * toward).sum(), [at, *net.parameters()])
        for net, at, out in zip((parent, made), inputs, outputs, strict=True)
    ]
    for a, b in zip(*gradients, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


def test_other_convolutions_stay() -> None:
    net = nn.Sequential(nn.Conv2d(6, 6, 3), nn.Conv2d(6, 6, 1, stride=2), nn.Conv2d(6, 6, 3, padding=1, groups=2))
    as_products(net)
    assert all(type(layer) is nn.Conv2d for layer in net)
