"""Train a cell's models, one per seed, and score them on the test set, clean and as released."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.classify import fit, predict, scores
from tensorldp_papers.run.cell import Cell
from tensorldp_papers.run.method import Trained
from tensorldp_papers.run.method_plan import EpochTraining, ModelFactors, ModelTraining, Training
from tensorldp_papers.run.records import Records, Scaling, model_inputs
from tensorldp_papers.run.streams import common_stream


def new_model(cell: Cell[ModelTraining, ModelFactors], task: Task, seed: int, weights: Path | None = None) -> nn.Module:
    """Builds the cell's network, freshly initialised for a seed; `weights` is a file of MobileNetV2's weights."""
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


def fit_cell(
    cell: Cell[EpochTraining, ModelFactors], model: nn.Module, x: Tensor, y: Tensor, seed: int, what: str
) -> None:
    """Trains a model in place as the cell's settings say, in the order of batches that its seed gives."""
    settings = cell.training
    fit(
        model,
        x,
        y,
        epochs=settings.epochs,
        batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        generator=common_stream(cell, seed, "batches"),
        precision=cell.precision,
        what=f"{what} seed {seed}",
    )


def federated_inputs(records: Records) -> tuple[Tensor, Scaling]:
    """Returns inputs of users who share nothing but parameters: images by their public range, tables as prepared."""
    scaling = Scaling.public(records.low, records.high) if records.kind == "image" else Scaling(0.0, 1.0)
    inputs = model_inputs(records.x, records.kind)
    return (scaling(inputs) if records.kind != "text" else inputs), scaling


def state_arrays(model: nn.Module) -> dict[str, NDArray[Any]]:
    """Returns a model's parameters and buffers as NumPy arrays."""
    return {key: value.cpu().numpy() for key, value in model.state_dict().items()}


def empty_model(cell: Cell[Training, ModelFactors], task: Task) -> nn.Module:
    """Builds the cell's network with arbitrary weights, for its shapes or to load a state into."""
    return build(cell.factors.model, task, torch.Generator())


def kept(model: nn.Module, scaling: Scaling) -> Trained:
    """Returns what is stored of a model and of the scaling of its inputs."""
    return Trained(state_arrays(model), {"mean": scaling.mean, "std": scaling.std})


def restored(cell: Cell[Training, ModelFactors], records: Records, trained: Trained) -> tuple[nn.Module, Scaling]:
    """Returns the model and the scaling of what `kept` gave, for such records."""
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
    """Computes rows {metric, value}: accuracy and weighted F1 on clean records, and on released ones if given."""
    model = model.to(device)
    splits = {"": test.x} if released is None else {"": test.x, "_perturbed_test": released}
    rows = []
    for suffix, x in splits.items():
        inputs = model_inputs(x, test.kind)
        inputs = inputs if test.kind == "text" else scaling(inputs)
        for metric, value in scores(test.y, predict(model, inputs.to(device), precision=precision)).items():
            rows.append({"metric": metric + suffix, "value": value})
    return rows
