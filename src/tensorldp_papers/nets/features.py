"""Extractors of TLDP's and TVG's Type II: frozen networks whose features are bounded, with tanh in (-1, 1)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from tensorldp.errors import check_whole, unknown
from tensorldp.randomness import generator
from tensorldp_papers.extractors import EXTRACTORS, MOBILE, SPLIT, network
from tensorldp_papers.nets.classify import fit
from tensorldp_papers.nets.computing import channels_last, lay_out
from tensorldp_papers.nets.mobilenet import MOBILENET_FEATURES, MobileNet, imagenet_normalise, load_imagenet
from tensorldp_papers.nets.networks import TanhCNN
from tensorldp_papers.nets.registry import image_layout, seed_model
from tensorldp_papers.nets.split import MeanLSTM, split_net, spread
from tensorldp_papers.progress import track
from tensorldp_papers.run.records import Records, matrix_shape, model_inputs

BODY_EPOCHS = 10  # of a trained body
BODY_BATCH, MOBILE_BATCH = 256, 64  # TVG's and TLDP's
MOBILE_SHAPE = (32, MOBILENET_FEATURES // 32)


@dataclass(frozen=True)
class Extractor:
    """A frozen network and the features that it gives, each a function of a single record.

    Attributes:
        backbone: its name, one of `EXTRACTORS`.
        shape: of a record's features: (rows, columns), or (150,) of text.
        embed: from a batch of inputs in the network's own scale to its features.
        device: where it computes.
    """

    backbone: str
    shape: tuple[int, ...]
    embed: Callable[[Tensor], Tensor]
    device: torch.device

    def features(self, records: Records, workers: int = 1) -> Tensor:
        """Computes float32 features of all records, (records, *shape), in `feature_range`.

        `workers` threads share the records on a CPU, each on batches of its own: the features do not depend on it.
        """
        workers = check_whole("workers", workers, low=1)
        mobile = network(self.backbone) in MOBILE

        def embedded(part: Tensor) -> Tensor:
            with torch.no_grad():
                x = _scaled(part, records, mobile).to(self.device)
                return self.embed(channels_last(x)).cpu().flatten(1)

        parts = records.x.split(500)
        with ThreadPoolExecutor(workers if self.device.type == "cpu" else 1) as pool:
            out = list(track(pool.map(embedded, parts), f"features of {records.name}", total=len(parts)))
        return torch.cat(out).reshape(-1, *self.shape).float()


def feature_extractor(backbone: str, records: Records, device: torch.device, weights: Path | None = None) -> Extractor:
    """Returns the extractor of a name for records like these.

    `tanh_cnn` is seeded and untrained. `mobilenet_v2_tanh` is MobileNetV2 with every ReLU6 replaced by tanh, no
    fine-tuning, in evaluation mode (TLDP 5.2.2); `mobilenet_v2` has its ReLU6, as it was trained. The ImageNet weights
    of both come from `weights`. TVG's tanh networks are seeded and untrained, only their bodies; that for text takes
    word vectors that came with the data. With one of `TRAININGS` at its end, a network is trained with its head on
    these very records and their labels, without privacy, from where it would start: only then does an extractor depend
    on data. The trainings differ in their draws.

    Args:
        backbone: one of `EXTRACTORS`.
        records: the training records.
        device: where to compute.
        weights: the file of ImageNet weights, without which they are seeded.

    Raises:
        InputError: if the name is unknown, or the records do not suit the network.
    """
    shape: tuple[int, ...]
    name = network(backbone)
    if backbone not in EXTRACTORS:
        raise unknown("backbone", backbone, EXTRACTORS)
    draws = generator("features", backbone)
    if name in SPLIT:
        split = split_net(name, records.task)
        seed_model(split, draws)
        if backbone == name:
            spread(split)
        if isinstance(split.body, MeanLSTM) and records.embedding is not None:
            split.body.use_embedding(records.embedding)
        split.to(device)
        if backbone != name:
            _train_body(split, records, device, BODY_BATCH, draws, backbone)
        shape, embed = matrix_shape(split.feature_shape), lay_out(split.body).eval().forward
    elif name == "tanh_cnn":
        net = TanhCNN(*image_layout(records.shape, "the extractor tanh_cnn", 2))
        seed_model(net, draws)
        shape, embed = net.feature_shape, lay_out(net.to(device)).eval().forward
    else:
        image_layout(records.shape, f"the extractor {name}")
        mobile = MobileNet(2 if backbone == name else records.classes, tanh=name == "mobilenet_v2_tanh")
        seed_model(mobile, draws)
        if weights is not None:
            load_imagenet(mobile, weights)
        mobile.to(device)
        if backbone != name:
            _train_body(mobile, records, device, MOBILE_BATCH, draws, backbone)
        lay_out(mobile).eval()
        shape, embed = MOBILE_SHAPE, mobile.embed
    return Extractor(backbone, shape, embed, device)


def _train_body(
    net: nn.Module, records: Records, device: torch.device, batch_size: int, draws: torch.Generator, backbone: str
) -> None:
    fit(
        net,
        _scaled(records.x, records, isinstance(net, MobileNet)).to(device),
        records.y.to(device),
        epochs=BODY_EPOCHS,
        batch_size=batch_size,
        learning_rate=1e-3,
        generator=draws,
        what=f"the body of {backbone}",
    )


def _scaled(x: Tensor, records: Records, imagenet: bool = False) -> Tensor:
    """Scales the inputs of a network: text as it is, images in [-1, 1] by their public range or as ImageNet's."""
    found = model_inputs(x, records.kind)
    if records.kind == "text":
        return found
    found = (found - records.low) / (records.high - records.low)
    return imagenet_normalise(found) if imagenet else 2.0 * found - 1.0
