"""EfficientNet-Lite2 with ImageNet weights: features of an image, and scores of ImageNet's thousand classes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from tensorldp.errors import InputError, described

FEATURES, CLASSES = 1280, 1000
STEM = 32
# of each stage: blocks, kernel, stride of the first block, expansion, channels (Tan and Le 2019, without squeeze and
# excitation, ReLU6 for swish; width 1.1, depth 1.2)
STAGES = (
    (1, 3, 1, 1, 16),
    (3, 3, 2, 6, 24),
    (3, 5, 2, 6, 48),
    (4, 3, 2, 6, 88),
    (4, 5, 1, 6, 120),
    (5, 5, 2, 6, 208),
    (1, 3, 1, 6, 352),
)
NORM = 1e-3  # added to the variance of a batch norm


class SameConv(nn.Conv2d):
    """A convolution with TensorFlow's padding SAME: an odd number of pixels has one more at the end."""

    def forward(self, x: Tensor) -> Tensor:
        """Convolves (images, channels, height, width); each side is divided by the stride and rounded up."""
        sides = []
        for length, kernel, stride in zip(x.shape[:1:-1], self.kernel_size[::-1], self.stride[::-1], strict=True):
            missing = max((-(-length // stride) - 1) * stride + kernel - length, 0)
            sides += [missing // 2, missing - missing // 2]
        return super().forward(functional.pad(x, sides) if any(sides) else x)


def _unit(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1, *, act: bool = True) -> nn.Module:
    made: type[nn.Conv2d] = SameConv if stride > 1 else nn.Conv2d
    padding = 0 if stride > 1 else kernel // 2
    conv = made(inputs, outputs, kernel, stride, padding, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs, eps=NORM), *([nn.ReLU6(inplace=True)] if act else []))


class _Block(nn.Module):
    """Expand, filter each channel, project; added to its input where the shapes agree."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = inputs * expansion
        self.layers = nn.Sequential(
            *([_unit(inputs, wide, 1)] if expansion > 1 else []),
            _unit(wide, wide, kernel, stride, groups=wide),
            _unit(wide, outputs, 1, act=False),
        )
        self.skips = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.layers(x)
        return x + out if self.skips else out


class EfficientNetLite2(nn.Module):
    """Images in [0, 1], (images, 1 or 3, height, width), as ImageNet's classes see them."""

    def __init__(self) -> None:
        super().__init__()
        layers, width = [_unit(3, STEM, 3, 2)], STEM
        for blocks, kernel, stride, expansion, outputs in STAGES:
            for first in range(blocks):
                layers.append(_Block(width, outputs, kernel, 1 if first else stride, expansion))
                width = outputs
        self.features = nn.Sequential(*layers, _unit(width, FEATURES, 1))
        self.head = nn.Linear(FEATURES, CLASSES)

    def embed(self, x: Tensor) -> Tensor:
        """Computes the last layer averaged over space, (images, 1280), at least 0."""
        found: Tensor = self.features((x.expand(-1, 3, -1, -1) * 255.0 - 127.0) / 128.0).mean(dim=(2, 3))
        return found

    def forward(self, x: Tensor) -> Tensor:
        """Computes scores of ImageNet's classes, (images, 1000)."""
        found: Tensor = self.head(self.embed(x))
        return found


def load_lite2(model: EfficientNetLite2, path: Path) -> None:
    """Loads the weights of a file of arrays under the release's own keys (.npz), in place.

    Raises:
        InputError: if the file cannot be read or lacks a layer.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            given = {key: torch.from_numpy(arrays[key].astype(np.float32)) for key in arrays.files}
    except (OSError, ValueError) as error:
        raise InputError(f"the weights file {path} cannot be read: {described(error)}") from None
    state = model.state_dict()
    names = [key for key in state if not key.endswith("num_batches_tracked")]
    if len(given) != len(names):
        raise InputError(f"the weights file {path} has {len(given)} arrays, EfficientNet-Lite2 has {len(names)}")
    for key, (name, array) in zip(names, given.items(), strict=True):
        if array.shape != state[key].shape:
            raise InputError(
                f"{name} of the weights file {path} has the shape {tuple(array.shape)}, "
                f"EfficientNet-Lite2 needs {tuple(state[key].shape)}"
            )
        state[key] = array
    model.load_state_dict(state)
