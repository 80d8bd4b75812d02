"""TLDP's Type III: users learn together and release their parameters, or the server releases the average."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from tensorldp.mechanisms import Box, Mechanism
from tensorldp.mechanisms import make as make_mechanism
from tensorldp_papers.nets.federated import ParameterRelease, trainable
from tensorldp_papers.nets.networks import BiLSTM
from tensorldp_papers.nets.train import empty_model, evaluate, federated_inputs, kept, new_model, restored
from tensorldp_papers.papers.tldp.rounds import federated_average, float_buffers, layer_sizes, split_users
from tensorldp_papers.papers.tldp.settings import FederatedCell, FederatedFactors, LearningTraining, NoiseCell
from tensorldp_papers.run.method import Audited, InsideMethod, Rows, Trained
from tensorldp_papers.run.privacy import describe
from tensorldp_papers.run.records import Records, Scaling, read_records
from tensorldp_papers.run.streams import common_stream, mechanism_on, noise_stream

STAND_IN = (8, 8)  # of audited parameters: with more, too few samples fit


def parameter_release(cell: FederatedCell | NoiseCell, model: nn.Module) -> ParameterRelease:
    """Returns how the cell releases the parameters of such a model."""

    def make(domain: Box, **options: Any) -> Mechanism:
        settings = {"epsilon": cell.nominal_epsilon, "delta": cell.delta, **cell.options, **options}
        return make_mechanism(cell.mechanism, domain=domain, **settings)

    return ParameterRelease(
        make,
        cell.mechanism,
        epsilon=cell.nominal_epsilon,
        delta=cell.delta,
        shapes=[tuple(p.shape) for p in trainable(model)],
        layers=layer_sizes(model),
        clip=cell.training.clip,
        users=cell.training.users,
        where=cell.factors.where,
        rounds=cell.training.rounds,
    )


def use_public_embedding(model: nn.Module, records: Records) -> None:
    """Gives the text model the public word vectors that came with the records."""
    if isinstance(model, BiLSTM) and records.embedding is not None:
        model.use_embedding(records.embedding)


def train_federated(
    cell: FederatedCell, records: Records, seed: int, device: torch.device, weights: Path | None = None
) -> tuple[nn.Module, Scaling]:
    """Trains as TLDP's Type III: returns the global model after the last round."""
    model = new_model(cell, records.task, seed, weights).to(device)
    use_public_embedding(model, records)
    release = parameter_release(cell, model)
    inputs, scaling = federated_inputs(records)
    shards = split_users(len(records.x), release.users, common_stream(cell, seed, "users"))
    settings = cell.training
    federated_average(
        model,
        inputs.to(device),
        records.y.to(device),
        [s.to(device) for s in shards],
        release,
        epochs=settings.epochs,
        batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        order=lambda user: common_stream(cell, seed, f"batches of user {user}"),
        noise=noise_stream(cell, seed, "parameter noise", device),
        precision=cell.precision,
        what=f"{cell.mechanism} {cell.epsilon} seed {seed}",
    )
    return model, scaling


def has_buffers(model: nn.Module) -> bool:
    """Returns whether the model keeps running statistics that are shared without protection."""
    return bool(float_buffers(model))


def run_guarantee(release: ParameterRelease, buffers: bool) -> dict[str, Any]:
    """Describes what a run guarantees one user's parameters: every round releases the whole vector again."""
    notes = list(release.notes)
    if buffers:
        notes.append("batch-norm running statistics are released unperturbed and are not covered")
    return describe(release.run_curve(), "run", notes)


def audited_stand_in(cell: FederatedCell | NoiseCell) -> Audited:
    """Returns the same mechanism on 64 elements: with 10^5 and more, too few samples fit to say anything."""
    clip = cell.training.clip
    return (
        mechanism_on(cell, Box(-clip, clip, STAND_IN)),
        "audited on a record of 64 elements, whose own guarantee is given beside it",
    )


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
        return audited_stand_in(cell)


METHOD = Federated()
