"""TLDP's Type II extractors: frozen tanh networks whose features lie in (-1, 1)."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from tensorldp.errors import unknown
from tensorldp.models.mobilenet import FEATURES, MobileNet, imagenet_normalise, load_imagenet
from tensorldp.models.registry import image_layout
from tensorldp.models.seeding import seed_model
from tensorldp.models.small import TanhCNN
from tensorldp.randomness import generator
from tensorldp.runtime.progress import track
from tensorldp.studies.records import Records, model_inputs

BACKBONES = ("tanh_cnn", "mobilenet_v2_tanh")
FEATURE_SHAPES = {"mobilenet_v2_tanh": (32, FEATURES // 32)}


@torch.no_grad()
def extract(backbone: str, records: Records, device: torch.device, weights: Path | None = None) -> Tensor:
    """float32 features in (-1, 1) of all records, (records, rows, columns).

    `tanh_cnn` is seeded and untrained. `mobilenet_v2_tanh` is MobileNetV2 with every ReLU6 replaced by tanh, no
    fine-tuning, in evaluation mode (TLDP 5.2.2); its ImageNet weights come from `weights`. Both are functions of
    one record alone.

    Raises:
        InputError: if the backbone is unknown, the records are no images or the weights cannot be read.
    """
    channels, height, width = image_layout(records.shape)
    if backbone == "tanh_cnn":
        net = TanhCNN(channels, height, width)
        seed_model(net, generator("features", backbone))
        shape, embed = net.feature_shape, net.to(device).eval().forward
    elif backbone == "mobilenet_v2_tanh":
        mobile = MobileNet(2, tanh=True)
        seed_model(mobile, generator("features", backbone))
        if weights is not None:
            load_imagenet(mobile, weights)
        mobile.to(device).eval()
        shape, embed = FEATURE_SHAPES[backbone], mobile.embed
    else:
        raise unknown("backbone", backbone, BACKBONES)
    out = []
    for part in track(records.x.split(500), f"features of {records.name}", total=-(-len(records.x) // 500)):
        x = (model_inputs(part, records.kind) - records.low) / (records.high - records.low)
        x = x.to(device)
        out.append(embed(imagenet_normalise(x) if backbone != "tanh_cnn" else 2.0 * x - 1.0).cpu())
    return torch.cat(out).reshape(-1, *shape).float()
