"""Gradients of fully connected networks written out: bit by bit those of autograd, without its graph."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tensorldp_papers.nets.compiled.loop import flat_layers
from tensorldp_papers.nets.registry import SeededDropout


class DenseGradients:
    """Writes the gradients of mean cross-entropy into `grad` of the parameters, as `backward` of it does.

    Args:
        layers: of `dense_layers`.
    """

    def __init__(self, layers: list[nn.Module]) -> None:
        self.layers = layers

    @torch.no_grad()
    def __call__(self, x: Tensor, y: Tensor) -> None:
        """Takes a batch (records, ...) and its class indices, in training mode."""
        x = x.flatten(1)
        kept: list[tuple[nn.Module, Tensor]] = []  # each layer with what its backward pass needs
        for layer in self.layers:
            if isinstance(layer, nn.Linear):
                kept.append((layer, x))
                x = F.linear(x, layer.weight, layer.bias)
            elif isinstance(layer, nn.ReLU):
                x = F.relu(x)
                kept.append((layer, x))
            elif isinstance(layer, SeededDropout) and layer.p:
                keep = torch.rand(x.shape, generator=layer.generator).ge_(layer.p)  # `layer.mask` as numbers
                kept.append((layer, keep))
                x = (x * keep).div_(1.0 - layer.p)
        back = _by_scores(x, y)
        for layer, own in reversed(kept):
            if isinstance(layer, nn.Linear):
                layer.weight.grad, layer.bias.grad = back.t() @ own, back.sum(dim=0)
                if layer is not self.layers[0]:
                    back = back @ layer.weight
            elif isinstance(layer, nn.ReLU):
                back = torch.ops.aten.threshold_backward(back, own, 0)
            elif isinstance(layer, SeededDropout):
                back = back.div_(1.0 - layer.p).mul_(own)


@torch.enable_grad()
def _by_scores(scores: Tensor, y: Tensor) -> Tensor:
    scores = scores.detach().requires_grad_()
    return torch.autograd.grad(F.cross_entropy(scores, y), scores)[0]


def dense_layers(model: nn.Module) -> list[nn.Module] | None:
    """Returns the layers of a network that `DenseGradients` takes, without those that flatten; None of any other.

    Those are Linear with biases, ReLU and SeededDropout, on the CPU in float32, all trained.
    """
    layers = [layer for layer in flat_layers(model) if not isinstance(layer, nn.Flatten)]
    takes = all(
        type(layer) in (nn.ReLU, SeededDropout) or (type(layer) is nn.Linear and layer.bias is not None)
        for layer in layers
    )
    trained = all(
        p.requires_grad and p.device.type == "cpu" and p.dtype == torch.float32 and p.is_contiguous()
        for p in model.parameters()
    )
    ends = bool(layers) and isinstance(layers[0], nn.Linear) and isinstance(layers[-1], nn.Linear)
    return layers if takes and trained and ends else None
