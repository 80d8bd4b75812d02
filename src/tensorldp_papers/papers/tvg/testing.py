"""TVG's Type III: a network trained on clean data, and its private test features."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.mechanisms import Box, Mechanism
from tensorldp_papers.nets.classify import fit, predict
from tensorldp_papers.nets.computing import channels_last, lay_out
from tensorldp_papers.nets.registry import seed_model
from tensorldp_papers.nets.split import SplitNet, split_net
from tensorldp_papers.run.records import Records, Scaling, model_inputs
from tensorldp_papers.run.releases import batch_box, privatize_batches, record_in_batch
from tensorldp_papers.run.streams import TestingCell, common_stream, mechanism_on

IMPORTANT = 2  # directions that MVG's binary allocation favours, and their share: a guess after TVG's code
SHARE = 0.8


def inputs(records: Records) -> Tensor:
    """Images in [-1, 1] by their public range, (N, channels, height, width); tokens as they are."""
    x = model_inputs(records.x, records.kind)
    return x if records.kind == "text" else Scaling.public(records.low, records.high)(x)


def train_clean(cell: TestingCell, records: Records, seed: int, device: torch.device) -> SplitNet:
    """The cell's network, trained on the clean records."""
    net = seed_model(split_net(cell.factors.model, records.task), common_stream(cell, seed, "model")).to(device)
    assert isinstance(net, SplitNet)
    settings = cell.training
    fit(
        net,
        inputs(records).to(device),
        records.y.to(device),
        epochs=settings.epochs,
        batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        generator=common_stream(cell, seed, "batches"),
        precision=cell.precision,
        what=f"{cell.study} {cell.factors.model} seed {seed}",
    )
    return net


def directed(cell: TestingCell, workload: Tensor) -> Mechanism:
    """The cell's mechanism on the features of a record or a batch, with the utility subspace W (outputs, features).

    Mode 1 is the flat features: IDN and the matrix mechanism take W itself, UDN W with its right singular vectors as
    directions (Algorithm 1), MVG those directions with binary allocation. Others have no use for W, and none has with
    `subspace: identity`, where W = E.
    """
    box = Box(-1.0, 1.0, (workload.shape[1],))
    if cell.factors.unit == "batch":
        box = batch_box(box, "elements")
    if cell.factors.subspace == "identity":
        return mechanism_on(cell, box)
    directions = torch.linalg.svd(workload)[2].T.contiguous() if cell.mechanism in ("udn", "mvg") else None
    options: dict[str, dict[str, Any]] = {
        "idn": {"workload": workload},
        "matrix": {"workload": workload},
        "udn": {"workload": workload, "directions": directions},
        "mvg": {"directions": directions, "tau": SHARE, "important": IMPORTANT},
    }
    return mechanism_on(cell, box, **options.get(cell.mechanism, {}))


def record_curve(cell: TestingCell, mechanism: Mechanism) -> PrivacyCurve:
    """What the mechanism of `directed` guarantees for one test record."""
    curve = mechanism.curve()
    return record_in_batch(curve) if cell.factors.unit == "batch" else curve


@torch.no_grad()
def features(net: SplitNet, records: Records, device: torch.device, batch_size: int = 500) -> Tensor:
    """The body's output for all records, flat, (N, features), in (-1, 1)."""
    body = lay_out(net.to(device).eval().body)
    return torch.cat([body(channels_last(part.to(device))).flatten(1) for part in inputs(records).split(batch_size)])


def private_features(cell: TestingCell, mechanism: Mechanism, clean: Tensor, generator: torch.Generator) -> Tensor:
    """The features (N, features) as their owners release them through `directed`, one by one or in batches."""
    if cell.factors.unit == "batch":
        return privatize_batches(mechanism, clean, generator, "elements")
    return mechanism.privatize(clean, generator)


def classify(net: SplitNet, released: Tensor) -> Tensor:
    """Predicted classes of features, (N,)."""
    return predict(net.head, released)
