"""Minibatch training in C++: what `nets.reference_loops` computes, to rounding, several times as fast."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from tensorldp.errors import InputError, check_positive
from tensorldp_papers.nets.split import SplitNet
from tensorldp_papers.run.native import build

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
    """Computes the least multiple of `LANES` that is not below it."""
    return -(-count // LANES) * LANES


def flat_layers(model: nn.Module) -> list[nn.Module]:
    """Returns the layers of nested Sequentials, and of a network in two parts, in order."""
    if isinstance(model, SplitNet):
        return [*flat_layers(model.body), nn.Flatten(), *flat_layers(model.head)]
    if isinstance(model, nn.Sequential):
        return [layer for child in model for layer in flat_layers(child)]
    return [model]


class Layout:
    """The stages of a model for records of one shape.

    Args:
        model: a (nested) nn.Sequential of the layers that `KINDS` names, in float32.
        shape: the shape of a record: (channels, height, width), or (inputs,).

    Raises:
        InputError: if it has another layer, or one of another form, or does not end in one score for each class.
    """

    def __init__(self, model: nn.Module, shape: Sequence[int]) -> None:
        self.places: list[Place] = []
        self.image: tuple[int, int, int] | None = (shape[0], shape[1], shape[2]) if len(shape) == 3 else None
        self._before: tuple[int, int, int] | None = None  # of images that a Flatten took since
        for layer in flat_layers(model):
            if not self._take(layer):
                raise InputError(f"the compiled loop cannot train a layer {layer} here: it takes {KINDS}")
        if not self.places or self.image is not None or self._features != self.places[-1].stage.outputs:
            raise InputError("the compiled loop trains networks that end in one score for each class")
        if len(list(model.parameters())) != 2 * len(self.places):
            raise InputError("the compiled loop trains networks that have each layer once")
        self.stages = (Stage * len(self.places))(*(place.stage for place in self.places))

    @property
    def inputs(self) -> int:
        """Returns how many elements a record has."""
        first = self.places[0].stage
        return int(first.height * first.width * first.channels)

    @property
    def _features(self) -> int:
        """Returns how many elements of a record leave the last layer, or the Flatten after it."""
        return math.prod(self._before or (self.places[-1].stage.outputs,))

    def _take(self, layer: nn.Module) -> bool:
        """Adds a layer; returns False if there is no such stage, or not at this place."""
        last = self.places[-1].stage if self.places else None
        if isinstance(layer, nn.Conv2d) and self.image is not None:
            return self._take_convolution(layer, self.image)
        if isinstance(layer, nn.Linear) and layer.bias is not None:
            fits = last is None or layer.in_features == self._features
            stage = Stage(0, 0, 1, 1, layer.in_features, layer.out_features, 0, 0)
            self.places.append(Place(stage, self._before))
            self._before = None
            return fits and self.image is None
        if isinstance(layer, nn.MaxPool2d) and last is not None and self.image is not None:
            first, last.pool, (channels, height, width) = not last.pool, 1, self.image
            self.image = (channels, height // 2, width // 2)
            plain: bool = (layer.kernel_size, layer.stride, layer.padding, layer.dilation) == (2, 2, 0, 1)
            return plain and not layer.ceil_mode and first and last.activation == 0 and min(self.image) > 0
        if type(layer) in ACTIVATIONS and last is not None:
            first, last.activation = not last.activation, ACTIVATIONS[type(layer)]
            return bool(first)
        if isinstance(layer, nn.Flatten) and (layer.start_dim, layer.end_dim) == (1, -1):
            if self.image is not None:  # else it was flattened before
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
        return channels == layer.in_channels and min(self.image) > 0

    def records(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Returns records and their labels as the C++ reads them.

        Raises:
            InputError: if they are not on the CPU, or are none of this network's.
        """
        if len(x) != len(y):
            raise InputError(f"training needs as many labels as records, got {len(x)} and {len(y)}")
        if any(t.device.type != "cpu" for t in (x, y)):
            raise InputError(f"the compiled loop works on the CPU, the records are on {x.device}")
        classes = self.places[-1].stage.outputs
        if len(y) and not 0 <= int(y.min()) <= int(y.max()) < classes:
            raise InputError(f"labels must be 0 to {classes - 1}, got {int(y.min())} to {int(y.max())}")
        if (size := math.prod(x.shape[1:])) != self.inputs:
            raise InputError(f"the model takes {self.inputs} inputs, a record has {size}")
        images = x.permute(0, 2, 3, 1) if self.places[0].stage.side else x
        return images.detach().float().contiguous(), y.detach().long().contiguous()

    def pack(self, parameters: Iterable[Tensor]) -> Tensor:
        """Returns the parameters in the model's order as the loop's one vector, padded with zeros."""
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

    @property
    def sums(self) -> int:
        """Returns the length of a vector of the gradients' sums."""
        sizes = [
            s.outputs * (s.side * rounded(s.side * s.channels) if s.side else rounded(s.channels)) + rounded(s.outputs)
            for s, _ in self.places
        ]
        return sum(sizes)

    def unpack(self, vectors: Tensor, *, sums: bool = False) -> list[Tensor]:
        """Undoes `pack` of one vector, or of rows of vectors: new tensors, with the same leading axes.

        In a vector of sums a linear layer's inputs are innermost.
        """
        found: list[Tensor] = []
        at, lead = 0, vectors.shape[:-1]

        def take(*shape: int) -> Tensor:
            nonlocal at
            at += torch.Size(shape).numel()
            return vectors[..., at - torch.Size(shape).numel() : at].reshape(*lead, *shape)

        for stage, flattened in self.places:
            side, outputs, channels = stage.side, stage.outputs, stage.channels
            if side:
                rows = take(outputs, side, rounded(side * channels))[..., : side * channels]
                weight = rows.reshape(*lead, outputs, side, side, channels).movedim(-1, -3)
            else:
                weight = (
                    take(outputs, rounded(channels))[..., :channels]
                    if sums
                    else take(channels, rounded(outputs))[..., :outputs].mT
                )
                weight = weight if flattened is None else _channels_first(weight, flattened)
            found += [
                weight.clone(memory_format=torch.contiguous_format),
                take(rounded(outputs))[..., :outputs].clone(),
            ]
        return found


def _padded(x: Tensor, width: int) -> Tensor:
    return nn.functional.pad(x.detach().float(), (0, width - x.shape[-1]))


def _channels_last(weight: Tensor, flattened: tuple[int, int, int]) -> Tensor:
    """Reorders the columns of (outputs, channels * height * width) so that channels are innermost."""
    return weight.reshape(-1, *flattened).permute(0, 2, 3, 1).reshape(len(weight), -1)


def _channels_first(weight: Tensor, flattened: tuple[int, int, int]) -> Tensor:
    channels, height, width = flattened
    pixels = weight.reshape(*weight.shape[:-1], height, width, channels)
    return pixels.movedim(-1, -3).reshape(weight.shape)


SOURCE = Path(str(files("tensorldp_papers.nets.compiled").joinpath("steps.cpp")))


@cache
def library() -> ctypes.CDLL:
    """Returns the compiled code."""
    return ctypes.CDLL(str(build(SOURCE)))


def address(x: Tensor | None) -> ctypes.c_void_p:
    """Returns where a tensor's elements lie; None is null."""
    return ctypes.c_void_p(None if x is None else x.data_ptr())


class CompiledLoop:
    """Steps on cross-entropy of one network on one set of records, on one thread of the CPU.

    Args:
        model: a network that `Layout` takes; its weights do not matter.
        x: (records, channels, height, width) or (records, inputs), float32, on the CPU; other shapes are flattened.
        y: (records,) class indices.
        learning_rate: that of SGD, or of Adam.

    Raises:
        InputError: if the model has another layer, labels are not those of its classes, or no C++ compiler is there.
    """

    def __init__(self, model: nn.Module, x: Tensor, y: Tensor, *, learning_rate: float) -> None:
        self.layout = Layout(model, tuple(x.shape[1:]))
        self.x, self.y = self.layout.records(x, y)
        self.learning_rate = check_positive("learning_rate", learning_rate)

    def sgd(self, parameters: Sequence[Tensor], plans: Sequence[Tensor], threads: int = 1) -> list[Tensor]:
        """Computes the parameters after the steps of each plan, all from the same: (plans, *shape), in their order.

        Args:
            parameters: float32, in the model's order; not changed.
            plans: each (steps, batch) record indices, -1 after the last record of a smaller batch.
            threads: how many plans are followed at the same time.
        """
        vectors = self.layout.pack(parameters).repeat(len(plans), 1)
        plans = self._checked(plans)
        if threads == 1:
            for vector, plan in zip(vectors, plans, strict=True):
                self._run(vector, plan, None, 0)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(lambda vector, plan: self._run(vector, plan, None, 0), vectors, plans))
        return self.layout.unpack(vectors)

    def adam(self, model: nn.Module, plans: Iterable[Tensor]) -> None:
        """Trains a model in place with Adam, its moments from zero, through plans one after the other."""
        own = list(model.parameters())
        vector, done = self.layout.pack(own), 0
        moments = torch.zeros(2, len(vector))
        for plan in plans:
            self._run(vector, self._checked([plan])[0], moments, done)
            done += len(plan)
        with torch.no_grad():
            for parameter, found in zip(own, self.layout.unpack(vector), strict=True):
                parameter.copy_(found)

    def _checked(self, plans: Sequence[Tensor]) -> list[Tensor]:
        """Returns the plans as the C++ reads them; all are looked at together, as there are many small ones."""
        plans = [plan.long().contiguous() for plan in plans]
        every = torch.cat([plan.view(-1) for plan in plans]) if plans else torch.empty(0)
        if every.numel() and not -1 <= int(every.min()) <= int(every.max()) < len(self.x):
            raise InputError(f"a plan must have indices of {len(self.x)} records, or -1")
        if plans and not bool((torch.cat([plan[:, 0] for plan in plans]) >= 0).all()):
            raise InputError("every step of a plan needs a record")
        return plans

    def _run(self, vector: Tensor, plan: Tensor, moments: Tensor | None, done: int) -> None:
        library().tensorldp_train(
            self.layout.stages,
            ctypes.c_int32(len(self.layout.stages)),
            address(vector),
            ctypes.c_int64(len(vector)),
            address(self.x),
            ctypes.c_int64(self.layout.inputs),
            address(self.y),
            address(plan),
            ctypes.c_int64(plan.shape[0]),
            ctypes.c_int64(plan.shape[1]),
            ctypes.c_float(self.learning_rate),
            address(moments),
            ctypes.c_int64(done),
        )


def planned(order: Tensor, batch_size: int, least: int = 1) -> Tensor:
    """Returns an order of records as (steps, batch), the last batch filled up with -1, or left out below `least`."""
    whole, rest = divmod(len(order), batch_size)
    steps = whole + (rest >= least and rest > 0)
    order = order[: steps * batch_size]
    return nn.functional.pad(order, (0, steps * batch_size - len(order)), value=-1).reshape(steps, batch_size)
