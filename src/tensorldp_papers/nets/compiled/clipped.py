"""Sums of clipped per-example gradients in C++: what `nets.example_gradients` computes, to rounding."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from tensorldp.domain import Box
from tensorldp.errors import InputError
from tensorldp_papers.nets.compiled.loop import Layout, address, library

BATCH = 64  # records whose gradients are held at once


class CompiledGradients:
    """Sums of clipped per-example gradients of cross-entropy, of one network on records of one shape.

    One thread at a time may ask for them.

    Args:
        model: a network that `Layout` takes, on the CPU; its weights are read at each sum.
        shape: that of a record: (channels, height, width) or (inputs,).

    Raises:
        InputError: if the model has another layer, or no C++ compiler is there.
    """

    def __init__(self, model: nn.Module, shape: Sequence[int]) -> None:
        self.layout = Layout(model, shape)
        self.own = list(model.parameters())
        if not all(p.requires_grad for p in self.own):
            raise InputError("gradients in C++ are those of a network whose parameters are all trained")
        self.vector = self.layout.pack(self.own)
        make, free = library().tensorldp_clipper, library().tensorldp_free_clipper
        make.restype = ctypes.c_void_p
        stages, depth = self.layout.stages, ctypes.c_int32(len(self.layout.stages))
        self.handle = ctypes.c_void_p(make(stages, depth, address(self.vector), ctypes.c_int64(BATCH)))
        weakref.finalize(self, free, self.handle)

    def clipped_sums(self, x: Tensor, y: Tensor, norm: str, clip: float) -> list[Tensor]:
        """Computes what `nets.private_sgd.clipped_sums` does of all examples' gradients: float64, by parameter."""
        self.vector.copy_(self.layout.pack(self.own))
        records, labels = self.layout.records(x, y)
        low, high = (0.0, 0.0) if norm == "l2" else Box(-clip, clip, (1,)).ends(torch.float32)
        sums = torch.zeros(self.layout.sums, dtype=torch.float64)
        library().tensorldp_clipped_sums(
            self.handle,
            address(records),
            ctypes.c_int64(self.layout.inputs),
            address(labels),
            ctypes.c_int64(len(records)),
            ctypes.c_float(low),
            ctypes.c_float(high),
            ctypes.c_double(clip if norm == "l2" else 0.0),
            address(sums),
        )
        return self.layout.unpack(sums, sums=True)
