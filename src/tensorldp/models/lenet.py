"""The network that gradient inversion is usually shown on."""

from __future__ import annotations

import torch
from torch import nn

WEIGHT_RANGE = 0.5


class SigmoidLeNet(nn.Sequential):
    """Three 5x5 convolutions of 12 channels (strides 2, 2, 1) with sigmoids and one linear layer (Zhu et al. 2019).

    Weights and biases are U(-0.5, 0.5). Input (batch, channels, height, width); output (batch, classes).
    """

    def __init__(self, channels: int, height: int, width: int, classes: int, generator: torch.Generator) -> None:
        hidden = 12 * ((height + 3) // 4) * ((width + 3) // 4)
        super().__init__(
            nn.Conv2d(channels, 12, 5, padding=2, stride=2), nn.Sigmoid(),
            nn.Conv2d(12, 12, 5, padding=2, stride=2), nn.Sigmoid(),
            nn.Conv2d(12, 12, 5, padding=2), nn.Sigmoid(),
            nn.Flatten(), nn.Linear(hidden, classes))
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.uniform_(-WEIGHT_RANGE, WEIGHT_RANGE, generator=generator)
