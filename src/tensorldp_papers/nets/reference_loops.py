"""The loops as a tutorial writes them: what the quick ones are tested and measured against."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def plain_fit(
    model: nn.Module,
    x: Tensor,
    y: Tensor,
    *,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    generator: torch.Generator,
) -> nn.Module:
    """Trains as `tensorldp_papers.nets.classify.fit` in float32, with contiguous images and Adam's plain loop."""
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=learning_rate, foreach=False)
    model.train()
    for _ in range(epochs):
        for batch in torch.randperm(len(x), generator=generator).split(batch_size):
            if len(batch) > 1:
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
                optimizer.step()
    return model


@torch.no_grad()
def plain_predict(model: nn.Module, x: Tensor, batch_size: int = 500) -> Tensor:
    """Predicts as `tensorldp_papers.nets.classify.predict` in float32."""
    model.eval()
    return torch.cat([model(part).argmax(dim=1) for part in x.split(batch_size)])
