"""torchvision's MobileNetV2 on small images, as a classifier and as TLDP's frozen feature extractor."""

from __future__ import annotations

from pathlib import Path
from pickle import UnpicklingError

import numpy as np
import torch
import torchvision
from torch import Tensor, nn

from tensorldp.errors import InputError, described
from tensorldp_papers.nets.computing import as_products
from tensorldp_papers.nets.registry import image_layout, register_model, replace_modules
from tensorldp_papers.task import Task

MOBILENET_FEATURES = 1280
IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class MobileNet(nn.Module):
    """MobileNetV2 without resizing: grey images are repeated to three channels.

    Args:
        classes: outputs of the final linear layer.
        tanh: replace every ReLU6 by tanh (TLDP, 5.2.2), so that features lie in (-1, 1).

    Input (batch, 1 or 3, height, width), standardised; output (batch, classes).
    """

    def __init__(self, classes: int, *, tanh: bool = False) -> None:
        super().__init__()
        net = torchvision.models.mobilenet_v2(weights=None, num_classes=classes)
        if tanh:
            replace_modules(net, nn.ReLU6, lambda _: nn.Tanh())
        as_products(net)
        self.features, self.classifier = net.features, net.classifier

    def embed(self, x: Tensor) -> Tensor:
        """Computes the last block averaged over space, shape (batch, 1280)."""
        found: Tensor = self.features(x.expand(-1, 3, -1, -1)).mean(dim=(2, 3))
        return found

    def forward(self, x: Tensor) -> Tensor:
        """Computes class scores of a batch of images."""
        found: Tensor = self.classifier(self.embed(x))
        return found


@register_model("mobilenet_v2")
def mobilenet_v2(task: Task) -> MobileNet:
    """Builds `MobileNet` for the task's images."""
    image_layout(task.shape, "the model mobilenet_v2")
    return MobileNet(task.classes)


def imagenet_normalise(x: Tensor) -> Tensor:
    """Takes images in [0, 1], (batch, 1 or 3, height, width), to ImageNet models' inputs: three channels, standardised.

    The constants are public, so a record's features remain a function of only that record.
    """
    mean, std = (torch.tensor(v, device=x.device).reshape(3, 1, 1) for v in (IMAGENET_MEAN, IMAGENET_STD))
    return (x.expand(-1, 3, -1, -1) - mean) / std


def load_imagenet(model: MobileNet, path: Path) -> None:
    """Loads ImageNet weights into the feature layers, in place; the head keeps its own.

    The file is torchvision's checkpoint (.pth) or has arrays under torchvision's keys (.npz).
    """
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as arrays:
                state = {key: torch.from_numpy(arrays[key]) for key in arrays.files}
        else:
            state = torch.load(path, weights_only=True, map_location="cpu")
    except (OSError, ValueError, RuntimeError, UnpicklingError) as error:
        raise InputError(f"the weights file {path} cannot be read: {described(error)}") from None
    prefix = "features."
    features = {key.removeprefix(prefix): value for key, value in state.items() if key.startswith(prefix)}
    missing = [
        key for key in model.features.state_dict() if key not in features and not key.endswith("num_batches_tracked")
    ]
    if missing:
        raise InputError(f"the weights file {path} lacks {len(missing)} layers of MobileNetV2, first {missing[0]}")
    model.features.load_state_dict(features, strict=False)
