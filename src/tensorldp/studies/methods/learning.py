"""TLDP's Types I and II: every record or feature is released once, then a classifier learns from the releases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tensorldp.mechanisms import Mechanism
from tensorldp.runtime.provenance import Stopwatch
from tensorldp.studies.batches import batch_box
from tensorldp.studies.cell import CellSettings
from tensorldp.studies.evaluate import evaluate
from tensorldp.studies.guarantee import record_guarantee
from tensorldp.studies.methods.base import Arrays, Method, Rows, Trained
from tensorldp.studies.perturb import perturb
from tensorldp.studies.records import Records, Scaling, read_records
from tensorldp.studies.train import empty_model, state_arrays, train_heads_on_releases, train_on_releases

TOGETHER = 600_000_000  # elements of released records held at once, 2.4 GB


class Learning(Method):
    """Releases as float32 records; metrics on clean and on released test records."""

    def release(
        self, cell: CellSettings, records: Records, seed: int, split: str, device: torch.device
    ) -> dict[str, np.ndarray]:
        return {split: perturb(records, cell, seed, split, device).numpy()}

    def train(
        self,
        cell: CellSettings,
        records: Records,
        released: Arrays | None,
        seed: int,
        device: torch.device,
        weights: Path | None = None,
    ) -> Trained:
        assert released is not None
        model, scaling = train_on_releases(
            cell, torch.from_numpy(released["train"]), records.y, records, seed, device, weights
        )
        return Trained(state_arrays(model), {"mean": scaling.mean, "std": scaling.std})

    def train_all(
        self,
        cell: CellSettings,
        records: Records,
        released: Callable[[int], Arrays | None],
        device: torch.device,
        weights: Path | None = None,
    ) -> Iterator[tuple[int, Trained, float]]:
        """Linear heads of all seeds in one batched training, where more than one seed and the memory allow it."""
        if cell.factors["model"] != "linear" or len(cell.seeds) < 2 or len(cell.seeds) * records.x.numel() > TOGETHER:
            yield from super().train_all(cell, records, released, device, weights)
            return
        watch = Stopwatch()
        heads = train_heads_on_releases(cell, released, records, device)
        seconds = round(watch.seconds / len(cell.seeds), 3)
        for seed, (model, scaling) in heads.items():
            yield seed, Trained(state_arrays(model), {"mean": scaling.mean, "std": scaling.std}), seconds

    def evaluate(
        self,
        cell: CellSettings,
        test: Records,
        trained: Trained,
        released: Arrays | None,
        seed: int,
        device: torch.device,
    ) -> Rows:
        model = empty_model(cell, test.task)
        model.load_state_dict({key: torch.from_numpy(value) for key, value in trained.arrays.items()})
        scaling = Scaling(trained.facts["mean"], trained.facts["std"])
        perturbed = None if released is None or cell.mechanism == "none" else torch.from_numpy(released["test"])
        return evaluate(model, test, scaling, device, perturbed)

    def guarantee(self, cell: CellSettings, data: Path | None) -> dict[str, Any]:
        assert data is not None
        return record_guarantee(cell, read_records(data / "test.safetensors").box())

    def audited(self, cell: CellSettings, data: Path | None) -> tuple[Mechanism | None, str]:
        assert data is not None
        box = read_records(data / "test.safetensors").box()
        if cell.factors.get("unit") == "batch":
            return cell.mechanism_on(batch_box(box, "records")), "the record of this audit is the whole batch"
        return cell.mechanism_on(box), ""


METHOD = Learning()
