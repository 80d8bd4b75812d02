"""Minibatch training in C++: what `nets.reference_loops` computes, to rounding, several times as fast."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

import torch
from torch import Tensor, nn

from tensorldp.errors import InputError, check_positive
from tensorldp_papers.nets.compiled.layout import Layout
from tensorldp_papers.nets.native import build

SOURCE = Path(str(files("tensorldp_papers.nets.compiled").joinpath("steps.cpp")))


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(str(build(SOURCE)))


def _address(x: Tensor | None) -> ctypes.c_void_p:
    return ctypes.c_void_p(None if x is None else x.data_ptr())


class CompiledLoop:
    """Steps on cross-entropy of one network on one set of records, on one thread of the CPU.

    Args:
        model: a network that `Layout` takes; its weights do not matter.
        x: (records, channels, height, width) or (records, inputs), float32, on the CPU; other shapes are flattened.
        y: (records,) class indices.
        learning_rate: of SGD, or of Adam.

    Raises:
        InputError: if the model has another layer, labels are not those of its classes, or no C++ compiler is there.
    """

    def __init__(self, model: nn.Module, x: Tensor, y: Tensor, *, learning_rate: float) -> None:
        if len(x) != len(y):
            raise InputError(f"training needs as many labels as records, got {len(x)} and {len(y)}")
        if any(t.device.type != "cpu" for t in (x, y)):
            raise InputError(f"the compiled loop works on the CPU, the records are on {x.device}")
        self.layout = Layout(model, tuple(x.shape[1:]))
        classes = self.layout.places[-1].stage.outputs
        if len(y) and not 0 <= int(y.min()) <= int(y.max()) < classes:
            raise InputError(f"labels must be 0 to {classes - 1}, got {int(y.min())} to {int(y.max())}")
        images = self.layout.places[0].stage.side
        self.x = (x.permute(0, 2, 3, 1) if images else x).detach().float().contiguous()
        self.y = y.detach().long().contiguous()
        self.learning_rate = check_positive("learning_rate", learning_rate)
        if self.x[:1].numel() != (self._inputs if len(x) else 0):
            raise InputError(f"the model takes {self._inputs} inputs, a record has {self.x[:1].numel()}")

    @property
    def _inputs(self) -> int:
        first = self.layout.places[0].stage
        return int(first.height * first.width * first.channels)

    def sgd(self, parameters: Sequence[Tensor], plan: Tensor) -> list[Tensor]:
        """New parameters after the steps of a plan, from given ones, in the model's order.

        Args:
            parameters: float32; not changed.
            plan: (steps, batch) record indices, -1 after the last record of a smaller batch.
        """
        vector = self.layout.pack(parameters)
        self._run(vector, plan, None, 0)
        return self.layout.unpack(vector)

    def adam(self, model: nn.Module, plans: Iterable[Tensor]) -> None:
        """Train a model in place with Adam, its moments from zero, through plans one after the other."""
        own = list(model.parameters())
        vector, done = self.layout.pack(own), 0
        moments = torch.zeros(2, len(vector))
        for plan in plans:
            self._run(vector, plan, moments, done)
            done += len(plan)
        with torch.no_grad():
            for parameter, found in zip(own, self.layout.unpack(vector), strict=True):
                parameter.copy_(found)

    def _run(self, vector: Tensor, plan: Tensor, moments: Tensor | None, done: int) -> None:
        plan = plan.long().contiguous()
        if plan.numel() and not -1 <= int(plan.min()) <= int(plan.max()) < len(self.x):
            raise InputError(f"a plan must have indices of {len(self.x)} records, or -1")
        if not bool((plan[:, 0] >= 0).all()):
            raise InputError("every step of a plan needs a record")
        _library().tensorldp_train(
            self.layout.stages,
            ctypes.c_int32(len(self.layout.stages)),
            _address(vector),
            ctypes.c_int64(len(vector)),
            _address(self.x),
            ctypes.c_int64(self._inputs),
            _address(self.y),
            _address(plan),
            ctypes.c_int64(plan.shape[0]),
            ctypes.c_int64(plan.shape[1]),
            ctypes.c_float(self.learning_rate),
            _address(moments),
            ctypes.c_int64(done),
        )


def planned(order: Tensor, batch_size: int, least: int = 1) -> Tensor:
    """(steps, batch) of an order of records, the last batch filled up with -1, or left out below `least` records."""
    whole, rest = divmod(len(order), batch_size)
    steps = whole + (rest >= least and rest > 0)
    order = order[: steps * batch_size]
    return nn.functional.pad(order, (0, steps * batch_size - len(order)), value=-1).reshape(steps, batch_size)
