"""LATENT's networks: the untrained convolutional modules, the ANN on bits and the baseline CNNs (4.1.1, Figures 5, 6).

The paper's own framework is Keras, so convolutions start from its defaults: Glorot-uniform weights, biases of 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from tensorldp.errors import InputError, check_whole
from tensorldp.mechanisms.bits import bytes_to_bits
from tensorldp_papers.nets.registry import image_layout, seed_model
from tensorldp_papers.task import Task

LATENT = "LATENT's convolutional module"
Activation = Literal["relu", "tanh", "sigmoid"]
_ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid}


@dataclass(frozen=True)
class Printed:
    """What the paper prints for one kind of image.

    Attributes:
        whole, fraction: bits of the whole part and of the fraction of one coded feature, without the sign.
        dense: neurons of the baseline's hidden layer.
    """

    whole: int
    fraction: int
    dense: int


MNIST, CIFAR10 = Printed(4, 5, 128), Printed(2, 7, 512)


def printed(shape: tuple[int, ...]) -> Printed:
    """Returns the printed settings for images like MNIST's (grey) or CIFAR-10's (colour)."""
    return MNIST if image_layout(shape, LATENT)[0] == 1 else CIFAR10


def _convolutions(channels: int, dropout: float) -> list[nn.Module]:
    """Builds layers 2 to the flattening one; dropout, 25% where printed, is for the baselines only.

    ReLU follows the pooling: the same function, a quarter of the work.
    """
    drop: list[nn.Module] = [nn.Dropout(dropout)] if dropout else []
    if channels == 1:
        return [nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.MaxPool2d(2), nn.ReLU(), *drop, nn.Flatten()]
    # 'same' padding on layers 2 and 6: without it 5 x 5 x 64 = 1600 features remain and not the printed 2304
    return [
        nn.Conv2d(channels, 32, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, 32, 3),
        nn.MaxPool2d(2),
        nn.ReLU(),
        *drop,
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(64, 64, 3),
        nn.MaxPool2d(2),
        nn.ReLU(),
        *drop,
        nn.Flatten(),
    ]


def feature_count(shape: tuple[int, ...]) -> int:
    """Computes r, the outputs of the flattening layer: 9216 for 28 x 28 grey images, 2304 for 32 x 32 colour images."""
    channels = image_layout(shape, LATENT)[0]
    _, height, width = image_layout(shape, LATENT, 6 if channels == 1 else 10)
    sides = [(n - 4) // 2 if channels == 1 else ((n - 2) // 2 - 2) // 2 for n in (height, width)]
    return 64 * sides[0] * sides[1]


def _seeded(model: nn.Sequential, generator: torch.Generator) -> nn.Sequential:
    seed_model(model, generator)  # for dropout
    for module in model.modules():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            nn.init.xavier_uniform_(module.weight, generator=generator)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    return model


def conv_module(shape: tuple[int, ...], generator: torch.Generator) -> nn.Sequential:
    """Builds the convolutional module, untrained: images (batch, channels, height, width) to (batch, r) features."""
    feature_count(shape)
    module = _seeded(nn.Sequential(*_convolutions(image_layout(shape, LATENT)[0], 0.0)), generator)
    return module.requires_grad_(False).eval()


def baseline_cnn(task: Task, generator: torch.Generator) -> nn.Module:
    """Builds NPCNN, the whole network without privacy: the same convolutions with dropout, and two dense layers."""
    channels = image_layout(task.shape, LATENT)[0]
    dense = printed(task.shape).dense
    model = nn.Sequential(
        *_convolutions(channels, 0.25),
        nn.Linear(feature_count(task.shape), dense),
        nn.ReLU(),
        nn.Dropout(0.5),
        nn.Linear(dense, task.classes),
    )
    return _seeded(model, generator)


class BitANN(nn.Module):
    """The ANN module: packed bit strings to class scores, one hidden layer with dropout.

    Bits enter as 0 and 1 less `shares`, the share of ones at each place. That is the same family of functions, but
    most bits of most images agree, and what they have in common would drown the gradient of 92,160 of them.

    Args:
        bits: r l, the length of one string.
        classes: outputs.
        width: neurons of the hidden layer.
        activation: the activation of the hidden layer.
        dropout: share of hidden neurons dropped in training.
        generator: a CPU generator for weights and dropout.

    Input uint8 (batch, ceil(bits / 8)); output (batch, classes). Only the batch is unpacked.
    """

    def __init__(
        self,
        bits: int,
        classes: int,
        *,
        width: int = 128,
        activation: Activation = "relu",
        dropout: float = 0.5,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.bits = check_whole("bits", bits, low=1)
        if activation not in _ACTIVATIONS:
            raise InputError(f"activation must be one of {', '.join(_ACTIVATIONS)}, got {activation!r}")
        self.body = nn.Sequential(
            nn.Linear(bits, width), _ACTIVATIONS[activation](), nn.Dropout(dropout), nn.Linear(width, classes)
        )
        _seeded(self.body, generator)
        self.shares: Tensor
        self.register_buffer("shares", torch.full((self.bits,), 0.5))

    def centre(self, packed: Tensor, block: int = 500) -> None:
        """Sets `shares` to those of stored strings; of released ones this is post-processing and costs no privacy."""
        total = torch.zeros(self.bits, dtype=torch.float64, device=self.shares.device)
        for part in packed.split(block):
            total += bytes_to_bits(part.to(total.device), self.bits).sum(dim=0)
        self.shares.copy_(total / len(packed))

    def forward(self, packed: Tensor) -> Tensor:
        """Computes class scores of a batch of packed strings.

        W (b - s) + c is computed as W b + (c - W s), so that the bits stay zeros and ones, exact in bfloat16 too.
        """
        first, kind = self.body[0], packed.device.type
        assert isinstance(first, nn.Linear)
        reduced = torch.is_autocast_enabled(kind)
        bits = bytes_to_bits(packed, self.bits, torch.get_autocast_dtype(kind) if reduced else first.weight.dtype)
        with torch.autocast(kind, enabled=False):
            offset = first.bias - first.weight @ self.shares
        found: Tensor = self.body[1:](nn.functional.linear(bits, first.weight, offset))
        return found
