"""Sums of clipped per-example gradients without a backward pass of its own for each example.

One backward pass gives the loss's derivative by every layer's output. With the layer's input that is every example's
gradient by the weights: an outer product for a linear layer, whose norm needs no product at all, and a small matrix
product for a convolution.

A lot's noise hides what one example may change of the sum as it is computed. Norms, scalings and sums are therefore in
float64, where no rounding that depends on the other examples comes near the noise. An example whose gradient is not
finite counts as zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tensorldp.domain import Box
from tensorldp.errors import InputError

CPU_BLOCK, GPU_BLOCK = 1 << 19, 1 << 26  # gradient elements that are clipped at once: on a CPU 2 MB, for the cache


def _examples_at_once(elements: int, like: Tensor) -> int:
    return max(1, (CPU_BLOCK if like.device.type == "cpu" else GPU_BLOCK) // elements)


def squared_norms(rows: Tensor) -> Tensor:
    """Computes squared l2 norms, (rows,), in float64."""
    norms: Tensor = torch.linalg.vector_norm(rows.flatten(1), dim=1, dtype=torch.float64)
    return norms.square()


def clip_factors(squares: list[Tensor], clip: float) -> Tensor:
    """Computes what scales each example to l2 norm `clip` at most, from squared norms; 0 where not finite."""
    norms = torch.stack(squares).sum(dim=0).sqrt()
    return torch.where(norms.isfinite(), (clip / norms).clamp_max(1.0), 0.0)


def weighted_sum(factor: Tensor, gradients: Tensor) -> Tensor:
    """Computes the sum over examples of factor times gradient, (elements,) in float64."""
    factor, rows = _counted(factor, gradients.flatten(1))
    total = rows.new_zeros(rows.shape[1], dtype=torch.float64)
    step = _examples_at_once(rows.shape[1], rows)
    for f, g in zip(factor.split(step), rows.split(step), strict=True):
        total += f @ g.double()
    return total


def _counted(factor: Tensor, *rows: Tensor) -> tuple[Tensor, ...]:
    """Returns factors and rows of the examples whose factor is not 0: 0 times infinity would not be 0."""
    kept = factor > 0.0
    if factor.device.type != "cpu":  # without reading the factors back, which would stop the GPU at every step
        return (factor, *(torch.where(kept.view(-1, *[1] * (x.dim() - 1)), x, 0.0) for x in rows))
    return (factor, *rows) if bool(kept.all()) else (factor[kept], *(x[kept] for x in rows))


def clamped_sum(gradients: Tensor, clip: float) -> Tensor:
    """Sums over examples their gradients with every element clipped to [-clip, clip] in place, NaN as 0; in float64."""
    gradients.clamp_(*Box(-clip, clip, (1,)).ends(gradients.dtype))
    if gradients.device.type != "cpu":
        return gradients.nan_to_num_().sum(dim=0, dtype=torch.float64)
    total = gradients.sum(dim=0, dtype=torch.float64)
    return total if bool(total.isfinite().all()) else gradients.nan_to_num_().sum(dim=0, dtype=torch.float64)


@dataclass
class _Linear:
    """A linear layer's inputs (examples, in) and derivatives (examples, out)."""

    inputs: Tensor
    derivatives: Tensor

    def squared_norms(self) -> list[Tensor]:
        square = squared_norms(self.derivatives)
        return [square * squared_norms(self.inputs), square]

    def weighted(self, factor: Tensor) -> list[Tensor]:
        factor, d, a = _counted(factor, self.derivatives, self.inputs)
        scaled = d.double() * factor.unsqueeze(1)
        return [scaled.T @ a.double(), scaled.sum(dim=0)]

    def clamped(self, clip: float) -> list[Tensor]:
        out, size = self.derivatives.shape[1], self.inputs.shape[1]
        total = self.inputs.new_zeros(out, size, dtype=torch.float64)
        step = _examples_at_once(out * size, self.inputs)
        for d, a in zip(self.derivatives.split(step), self.inputs.split(step), strict=True):
            total += clamped_sum(d.unsqueeze(2) * a.unsqueeze(1), clip)
        return [total, clamped_sum(self.derivatives, clip)]


class _Conv2d:
    """A convolution's gradients, (examples, out, in x height x width of the kernel), and its biases'."""

    def __init__(self, layer: nn.Conv2d, inputs: Tensor, derivatives: Tensor) -> None:
        (rows, columns), (down, across) = layer.kernel_size, layer.stride
        top, left = (int(side) for side in layer.padding)
        windows = F.pad(inputs, (left, left, top, top)).unfold(2, rows, down).unfold(3, columns, across)
        # copied with whole rows of pixels innermost, four times as fast as F.unfold
        patches = windows.permute(0, 1, 4, 5, 2, 3).reshape(len(inputs), layer.weight[0].numel(), -1)
        flat = derivatives.flatten(2)
        self.weight, self.bias = torch.bmm(flat, patches.transpose(1, 2)).flatten(1), flat.sum(dim=2)

    def squared_norms(self) -> list[Tensor]:
        return [squared_norms(self.weight), squared_norms(self.bias)]

    def weighted(self, factor: Tensor) -> list[Tensor]:
        return [weighted_sum(factor, g) for g in (self.weight, self.bias)]  # reshaped by the caller

    def clamped(self, clip: float) -> list[Tensor]:
        return [clamped_sum(g, clip) for g in (self.weight, self.bias)]


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
        """Returns whether all trainable parameters are weights and biases of layers of the two kinds."""
        return all(_known(layer) for layer in _owners(model))

    def clipped_sums(self, x: Tensor, y: Tensor, norm: str, clip: float) -> list[Tensor]:
        """Computes what `nets.private_sgd.clipped_sums` does of all examples' gradients: float64, by parameter."""
        parts = self._parts(x, y)
        if norm == "linf":
            sums = [g for part in parts for g in part.clamped(clip)]
        else:
            factor = clip_factors([s for part in parts for s in part.squared_norms()], clip)
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
