"""How networks compute: memory layout, arithmetic, denormal numbers, and convolutions as products."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tensorldp_papers.nets.registry import replace_modules


def channels_last(x: Tensor) -> Tensor:
    """Returns the images (batch, channels, height, width) with channels innermost, which suits vectorised CPU kernels.

    Other tensors, and tensors on a GPU, are returned as they are.
    """
    if x.dim() != 4 or x.device.type != "cpu":
        return x
    _, channels, height, width = x.shape
    if channels == 1 and x.is_contiguous():  # torch takes such images for either layout, and then for the slow one
        return x.as_strided(x.shape, (height * width, 1, width, 1))
    return x.contiguous(memory_format=torch.channels_last)


def lay_out(model: nn.Module) -> nn.Module:
    """Lays out convolutions' weights, in place, as `channels_last` lays out their inputs; returns the model."""
    if all(p.device.type == "cpu" for p in model.parameters()) and any(p.dim() == 4 for p in model.parameters()):
        model.to(memory_format=torch.channels_last)
    return model


def arithmetic(precision: str, device: torch.device) -> AbstractContextManager[object]:
    """Returns a context in which networks' products and convolutions are in `precision`; sums stay float32."""
    return torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16")


@contextmanager
def flushing_denormals() -> Iterator[None]:
    """Makes this thread take float32 numbers below 1.2e-38 for 0 in a context: they slow a processor down many times.

    Only for networks: privacy curves need numbers that small.
    """
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def pool_first(layers: Sequence[nn.Module]) -> list[nn.Module]:
    """Returns the layers with each 2 x 2 maximum before the monotone activation that it followed.

    The same function and, except for ties, the same gradient, with a quarter of the activations.
    """
    out = list(layers)
    for i, (first, second) in enumerate(itertools.pairwise(layers)):
        if isinstance(first, (nn.ReLU, nn.Tanh)) and isinstance(second, nn.MaxPool2d):
            out[i], out[i + 1] = second, first
    return out


class Pointwise(nn.Conv2d):
    """A 1 x 1 convolution as one matrix product over all pixels."""

    def forward(self, x: Tensor) -> Tensor:
        """Maps (batch, channels, height, width) to (batch, outputs, height, width)."""
        if x.device.type != "cpu":
            return super().forward(x)
        return F.linear(x.permute(0, 2, 3, 1), self.weight.flatten(1), self.bias).permute(0, 3, 1, 2)


class Depthwise(nn.Conv2d):
    """A depthwise 3 x 3 convolution with a margin of 1, written out where the image has one pixel, or two by two."""

    def forward(self, x: Tensor) -> Tensor:
        """Maps (batch, channels, height, width) to (batch, channels, rows, columns)."""
        kernel, sides = self.weight[:, 0], tuple(x.shape[2:])
        if x.device.type != "cpu" or sides not in ((1, 1), (2, 2)):
            return super().forward(x)
        if sides == (1, 1):
            found = x * kernel[:, 1:2, 1:2]
        elif self.stride == (2, 2):
            found = (x * kernel[:, 1:, 1:]).sum(dim=(2, 3), keepdim=True)
        else:
            pixels = [x[:, :, i, j] for i in (0, 1) for j in (0, 1)]
            out = []
            for row in (0, 1):
                for column in (0, 1):
                    taps = [kernel[:, 1 + i - row, 1 + j - column] for i in (0, 1) for j in (0, 1)]
                    out.append(sum(pixel * tap for pixel, tap in zip(pixels, taps, strict=True)))
            found = torch.stack(out, dim=1).view(len(x), 2, 2, -1).permute(0, 3, 1, 2)  # type: ignore[arg-type]
        return found if self.bias is None else found + self.bias.view(-1, 1, 1)


def _made(old: nn.Conv2d) -> nn.Conv2d:
    pointwise = old.kernel_size == (1, 1) and old.stride == (1, 1) and old.padding == (0, 0) and old.groups == 1
    depthwise = (
        old.kernel_size == (3, 3)
        and old.padding == (1, 1)
        and old.dilation == (1, 1)
        and old.stride in ((1, 1), (2, 2))
        and old.groups == old.in_channels == old.out_channels > 1
    )
    if not pointwise and not depthwise:
        return old
    kind = Pointwise if pointwise else Depthwise
    return kind(
        old.in_channels,
        old.out_channels,
        old.kernel_size,  # type: ignore[arg-type]
        stride=old.stride,  # type: ignore[arg-type]
        padding=old.padding,  # type: ignore[arg-type]
        groups=old.groups,
        bias=old.bias is not None,
    )


def as_products(model: nn.Module) -> None:
    """Replaces 1 x 1 and depthwise 3 x 3 convolutions by `Pointwise` and `Depthwise` ones, in place, uninitialised."""
    replace_modules(model, nn.Conv2d, _made)
