"""How networks compute: where their channels lie in memory, their arithmetic, and denormal numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import torch
from torch import Tensor, nn


def channels_last(x: Tensor) -> Tensor:
    """The same images (batch, channels, height, width) with channels innermost, for which CPU kernels are vectorised.

    Other tensors, and tensors on a GPU, are returned as they are.
    """
    if x.dim() != 4 or x.device.type != "cpu":
        return x
    _, channels, height, width = x.shape
    if channels == 1 and x.is_contiguous():  # torch takes such images for either layout, and then for the slow one
        return x.as_strided(x.shape, (height * width, 1, width, 1))
    return x.contiguous(memory_format=torch.channels_last)


def lay_out(model: nn.Module) -> nn.Module:
    """The model, in place, with its convolutions' weights laid out as `channels_last` lays out their inputs."""
    if all(p.device.type == "cpu" for p in model.parameters()):
        model.to(memory_format=torch.channels_last)
    return model


def arithmetic(precision: str, device: torch.device) -> AbstractContextManager[object]:
    """Within it, products and convolutions of networks are in `precision`; their weights and sums stay float32."""
    return torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16")


@contextmanager
def flushing_denormals() -> Iterator[None]:
    """Within it, this thread takes float32 numbers below 1.2e-38 for 0, which make a processor many times slower.

    For networks alone: privacy curves need numbers that small.
    """
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def pool_first(layers: Sequence[nn.Module]) -> list[nn.Module]:
    """The layers with each 2 x 2 maximum before the monotone activation that it followed.

    The same function and, but for ties, the same gradient, with a quarter of the activations.
    """
    out = list(layers)
    for i, (first, second) in enumerate(itertools.pairwise(layers)):
        if isinstance(first, (nn.ReLU, nn.Tanh)) and isinstance(second, nn.MaxPool2d):
            out[i], out[i + 1] = second, first
    return out
