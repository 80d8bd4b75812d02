"""TVG's Type III: a network trained on clean data, and its private test features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from tensorldp.audit.accuracy import profile_ceiling
from tensorldp.curves.base import PrivacyCurve
from tensorldp.deltas import REPORT_DELTA
from tensorldp.mechanisms import Box, Mechanism
from tensorldp_papers.nets.classify import predict, scores
from tensorldp_papers.nets.computing import channels_last, lay_out
from tensorldp_papers.nets.registry import seed_model
from tensorldp_papers.nets.split import MeanLSTM, SplitNet, split_net
from tensorldp_papers.nets.train import fit_cell, state_arrays
from tensorldp_papers.papers.tvg.settings import TestingCell, TestingFactors, TestingTraining
from tensorldp_papers.run.method import Audited, Rows, SharedMethod, Trained
from tensorldp_papers.run.privacy import describe
from tensorldp_papers.run.records import Records, Scaling, model_inputs, read_records
from tensorldp_papers.run.releases import batch_box, privatize_batches, record_in_batch
from tensorldp_papers.run.streams import common_stream, mechanism_on, noise_stream

FAVOURED_DIRECTIONS, FAVOURED_SHARE = 2, 0.8  # by MVG's binary allocation: a guess after TVG's code


def inputs(records: Records) -> Tensor:
    """Returns images in [-1, 1] by their public range, (N, channels, height, width); tokens as they are."""
    x = model_inputs(records.x, records.kind)
    return x if records.kind == "text" else Scaling.public(records.low, records.high)(x)


def train_clean(cell: TestingCell, records: Records, seed: int, device: torch.device) -> SplitNet:
    """Trains the cell's network on the clean records."""
    net = seed_model(split_net(cell.factors.model, records.task), common_stream(cell, seed, "model")).to(device)
    assert isinstance(net, SplitNet)
    if isinstance(net.body, MeanLSTM) and records.embedding is not None:
        net.body.use_embedding(records.embedding)
    what = f"{cell.study} {cell.factors.model}"
    fit_cell(cell, net, inputs(records).to(device), records.y.to(device), seed, what)
    return net


def directed(cell: TestingCell, workload: Tensor) -> Mechanism:
    """Makes the cell's mechanism on a record's or batch's features, with the utility subspace W (outputs, features).

    Mode 1 is the flat features: IDN and the matrix mechanism take W itself, UDN W with its right singular vectors as
    directions (Algorithm 1), MVG those directions with binary allocation. Others do not use W, and none does with
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
        "mvg": {"directions": directions, "tau": FAVOURED_SHARE, "important": FAVOURED_DIRECTIONS},
    }
    return mechanism_on(cell, box, **options.get(cell.mechanism, {}))


def record_curve(cell: TestingCell, mechanism: Mechanism) -> PrivacyCurve:
    """Computes what the mechanism of `directed` guarantees for one test record."""
    curve = mechanism.curve()
    return record_in_batch(curve) if cell.factors.unit == "batch" else curve


@torch.no_grad()
def features(net: SplitNet, records: Records, device: torch.device, batch_size: int = 500) -> Tensor:
    """Computes the body's output for all records, flat, (N, features), in (-1, 1)."""
    body = lay_out(net.to(device).eval().body)
    return torch.cat([body(channels_last(part.to(device))).flatten(1) for part in inputs(records).split(batch_size)])


def private_features(cell: TestingCell, mechanism: Mechanism, clean: Tensor, generator: torch.Generator) -> Tensor:
    """Releases the features (N, features) as their owners do, through `directed`, one by one or in batches."""
    if cell.factors.unit == "batch":
        return privatize_batches(mechanism, clean, generator, "elements")
    return mechanism.privatize(clean, generator)


def classify(net: SplitNet, released: Tensor) -> Tensor:
    """Returns predicted classes of features, (N,)."""
    return predict(net.head, released)


FEATURES = "clean test features"  # the name of the array beside the model's own


def _net(cell: TestingCell, records: Records, trained: Trained) -> SplitNet:
    net = split_net(cell.factors.model, records.task)
    net.load_state_dict({key: torch.from_numpy(value) for key, value in trained.arrays.items() if key != FEATURES})
    return net.eval()


class Testing(SharedMethod[TestingTraining, TestingFactors]):
    """`train` runs only for the cell of `none`; all cells of a data set and a model share what it gives.

    Metrics: accuracy and weighted F1 on clean features for `none`, else on private ones (`..._perturbed_test`) with
    `accuracy_ceiling`, which no classifier of such features can exceed.
    """

    def train(
        self, cell: TestingCell, records: Records, seed: int, device: torch.device, weights: Path | None = None
    ) -> Trained:
        return Trained(state_arrays(train_clean(cell, records, seed, device)))

    def common(
        self, cell: TestingCell, test: Records, trained: Trained, seed: int, device: torch.device
    ) -> dict[str, NDArray[Any]]:
        return {FEATURES: features(_net(cell, test, trained), test, device).cpu().numpy()}

    def evaluate(self, cell: TestingCell, test: Records, trained: Trained, seed: int, device: torch.device) -> Rows:
        net = _net(cell, test, trained)
        arrays = trained.arrays if FEATURES in trained.arrays else self.common(cell, test, trained, seed, device)
        clean = torch.from_numpy(arrays[FEATURES]).to(device)
        net.to(device)
        if not cell.private:
            return [{"metric": key, "value": value} for key, value in scores(test.y, classify(net, clean)).items()]
        mechanism = directed(cell, net.workload)
        private = private_features(cell, mechanism, clean, noise_stream(cell, seed, "test feature noise", device))
        rows = [
            {"metric": f"{key}_perturbed_test", "value": value}
            for key, value in scores(test.y, classify(net, private)).items()
        ]
        shares = (test.y.bincount(minlength=test.classes) / len(test.y)).tolist()
        ceiling = profile_ceiling(record_curve(cell, mechanism), shares)
        return [*rows, {"metric": "accuracy_ceiling", "value": ceiling}]

    def guarantee(self, cell: TestingCell, data: Path, models: list[Trained]) -> dict[str, Any]:
        """Describes the weakest guarantee over the seeds, for one test record; the note has the batch's own."""
        test = read_records(data / "test.safetensors")
        made = [directed(cell, _net(cell, test, trained).workload) for trained in models]
        weakest = max(made, key=lambda mechanism: mechanism.curve().epsilon(REPORT_DELTA))
        notes = [weakest.note, "the model and its directions are public"]
        if cell.factors.unit == "batch" and cell.private:
            own = weakest.curve().epsilon(REPORT_DELTA)
            notes.append(f"the noise is made for a batch of 256 records, which as a whole has epsilon {own:.4g}")
        return describe(record_curve(cell, weakest), "record", notes)

    def audited(self, cell: TestingCell, data: Path, models: list[Trained]) -> Audited:
        test = read_records(data / "test.safetensors")
        note = "the record of this audit is the whole batch" if cell.factors.unit == "batch" else ""
        return directed(cell, _net(cell, test, models[0]).workload), note


METHOD = Testing()
