"""Softmax regression for several seeds at once: one batched product per step instead of one training per seed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from tensorldp_papers.progress import track

BETAS, EPSILON = (0.9, 0.999), 1e-8  # of torch.optim.Adam


class _Adam:
    """torch.optim.Adam's update, on stacked parameters."""

    def __init__(self, parameters: list[Tensor], learning_rate: float) -> None:
        self.parameters, self.rate, self.steps = parameters, learning_rate, 0
        self.first = [torch.zeros_like(p) for p in parameters]
        self.second = [torch.zeros_like(p) for p in parameters]

    def step(self, gradients: list[Tensor]) -> None:
        self.steps += 1
        size = self.rate / (1 - BETAS[0] ** self.steps)
        correction = math.sqrt(1 - BETAS[1] ** self.steps)
        for p, gradient, first, second in zip(self.parameters, gradients, self.first, self.second, strict=True):
            first.lerp_(gradient, 1 - BETAS[0])
            second.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
            p.addcdiv_(first, second.sqrt().div_(correction).add_(EPSILON), value=-size)


@torch.no_grad()
def fit_linear_heads(
    heads: Sequence[nn.Linear],
    x: Sequence[Tensor],
    y: Tensor,
    *,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    generators: Sequence[torch.Generator],
    what: str = "training",
) -> None:
    """Trains each head in place as `classify.fit` does, all of them together.

    Each head sees its own inputs, (records, features), in the order of its own CPU generator, so that its weights are
    those of a training alone up to rounding. All have one shape and the same class indices y.
    """
    features = heads[0].in_features
    weight = torch.stack([head.weight.detach() for head in heads])  # (heads, classes, features)
    bias = torch.stack([head.bias.detach() for head in heads]).unsqueeze(2)  # (heads, classes, 1)
    adam = _Adam([weight, bias], learning_rate)
    onehot = nn.functional.one_hot(y, heads[0].out_features).to(weight.dtype).T.contiguous()
    inputs = torch.empty((len(heads), batch_size, features), dtype=weight.dtype, device=weight.device)
    for epoch in range(epochs):
        orders = [torch.randperm(len(y), generator=g).to(y.device).split(batch_size) for g in generators]
        steps = [step for step in zip(*orders, strict=True) if len(step[0]) > 1]
        for step in track(steps, f"{what}, epoch {epoch + 1} of {epochs}"):
            count = len(step[0])
            batch = inputs[:, :count]
            for into, source, rows in zip(batch, x, step, strict=True):
                torch.index_select(source, 0, rows, out=into)
            # classes before records: half the time of the product the other way round
            error = torch.baddbmm(bias, weight, batch.transpose(1, 2)).softmax(dim=1)
            error -= onehot[:, torch.stack(step)].transpose(0, 1)
            error /= count
            adam.step([error @ batch, error.sum(dim=2, keepdim=True)])
    for head, w, b in zip(heads, weight, bias, strict=True):
        head.weight.copy_(w)
        head.bias.copy_(b[:, 0])
