"""What a method does at each stage of a cell; stages that it does not have are never asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tensorldp.mechanisms import Mechanism
from tensorldp.runtime.files import read_arrays
from tensorldp.runtime.provenance import Stopwatch
from tensorldp.studies.cell import CellSettings
from tensorldp.studies.records import Records

Arrays = Mapping[str, np.ndarray]
Rows = list[dict[str, Any]]  # {"metric": name, "value": number}


@dataclass
class Trained:
    """What `train` keeps of one seed: arrays, such as a model's state, and what else `evaluate` must know (JSON)."""

    arrays: dict[str, np.ndarray]
    facts: dict[str, Any] = field(default_factory=dict)


def read_trained(folder: Path, seed: int) -> tuple[Trained, dict[str, Any]]:
    """What `train` wrote for a seed, and the record of that run."""
    arrays, metadata = read_arrays(folder / f"seed~{seed}.safetensors")
    return Trained(arrays, json.loads(metadata["facts"])), json.loads(metadata["record"])


class Method:
    """How the cells of a study are computed; `tensorldp.config.methods` says which stages it has.

    Every hook is called for one cell and, where it has one, one seed. All randomness comes from `cell.generator`.
    """

    def release(
        self, cell: CellSettings, records: Records, seed: int, split: str, device: torch.device
    ) -> dict[str, np.ndarray]:
        """Stage `perturb`: what the owners of a split (`train` or `test`) release."""
        raise NotImplementedError

    def train(
        self,
        cell: CellSettings,
        records: Records,
        released: Arrays | None,
        seed: int,
        device: torch.device,
        weights: Path | None = None,
    ) -> Trained:
        """Stage `train`: on the released arrays (`train...` keys), or on the records with the mechanism inside.

        Args:
            weights: a file of pretrained weights, where the cell asks for them.
        """
        raise NotImplementedError

    def train_all(
        self,
        cell: CellSettings,
        records: Records,
        released: Callable[[int], Arrays | None],
        device: torch.device,
        weights: Path | None = None,
    ) -> Iterator[tuple[int, Trained, float]]:
        """Stage `train` for all seeds of a cell: (seed, what to keep, seconds), one seed after the other.

        A method whose models can be trained together does it here, with the same numbers.

        Args:
            released: reads what a seed released.
        """
        for seed in cell.seeds:
            watch = Stopwatch()
            yield seed, self.train(cell, records, released(seed), seed, device, weights), watch.seconds

    def evaluate(
        self,
        cell: CellSettings,
        test: Records,
        trained: Trained,
        released: Arrays | None,
        seed: int,
        device: torch.device,
    ) -> Rows:
        """Stage `evaluate`: scores on the test records, and on those released, if any (`test...` keys)."""
        raise NotImplementedError

    def measure(self, cell: CellSettings, data: Path | None, seed: int, device: torch.device) -> Rows:
        """Stage `measure`: all in one step, from the folder of a prepared data set (None for `synthetic`)."""
        raise NotImplementedError

    def guarantee(self, cell: CellSettings, data: Path | None) -> dict[str, Any]:
        """What the cell's releases guarantee, as `tensorldp.studies.guarantee.describe` writes it."""
        raise NotImplementedError

    def audited(self, cell: CellSettings, data: Path | None) -> tuple[Mechanism | None, str]:
        """The mechanism to audit and a note about it; None where no audit by samples can be made."""
        raise NotImplementedError

    def guarantee_of(self, cell: CellSettings, data: Path | None, models: list[Trained]) -> dict[str, Any]:
        """As `guarantee`, for methods whose mechanisms follow shared models; `models` holds one for each seed."""
        return self.guarantee(cell, data)

    def audited_of(self, cell: CellSettings, data: Path | None, models: list[Trained]) -> tuple[Mechanism | None, str]:
        """As `audited`, for methods whose mechanisms follow shared models."""
        return self.audited(cell, data)
