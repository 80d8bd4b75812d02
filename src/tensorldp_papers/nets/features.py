"""Extractors of TLDP's and TVG's Type II: frozen networks whose features are bounded, with tanh in (-1, 1)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from torch import Tensor

from tensorldp.errors import check_whole, unknown
from tensorldp.randomness import generator
from tensorldp_papers.nets.computing import channels_last, lay_out
from tensorldp_papers.nets.mobilenet import FEATURES, MobileNet, imagenet_normalise, load_imagenet
from tensorldp_papers.nets.networks import TanhCNN
from tensorldp_papers.nets.registry import image_layout, seed_model
from tensorldp_papers.nets.split import NAMES, MeanLSTM, split_net, spread
from tensorldp_papers.run.progress import track
from tensorldp_papers.run.records import Records, matrix_shape, model_inputs

SPLIT = tuple(name for name in NAMES if name.endswith("_tanh"))
MOBILE = ("mobilenet_v2_tanh", "mobilenet_v2")
BACKBONES = ("tanh_cnn", *MOBILE, *SPLIT)
MOBILE_SHAPE = (32, FEATURES // 32)


def feature_range(backbone: str) -> tuple[float, float]:
    """The range of an extractor's features: of ReLU6's means [0, 6], of tanh's values [-1, 1]."""
    return (0.0, 6.0) if backbone == "mobilenet_v2" else (-1.0, 1.0)


def extract(
    backbone: str, records: Records, device: torch.device, weights: Path | None = None, workers: int = 1
) -> Tensor:
    """float32 features of all records, (records, rows, columns), or (records, 150) of text, in `feature_range`.

    `tanh_cnn` is seeded and untrained. `mobilenet_v2_tanh` is MobileNetV2 with every ReLU6 replaced by tanh, no
    fine-tuning, in evaluation mode (TLDP 5.2.2); `mobilenet_v2` has its ReLU6, as it was trained. The ImageNet weights
    of both come from `weights`. TVG's tanh networks are seeded and untrained, only their bodies; that for text takes
    word vectors that came with the data. All are functions of a single record.

    `weights` is the file of ImageNet weights, without which they are seeded, and `workers` the threads that share the
    records on a CPU, each on batches of its own: the features do not depend on it.
    """
    workers = check_whole("workers", workers, low=1)
    shape: tuple[int, ...]
    if backbone in SPLIT:
        split = split_net(backbone, records.task)
        seed_model(split, generator("features", backbone))
        spread(split)
        if isinstance(split.body, MeanLSTM) and records.embedding is not None:
            split.body.use_embedding(records.embedding)
        shape, embed = matrix_shape(split.feature_shape), lay_out(split.body.to(device)).eval().forward
    elif backbone == "tanh_cnn":
        channels, height, width = image_layout(records.shape)
        net = TanhCNN(channels, height, width)
        seed_model(net, generator("features", backbone))
        shape, embed = net.feature_shape, lay_out(net.to(device)).eval().forward
    elif backbone in MOBILE:
        mobile = MobileNet(2, tanh=backbone == "mobilenet_v2_tanh")
        seed_model(mobile, generator("features", backbone))
        if weights is not None:
            load_imagenet(mobile, weights)
        lay_out(mobile.to(device)).eval()
        shape, embed = MOBILE_SHAPE, mobile.embed
    else:
        raise unknown("backbone", backbone, BACKBONES)
    if backbone != "bilstm_tanh":
        image_layout(records.shape)

    def features(part: Tensor) -> Tensor:
        with torch.no_grad():
            x = model_inputs(part, records.kind).to(device)
            if records.kind != "text":
                x = (x - records.low) / (records.high - records.low)
                x = imagenet_normalise(x) if backbone in MOBILE else 2.0 * x - 1.0
            found: Tensor = embed(channels_last(x)).cpu()
            return found.flatten(1)

    parts = records.x.split(500)
    with ThreadPoolExecutor(workers if device.type == "cpu" else 1) as pool:
        out = list(track(pool.map(features, parts), f"features of {records.name}", total=len(parts)))
    return torch.cat(out).reshape(-1, *shape).float()
