"""TVG's Type III: private test features of a model that was trained once on clean data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray

from tensorldp.audit.accuracy import profile_ceiling
from tensorldp.curves.guarantee import REPORT_DELTA
from tensorldp_papers.nets.classify import scores
from tensorldp_papers.nets.split import SplitNet, split_net
from tensorldp_papers.nets.train import state_arrays
from tensorldp_papers.papers.tvg.plan import TestingFactors, TestingTraining
from tensorldp_papers.papers.tvg.testing import (
    classify,
    directed,
    features,
    private_features,
    record_curve,
    train_clean,
)
from tensorldp_papers.run.method import Audited, Rows, SharedMethod, Trained
from tensorldp_papers.run.privacy import describe
from tensorldp_papers.run.records import Records, read_records
from tensorldp_papers.run.streams import TestingCell, noise_stream

FEATURES = "clean test features"  # the name of the array beside the model's own


def _net(cell: TestingCell, records: Records, trained: Trained) -> SplitNet:
    net = split_net(cell.factors.model, records.task)
    net.load_state_dict({key: torch.from_numpy(value) for key, value in trained.arrays.items() if key != FEATURES})
    return net.eval()


class Testing(SharedMethod[TestingTraining, TestingFactors]):
    """`train` runs for the cell of `none` alone; all cells of a data set and a model share what it gives.

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
        """The weakest over the seeds, for one test record; the batch's own stands in the note."""
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
