"""PLDP-FL 6.2.2 to 6.2.4: a hundred clients learn together, each with a privacy budget of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from tensorldp.deltas import REPORT_DELTA
from tensorldp.mechanisms import mechanism_class
from tensorldp_papers.nets.classify import accuracy, predict, scores
from tensorldp_papers.nets.federated import get_vector, set_vector
from tensorldp_papers.nets.train import empty_model, federated_inputs
from tensorldp_papers.papers.pldp_fl.rounds import (
    client_preferences,
    largest_curve,
    ledger_rows,
    new_ledger,
    personalised_average,
    selected,
    upload_of,
)
from tensorldp_papers.papers.pldp_fl.settings import PldpCell, PldpFactors, PldpTraining
from tensorldp_papers.papers.pldp_fl.simulation import ClientSimulation, deal
from tensorldp_papers.run.method import Audited, InsideMethod, Rows, Trained
from tensorldp_papers.run.privacy import LABELS, describe
from tensorldp_papers.run.records import Records, Scaling, model_inputs, read_records
from tensorldp_papers.run.streams import common_stream, noise_stream

STAND_IN = 64  # weights of an audited model: with more, too few samples fit
FLOAT_BYTES = 4


class PldpFl(InsideMethod[PldpTraining, PldpFactors]):
    """The global weights after every few rounds, and who uploaded when."""

    def train(
        self, cell: PldpCell, records: Records, seed: int, device: torch.device, weights: Path | None = None
    ) -> Trained:
        from tensorldp_papers.nets import build

        settings = cell.training
        model = build(cell.factors.model, records.task, common_stream(cell, seed, "model")).to(device)
        inputs, scaling = federated_inputs(records)
        shards = deal(
            records.y,
            settings.clients,
            common_stream(cell, seed, "clients"),
            split=settings.split,
            alpha=settings.alpha,
        )
        simulation = ClientSimulation(
            model,
            inputs.to(device),
            records.y.to(device),
            shards,
            epochs=settings.epochs,
            batch_size=settings.batch_size,
            learning_rate=settings.learning_rate,
            strategy=settings.strategy,
            memory_mb=settings.memory_mb,
            threads=settings.threads,
            compiled=cell.precision == "compiled",
        )
        ledger = new_ledger(cell, simulation.size)
        kept, marks = personalised_average(
            simulation,
            get_vector(model),
            ledger,
            selected(cell, seed),
            order=lambda purpose: common_stream(cell, seed, purpose),
            noise=lambda purpose: noise_stream(cell, seed, purpose, device),
            optimised=mechanism_class(cell.mechanism).server_weights == "inverse variance",
            every=settings.every,
            what=f"{cell.variant} {cell.mechanism} {cell.epsilon} seed {seed}",
        )
        uploads = np.array(ledger.rounds, dtype=np.uint8)
        return Trained(
            {"weights": kept.numpy(), "uploads": uploads}, {"marks": marks, "mean": scaling.mean, "std": scaling.std}
        )

    def evaluate(self, cell: PldpCell, test: Records, trained: Trained, seed: int, device: torch.device) -> Rows:
        model = empty_model(cell, test.task).to(device)
        inputs = Scaling(trained.facts["mean"], trained.facts["std"])(model_inputs(test.x, test.kind)).to(device)
        rows: Rows = []
        for mark, vector in zip(trained.facts["marks"], torch.from_numpy(trained.arrays["weights"]), strict=True):
            set_vector(model, vector.to(device))
            guess = predict(model, inputs)
            rows.append({"metric": "accuracy_by_round", "round": mark, "value": accuracy(test.y, guess)})
        rows += [{"metric": metric, "value": value} for metric, value in scores(test.y, guess).items()]
        uploads = trained.arrays["uploads"].astype(bool)
        megabytes = float(uploads.sum()) * trained.arrays["weights"].shape[1] * FLOAT_BYTES / 1e6
        rows.append({"metric": "uploaded_megabytes", "value": megabytes})
        rows.append({"metric": "participation", "value": cell.training.participation})
        if cell.private:
            ledger = new_ledger(cell, trained.arrays["weights"].shape[1])
            ledger.rounds = list(uploads)
            rows += ledger_rows(ledger, trained.facts["marks"], REPORT_DELTA)
        return rows

    def guarantee(self, cell: PldpCell, data: Path) -> dict[str, Any]:
        model = empty_model(cell, read_records(data / "test.safetensors").task)
        size = len(get_vector(model))
        curve, client, uploads = largest_curve(cell, size)
        notes = [
            upload_of(cell, client_preferences(cell)[client], size).mechanism.note,
            f"client {client}, with the weakest guarantee: {uploads} uploads of {size} weights, composed",
            f"a client's epsilon covers one {cell.factors.budget}",
            LABELS,
        ]
        return describe(curve, "run", notes)

    def audited(self, cell: PldpCell, data: Path) -> Audited:
        """Returns the mechanism on one weight, or on 64: with more, too few samples fit to say anything."""
        top = max(client_preferences(cell), key=lambda preference: preference.epsilon)
        mechanism = upload_of(cell, top, STAND_IN).mechanism
        return mechanism, f"the largest client's mechanism on a record of {mechanism.size} weights"


METHOD = PldpFl()
