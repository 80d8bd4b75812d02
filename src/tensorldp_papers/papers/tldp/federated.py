"""TLDP's Type III: users learn together and release their parameters, or the server releases the average."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from tensorldp.mechanisms import Box
from tensorldp_papers.nets.federated import ParameterRelease
from tensorldp_papers.nets.train import (
    empty_model,
    evaluate,
    has_buffers,
    kept,
    parameter_release,
    restored,
    train_federated,
)
from tensorldp_papers.papers.tldp.settings import FederatedCell, FederatedFactors, LearningTraining
from tensorldp_papers.run.method import Audited, InsideMethod, Rows, Trained
from tensorldp_papers.run.privacy import describe
from tensorldp_papers.run.records import Records, read_records
from tensorldp_papers.run.streams import mechanism_on

STAND_IN = (8, 8)


def run_guarantee(release: ParameterRelease, buffers: bool) -> dict[str, Any]:
    """One user's parameters over all rounds: every round releases the whole vector again."""
    notes = list(release.notes)
    if buffers:
        notes.append("batch-norm running statistics are released unperturbed and are not covered")
    return describe(release.run_curve(), "run", notes)


class Federated(InsideMethod[LearningTraining, FederatedFactors]):
    """The mechanism works inside the training; models are scored on clean test records."""

    def train(
        self, cell: FederatedCell, records: Records, seed: int, device: torch.device, weights: Path | None = None
    ) -> Trained:
        return kept(*train_federated(cell, records, seed, device, weights))

    def evaluate(self, cell: FederatedCell, test: Records, trained: Trained, seed: int, device: torch.device) -> Rows:
        model, scaling = restored(cell, test, trained)
        return evaluate(model, test, scaling, device)

    def guarantee(self, cell: FederatedCell, data: Path) -> dict[str, Any]:
        model = empty_model(cell, read_records(data / "test.safetensors").task)
        return run_guarantee(parameter_release(cell, model), has_buffers(model))

    def audited(self, cell: FederatedCell, data: Path) -> Audited:
        """The same mechanism on 64 elements: with 10^5 and more, too few samples fit to say anything."""
        clip = cell.training.clip
        return (
            mechanism_on(cell, Box(-clip, clip, STAND_IN)),
            "audited on a record of 64 elements, whose own guarantee is given beside it",
        )


METHOD = Federated()
