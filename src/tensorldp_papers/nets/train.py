"""Train a cell's models, one per seed, and score them on the test set, clean and as released."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, Mechanism
from tensorldp.mechanisms import make as make_mechanism
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.classify import fit, predict, scores
from tensorldp_papers.nets.federated import (
    ParameterRelease,
    federated_average,
    float_buffers,
    layer_sizes,
    split_users,
    trainable,
)
from tensorldp_papers.nets.linear_heads import fit_linear_heads
from tensorldp_papers.nets.networks import BiLSTM
from tensorldp_papers.papers.tldp.settings import FederatedCell, LearningCell
from tensorldp_papers.run.cell import Cell
from tensorldp_papers.run.method import Trained
from tensorldp_papers.run.method_plan import ModelFactors, ModelTraining, Training
from tensorldp_papers.run.records import Records, Scaling, model_inputs
from tensorldp_papers.run.streams import common_stream, noise_stream


def new_model(cell: Cell[ModelTraining, ModelFactors], task: Task, seed: int, weights: Path | None = None) -> nn.Module:
    """The cell's network, freshly initialised for a seed; `weights` is a file of ImageNet weights for MobileNetV2."""
    model = build(cell.factors.model, task, common_stream(cell, seed, "model"))
    if cell.training.pretrained:
        from tensorldp_papers.nets.mobilenet import MobileNet, load_imagenet  # torchvision takes seconds to import

        if not isinstance(model, MobileNet) or weights is None:
            raise InputError(
                f"pretrained is true for the model {cell.factors.model}, but only mobilenet_v2 has "
                "pretrained weights and their file must be given"
            )
        load_imagenet(model, weights)
    return model


def train_on_releases(
    cell: LearningCell,
    released: Tensor,
    y: Tensor,
    records: Records,
    seed: int,
    device: torch.device,
    weights: Path | None = None,
) -> tuple[nn.Module, Scaling]:
    """A classifier trained on one seed's released records, (records, *shape) as stored, and its scaling."""
    scaling = Scaling.of(released)
    inputs = scaling(model_inputs(released, records.kind)).to(device)
    settings = cell.training
    model = new_model(cell, records.task, seed, weights).to(device)
    fit(
        model,
        inputs,
        y.to(device),
        epochs=settings.epochs,
        batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        generator=common_stream(cell, seed, "batches"),
        precision=cell.precision,
        what=f"{cell.mechanism} {cell.epsilon} seed {seed}",
    )
    return model, scaling


def train_heads_on_releases(
    cell: LearningCell,
    released: Callable[[int], Mapping[str, NDArray[Any]]],
    records: Records,
    device: torch.device,
) -> dict[int, tuple[nn.Module, Scaling]]:
    """`train_on_releases` of a linear model for every seed at once, from what `perturb` wrote for each."""
    models, inputs, scalings = {}, [], []
    for seed in cell.seeds:
        arrays = released(seed)
        x = torch.from_numpy(arrays["train"])
        scalings.append(Scaling.of(x))
        inputs.append(scalings[-1](model_inputs(x, records.kind)).reshape(len(x), -1).to(device))
        models[seed] = new_model(cell, records.task, seed).to(device)
    heads = [module for model in models.values() for module in model.modules() if isinstance(module, nn.Linear)]
    if len(heads) != len(models):
        raise InputError(f"only linear models train together, got the model {cell.factors.model}")
    settings = cell.training
    fit_linear_heads(
        heads,
        inputs,
        records.y.to(device),
        epochs=settings.epochs,
        batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        generators=[common_stream(cell, seed, "batches") for seed in models],
        what=f"{cell.mechanism} {cell.epsilon}, {len(models)} seeds",
    )
    return {seed: (model, scaling) for (seed, model), scaling in zip(models.items(), scalings, strict=True)}


def parameter_release(cell: FederatedCell, model: nn.Module) -> ParameterRelease:
    """How the cell releases the parameters of such a model."""

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


def federated_inputs(records: Records) -> tuple[Tensor, Scaling]:
    """Inputs of users who share nothing but parameters: images by their public range, tables as prepared."""
    scaling = Scaling.public(records.low, records.high) if records.kind == "image" else Scaling(0.0, 1.0)
    inputs = model_inputs(records.x, records.kind)
    return (scaling(inputs) if records.kind != "text" else inputs), scaling


def train_federated(
    cell: FederatedCell, records: Records, seed: int, device: torch.device, weights: Path | None = None
) -> tuple[nn.Module, Scaling]:
    """TLDP's Type III: the global model after the last round."""
    model = new_model(cell, records.task, seed, weights).to(device)
    if isinstance(model, BiLSTM) and records.embedding is not None:
        model.use_embedding(records.embedding)
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
    """Whether the model keeps running statistics that are shared without protection."""
    return bool(float_buffers(model))


def state_arrays(model: nn.Module) -> dict[str, NDArray[Any]]:
    """A model's parameters and buffers as NumPy arrays."""
    return {key: value.cpu().numpy() for key, value in model.state_dict().items()}


def empty_model(cell: Cell[Training, ModelFactors], task: Task) -> nn.Module:
    """The cell's network with arbitrary weights, for its shapes or to load a state into."""
    return build(cell.factors.model, task, torch.Generator())


def kept(model: nn.Module, scaling: Scaling) -> Trained:
    """What is stored of a model and of the scaling of its inputs."""
    return Trained(state_arrays(model), {"mean": scaling.mean, "std": scaling.std})


def restored(cell: Cell[Training, ModelFactors], records: Records, trained: Trained) -> tuple[nn.Module, Scaling]:
    """The model and the scaling of what `kept` gave, for such records."""
    model = empty_model(cell, records.task)
    model.load_state_dict({key: torch.from_numpy(value) for key, value in trained.arrays.items()})
    return model, Scaling(trained.facts["mean"], trained.facts["std"])


def evaluate(
    model: nn.Module,
    test: Records,
    scaling: Scaling,
    device: torch.device,
    released: Tensor | None = None,
    precision: str = "float32",
) -> list[dict[str, Any]]:
    """Rows {metric, value}: accuracy and weighted F1 on clean records, and on released ones if given."""
    model = model.to(device)
    splits = {"": test.x} if released is None else {"": test.x, "_perturbed_test": released}
    rows = []
    for suffix, x in splits.items():
        inputs = model_inputs(x, test.kind)
        inputs = inputs if test.kind == "text" else scaling(inputs)
        for metric, value in scores(test.y, predict(model, inputs.to(device), precision=precision)).items():
            rows.append({"metric": metric + suffix, "value": value})
    return rows
