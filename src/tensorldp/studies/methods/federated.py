"""TLDP's Type III: users learn together and release their parameters, or the server releases the average."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from tensorldp.mechanisms import Box, Mechanism
from tensorldp.studies.cell import CellSettings
from tensorldp.studies.guarantee import run_guarantee
from tensorldp.studies.methods.base import Arrays, Method, Trained
from tensorldp.studies.methods.learning import Learning
from tensorldp.studies.records import Records, read_records
from tensorldp.studies.train import empty_model, has_buffers, parameter_release, state_arrays, train_federated

STAND_IN = (8, 8)


class Federated(Learning):
    """The mechanism works inside the training; models are scored as in `Learning`."""

    def train(
        self,
        cell: CellSettings,
        records: Records,
        released: Arrays | None,
        seed: int,
        device: torch.device,
        weights: Path | None = None,
    ) -> Trained:
        model, scaling = train_federated(cell, records, seed, device, weights)
        return Trained(state_arrays(model), {"mean": scaling.mean, "std": scaling.std})

    train_all = Method.train_all

    def guarantee(self, cell: CellSettings, data: Path | None) -> dict[str, Any]:
        assert data is not None
        model = empty_model(cell, read_records(data / "test.safetensors").task)
        return run_guarantee(parameter_release(cell, model), has_buffers(model))

    def audited(self, cell: CellSettings, data: Path | None) -> tuple[Mechanism | None, str]:
        """The same mechanism on 64 elements: of 10^5 and more, too few samples fit to say anything."""
        clip = cell.training["clip"]
        return (
            cell.mechanism_on(Box(-clip, clip, STAND_IN)),
            "audited on a record of 64 elements, whose own guarantee stands beside it",
        )


METHOD = Federated()
