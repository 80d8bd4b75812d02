"""Sums of clipped per-example gradients without a backward pass of its own for each example.

One backward pass gives the loss's derivative by every layer's output. With the layer's input that is every example's
gradient by the weights: an outer product for a linear layer, whose norm needs no product at all, and a small matrix
product for a convolution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tensorldp.errors import InputError

BLOCK_ELEMENTS = 1 << 18  # gradient elements that are clipped at once: 1 MB, which stays in the cache


@dataclass
class _Linear:
    """A linear layer's inputs (examples, in) and derivatives (examples, out)."""

    inputs: Tensor
    derivatives: Tensor

    def squared_norms(self) -> list[Tensor]:
        square = self.derivatives.square().sum(dim=1)
        return [square * self.inputs.square().sum(dim=1), square]

    def weighted(self, factor: Tensor) -> list[Tensor]:
        scaled = self.derivatives * factor.unsqueeze(1)
        return [scaled.T @ self.inputs, scaled.sum(dim=0)]

    def clamped(self, clip: float) -> list[Tensor]:
        out, size = self.derivatives.shape[1], self.inputs.shape[1]
        total = self.inputs.new_zeros(out, size)
        step = max(1, BLOCK_ELEMENTS // (out * size))
        for d, a in zip(self.derivatives.split(step), self.inputs.split(step), strict=True):
            total += (d.unsqueeze(2) * a.unsqueeze(1)).clamp_(-clip, clip).sum(dim=0)
        return [total, self.derivatives.clamp(-clip, clip).sum(dim=0)]


class _Conv2d:
    """A convolution's gradients, (examples, out, in x height x width of the kernel), and its biases'."""

    def __init__(self, layer: nn.Conv2d, inputs: Tensor, derivatives: Tensor) -> None:
        (rows, columns), (down, across) = layer.kernel_size, layer.stride
        top, left = (int(side) for side in layer.padding)
        windows = F.pad(inputs, (left, left, top, top)).unfold(2, rows, down).unfold(3, columns, across)
        # copied with whole rows of pixels innermost, four times as fast as F.unfold
        patches = windows.permute(0, 1, 4, 5, 2, 3).reshape(len(inputs), layer.weight[0].numel(), -1)
        flat = derivatives.flatten(2)
        self.shape = layer.weight.shape
        self.weight, self.bias = torch.bmm(flat, patches.transpose(1, 2)).flatten(1), flat.sum(dim=2)

    def squared_norms(self) -> list[Tensor]:
        return [self.weight.square().sum(dim=1), self.bias.square().sum(dim=1)]

    def weighted(self, factor: Tensor) -> list[Tensor]:
        return [(factor @ self.weight).view(self.shape), factor @ self.bias]

    def clamped(self, clip: float) -> list[Tensor]:
        return [g.clamp_(-clip, clip).sum(dim=0) for g in (self.weight, self.bias)]  # reshaped by the caller


class ExampleGradients:
    """Sums of clipped per-example gradients of cross-entropy, of a network of linear layers and convolutions.

    Args:
        model: a network that `fits`.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.layers = _owners(model)

    @staticmethod
    def fits(model: nn.Module) -> bool:
        """Whether all trainable parameters are weights and biases of layers of the two kinds."""
        return all(_known(layer) for layer in _owners(model))

    def clipped_sums(self, x: Tensor, y: Tensor, norm: str, clip: float) -> list[Tensor]:
        """As `tensorldp.training.tensor_sgd.clipped_sums` of all examples' gradients, in the parameters' order.

        Args:
            x: (examples, ...) inputs.
            y: (examples,) class indices.
            norm: "linf" or "l2".
            clip: the bound, > 0.

        Raises:
            InputError: if a layer is used more than once for a batch, or a linear one on more than a row an example.
        """
        parts = self._parts(x, y)
        if norm == "linf":
            sums = [g for part in parts for g in part.clamped(clip)]
        else:
            norms = torch.stack([s for part in parts for s in part.squared_norms()]).sum(dim=0).sqrt()
            factor = (clip / norms.clamp_min(1e-12)).clamp_max(1.0)
            sums = [g for part in parts for g in part.weighted(factor)]
        own = [p for layer in self.layers for p in (layer.weight, layer.bias)]
        return [g.reshape(p.shape) for g, p in zip(sums, own, strict=True)]

    def _parts(self, x: Tensor, y: Tensor) -> list[_Linear | _Conv2d]:
        seen: dict[nn.Module, tuple[Tensor, Tensor]] = {}

        def keep(layer: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            if layer in seen or (isinstance(layer, nn.Linear) and inputs[0].dim() != 2):
                raise InputError(
                    f"private steps take a layer {type(layer).__name__} once for a batch, on one row for each example"
                )
            seen[layer] = (inputs[0].detach(), output)

        hooks = [layer.register_forward_hook(keep) for layer in self.layers]
        try:
            loss = F.cross_entropy(self.model(x), y, reduction="sum")
        finally:
            for hook in hooks:
                hook.remove()
        derivatives = torch.autograd.grad(loss, [seen[layer][1] for layer in self.layers])
        return [
            _Conv2d(layer, seen[layer][0], d) if isinstance(layer, nn.Conv2d) else _Linear(seen[layer][0], d)
            for layer, d in zip(self.layers, derivatives, strict=True)
        ]


def _owners(model: nn.Module) -> list[Any]:
    return [m for m in model.modules() if any(p.requires_grad for p in m.parameters(recurse=False))]


def _known(layer: nn.Module) -> bool:
    if not isinstance(layer, (nn.Linear, nn.Conv2d)) or layer.bias is None:
        return False
    if not (layer.weight.requires_grad and layer.bias.requires_grad):
        return False
    return isinstance(layer, nn.Linear) or (
        layer.groups == 1
        and layer.dilation == (1, 1)
        and layer.padding_mode == "zeros"
        and not isinstance(layer.padding, str)
    )
