"""A network of convolutions and linear layers as the compiled loop sees it: its stages, and where its weights lie."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from tensorldp.errors import InputError

LANES = 16  # of steps.cpp
ACTIVATIONS: dict[type[nn.Module], int] = {nn.ReLU: 1, nn.Tanh: 2, nn.Sigmoid: 3}
KINDS = "Conv2d (stride 1), MaxPool2d of 2 x 2, Flatten, Linear, ReLU, Tanh and Sigmoid"


class Stage(ctypes.Structure):
    """A convolution or a linear layer (side 0), with the pooling and the activation after it; as in steps.cpp."""

    _fields_ = [
        (name, ctypes.c_int32)
        for name in ("side", "padding", "height", "width", "channels", "outputs", "pool", "activation")
    ]


class Place(NamedTuple):
    """How one layer's weights lie: its stage, and (channels, height, width) of what a Flatten before it took."""

    stage: Stage
    flattened: tuple[int, int, int] | None


def rounded(count: int) -> int:
    """The least multiple of `LANES` that is no less."""
    return -(-count // LANES) * LANES


def flat_layers(model: nn.Module) -> list[nn.Module]:
    """The layers of nested Sequentials in order."""
    if isinstance(model, nn.Sequential):
        return [layer for child in model for layer in flat_layers(child)]
    return [model]


class Layout:
    """The stages of a model for records of one shape.

    Args:
        model: a (nested) nn.Sequential of the layers that `KINDS` names, in float32.
        shape: of a record: (channels, height, width), or (inputs,).

    Raises:
        InputError: if it has another layer, or one of another form.
    """

    def __init__(self, model: nn.Module, shape: Sequence[int]) -> None:
        self.places: list[Place] = []
        self.image: tuple[int, int, int] | None = (shape[0], shape[1], shape[2]) if len(shape) == 3 else None
        self._before: tuple[int, int, int] | None = None  # of images that a Flatten took since
        for layer in flat_layers(model):
            if not self._take(layer):
                raise InputError(f"the compiled loop cannot train a layer {layer} here: it takes {KINDS}")
        self.stages = (Stage * len(self.places))(*(place.stage for place in self.places))

    def _take(self, layer: nn.Module) -> bool:
        """Add a layer; False if there is no such stage, or not at this place."""
        last = self.places[-1].stage if self.places else None
        if isinstance(layer, nn.Conv2d) and self.image is not None:
            return self._take_convolution(layer, self.image)
        if isinstance(layer, nn.Linear) and layer.bias is not None:
            stage = Stage(0, 0, 1, 1, layer.in_features, layer.out_features, 0, 0)
            self.places.append(Place(stage, self._before))
            self._before = None
            return self.image is None
        if isinstance(layer, nn.MaxPool2d) and last is not None and self.image is not None:
            last.pool, (channels, height, width) = 1, self.image
            self.image = (channels, height // 2, width // 2)
            plain: bool = (layer.kernel_size, layer.stride, layer.padding, layer.dilation) == (2, 2, 0, 1)
            return plain and not layer.ceil_mode and last.activation == 0
        if type(layer) in ACTIVATIONS and last is not None:
            first, last.activation = not last.activation, ACTIVATIONS[type(layer)]
            return bool(first)
        if isinstance(layer, nn.Flatten) and (layer.start_dim, layer.end_dim) == (1, -1):
            self._before, self.image = self.image if self.places else None, None
            return True
        return False

    def _take_convolution(self, layer: nn.Conv2d, image: tuple[int, int, int]) -> bool:
        (side, across), padding = layer.kernel_size, layer.padding[0]
        plain = (layer.stride, layer.dilation, layer.groups, layer.padding_mode) == ((1, 1), (1, 1), 1, "zeros")
        if not plain or side != across or layer.bias is None or layer.padding not in ((0, 0), (padding, padding)):
            return False
        channels, height, width = image
        self.places.append(Place(Stage(side, int(padding), height, width, channels, layer.out_channels, 0, 0), None))
        self.image = (layer.out_channels, height + 2 * int(padding) - side + 1, width + 2 * int(padding) - side + 1)
        return True

    def pack(self, parameters: Iterable[Tensor]) -> Tensor:
        """The parameters in the model's order as the loop's one vector, padded with zeros."""
        parts: list[Tensor] = []
        own = iter(parameters)
        for (stage, flattened), weight, bias in zip(self.places, own, own, strict=False):
            if stage.side:
                rows = weight.permute(0, 2, 3, 1).reshape(stage.outputs, stage.side, -1)
                parts.append(_padded(rows, rounded(rows.shape[-1])))
            else:
                columns = weight if flattened is None else _channels_last(weight, flattened)
                parts.append(_padded(columns.T, rounded(stage.outputs)))
            parts.append(_padded(bias, rounded(stage.outputs)))
        return torch.cat([part.reshape(-1) for part in parts])

    def unpack(self, vector: Tensor) -> list[Tensor]:
        """`pack` undone: new tensors."""
        found: list[Tensor] = []
        at = 0

        def take(*shape: int) -> Tensor:
            nonlocal at
            at += torch.Size(shape).numel()
            return vector[at - torch.Size(shape).numel() : at].reshape(shape)

        for stage, flattened in self.places:
            side, outputs, channels = stage.side, stage.outputs, stage.channels
            if side:
                rows = take(outputs, side, rounded(side * channels))[..., : side * channels]
                weight = rows.reshape(outputs, side, side, channels).permute(0, 3, 1, 2)
            else:
                weight = take(channels, rounded(outputs))[:, :outputs].T
                weight = weight if flattened is None else _channels_first(weight, flattened)
            found += [weight.clone(memory_format=torch.contiguous_format), take(rounded(outputs))[:outputs].clone()]
        return found


def _padded(x: Tensor, width: int) -> Tensor:
    return nn.functional.pad(x.detach().float(), (0, width - x.shape[-1]))


def _channels_last(weight: Tensor, flattened: tuple[int, int, int]) -> Tensor:
    """(outputs, channels * height * width) with channels innermost."""
    return weight.reshape(-1, *flattened).permute(0, 2, 3, 1).reshape(len(weight), -1)


def _channels_first(weight: Tensor, flattened: tuple[int, int, int]) -> Tensor:
    channels, height, width = flattened
    return weight.reshape(-1, height, width, channels).permute(0, 3, 1, 2).reshape(len(weight), -1)
