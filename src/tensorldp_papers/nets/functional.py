"""Networks as functions of their parameters, so that one network can serve many clients' weights at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tensorldp.errors import InputError

Network = Callable[[Sequence[Tensor], Tensor], Tensor]
Layer = Callable[[Sequence[Tensor], Tensor], Tensor]


def _layer(module: nn.Module, first: int) -> tuple[Layer, int] | None:
    """A layer as a function of all parameters and its input, and how many parameters it takes from `first` on."""
    if isinstance(module, nn.Conv2d) and module.bias is not None and module.padding_mode == "zeros":
        stride, padding, dilation, groups = module.stride, module.padding, module.dilation, module.groups
        return lambda p, x: F.conv2d(x, p[first], p[first + 1], stride, padding, dilation, groups), 2
    if isinstance(module, nn.Linear) and module.bias is not None:
        return lambda p, x: F.linear(x, p[first], p[first + 1]), 2
    if isinstance(module, nn.MaxPool2d):
        size, step, margin = module.kernel_size, module.stride, module.padding
        return lambda p, x: F.max_pool2d(x, size, step, margin), 0
    if isinstance(module, nn.ReLU):
        return lambda p, x: F.relu(x), 0
    if isinstance(module, nn.Flatten) and module.start_dim == 1 and module.end_dim == -1:
        return lambda p, x: x.flatten(1), 0
    return None


def _flat(model: nn.Module) -> list[nn.Module]:
    if isinstance(model, nn.Sequential):
        return [layer for child in model for layer in _flat(child)]
    return [model]


def functional(model: nn.Module) -> Network:
    """network(parameters, x): the model with other parameters, in the order of `model.parameters()`.

    Args:
        model: a (nested) nn.Sequential of Conv2d, Linear, MaxPool2d, ReLU and Flatten.

    Raises:
        InputError: if it has another layer, such as dropout or batch-norm, whose state clients cannot share.
    """
    layers: list[Layer] = []
    first = 0
    for module in _flat(model):
        found = _layer(module, first)
        if found is None:
            raise InputError(
                f"clients cannot be simulated with a layer {type(module).__name__}: models of Conv2d, "
                "Linear, MaxPool2d, ReLU and Flatten can, such as pldp_cnn, mlp, linear and small_cnn"
            )
        layers.append(found[0])
        first += found[1]

    def network(parameters: Sequence[Tensor], x: Tensor) -> Tensor:
        for layer in layers:
            x = layer(parameters, x)
        return x

    return network


def activations(model: nn.Module, sample: Tensor) -> int:
    """The number of elements of all layers' outputs for one record, `sample` with a batch axis of 1."""
    total, x = 0, sample
    with torch.no_grad():
        for module in _flat(model):
            x = module(x)
            total += x.numel()
    return total


def convolves(model: nn.Module) -> bool:
    """Whether the model has a convolution."""
    return any(isinstance(module, nn.Conv2d) for module in model.modules())
