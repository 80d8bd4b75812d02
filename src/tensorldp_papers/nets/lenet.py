"""The network on which gradient inversion is usually demonstrated."""

from __future__ import annotations

import torch
from torch import nn

WEIGHT_RANGE = 0.5
TRAINABLE_RANGE = 1.5


class SigmoidLeNet(nn.Sequential):
    """Three 5x5 convolutions of 12 channels (strides 2, 2, 1) with sigmoids and one linear layer [zhu2019].

    Weights and biases are U(-0.5, 0.5); convolutions U(-1.5, 1.5) if `trainable`, because sigmoids with the narrow law
    take thousands of steps to learn. Input (batch, channels, height, width); output (batch, classes).
    """

    def __init__(
        self,
        channels: int,
        height: int,
        width: int,
        classes: int,
        generator: torch.Generator,
        *,
        trainable: bool = False,
    ) -> None:
        hidden = 12 * ((height + 3) // 4) * ((width + 3) // 4)
        super().__init__(
            nn.Conv2d(channels, 12, 5, padding=2, stride=2),
            nn.Sigmoid(),
            nn.Conv2d(12, 12, 5, padding=2, stride=2),
            nn.Sigmoid(),
            nn.Conv2d(12, 12, 5, padding=2),
            nn.Sigmoid(),
            nn.Flatten(),
            nn.Linear(hidden, classes),
        )
        with torch.no_grad():
            for parameter in self.parameters():
                reach = TRAINABLE_RANGE if trainable and parameter.dim() == 4 else WEIGHT_RANGE
                parameter.uniform_(-reach, reach, generator=generator)
