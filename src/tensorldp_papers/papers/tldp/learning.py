"""TLDP's Types I and II: every record or feature is released once, then a classifier learns from the releases."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tensorldp.deltas import REPORT_DELTA
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, Mechanism
from tensorldp_papers.extractors import is_trained
from tensorldp_papers.nets.train import evaluate, fit_cell, kept, new_model, restored
from tensorldp_papers.papers.tldp.linear_heads import fit_linear_heads
from tensorldp_papers.papers.tldp.settings import LearningCell, LearningFactors, LearningTraining
from tensorldp_papers.run.cell import Cell
from tensorldp_papers.run.method import Arrays, Audited, ReleaseMethod, Rows, Trained
from tensorldp_papers.run.method_plan import Training
from tensorldp_papers.run.privacy import LABELS, describe
from tensorldp_papers.run.provenance import Stopwatch
from tensorldp_papers.run.records import Records, Scaling, model_inputs, read_records
from tensorldp_papers.run.releases import BATCH, batch_box, perturb, record_in_batch
from tensorldp_papers.run.streams import common_stream, mechanism_on

TOGETHER = 600_000_000  # elements of released records held at once, 2.4 GB


def train_on_releases(
    cell: LearningCell,
    released: Tensor,
    y: Tensor,
    records: Records,
    seed: int,
    device: torch.device,
    weights: Path | None = None,
) -> tuple[nn.Module, Scaling]:
    """Trains a classifier on one seed's released records, (records, *shape) as stored; returns it with its scaling."""
    scaling = Scaling.of(released)
    inputs = scaling(model_inputs(released, records.kind)).to(device)
    model = new_model(cell, records.task, seed, weights).to(device)
    fit_cell(cell, model, inputs, y.to(device), seed, f"{cell.mechanism} {cell.epsilon}")
    return model, scaling


def train_heads_on_releases(
    cell: LearningCell,
    released: Callable[[int], Mapping[str, NDArray[Any]]],
    records: Records,
    device: torch.device,
) -> dict[int, tuple[nn.Module, Scaling]]:
    """Trains as `train_on_releases` a linear model for every seed at once, from what `perturb` wrote for each."""
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


def record_guarantee(cell: LearningCell, box: Box, sizes: Sequence[int] = ()) -> dict[str, Any]:
    """Describes what its own release guarantees one training record, as data or as features, alone or in a batch.

    An extractor that was trained on the records may change all features with one of them. Then it is what all releases
    together guarantee; `sizes` are the numbers of records in the splits that are released.
    """
    batch = cell.factors.unit == "batch"
    mechanism: Mechanism = mechanism_on(cell, batch_box(box, "records") if batch else box)
    curve = mechanism.curve()
    notes = [mechanism.note, LABELS]
    if batch:
        notes.append(
            f"the noise is made for a batch of {BATCH} records, which as a whole has epsilon "
            f"{curve.epsilon(REPORT_DELTA):.4g}"
        )
    if _trained_extractor(cell):
        releases = sum(math.ceil(size / (BATCH if batch else 1)) for size in sizes)
        notes.append(
            f"the extractor was trained on the records without privacy, so that one may change all {releases:,} "
            "releases, and all of them count; the extractor itself is not released"
        )
        return {**describe(curve.compose(releases), mechanism.unit, notes), "exact": not cell.private}
    if cell.release == "features":
        notes.append("the extractor is fixed and data-independent")
    return describe(record_in_batch(curve) if batch else curve, mechanism.unit, notes)


def _trained_extractor(cell: LearningCell) -> bool:
    return is_trained(cell.factors.backbone or "")


class Learning(ReleaseMethod[LearningTraining, LearningFactors]):
    """Releases as float32 records; metrics on clean and on released test records."""

    def release(
        self, cell: Cell[Training, LearningFactors], records: Records, seed: int, split: str, device: torch.device
    ) -> dict[str, NDArray[Any]]:
        return {split: perturb(records, cell, seed, split, device, batch=cell.factors.unit == "batch").numpy()}

    def train(
        self,
        cell: LearningCell,
        records: Records,
        released: Arrays,
        seed: int,
        device: torch.device,
        weights: Path | None = None,
    ) -> Trained:
        model, scaling = train_on_releases(
            cell, torch.from_numpy(released["train"]), records.y, records, seed, device, weights
        )
        return kept(model, scaling)

    def train_all(
        self,
        cell: LearningCell,
        records: Records,
        released: Callable[[int], Arrays],
        device: torch.device,
        weights: Path | None = None,
    ) -> Iterator[tuple[int, Trained, float]]:
        """Trains linear heads in batched trainings of as many seeds as the memory allows.

        Nothing here depends on which other seeds there are, so a seed has the same bits alone and among others.
        """
        if cell.factors.model != "linear" or records.x.numel() > TOGETHER:
            yield from super().train_all(cell, records, released, device, weights)
            return
        together = TOGETHER // max(1, records.x.numel())
        for first in range(0, len(cell.seeds), together):
            part = cell.seeds[first : first + together]
            watch = Stopwatch()
            heads = train_heads_on_releases(replace(cell, seeds=part), released, records, device)
            seconds = round(watch.seconds / len(part), 3)
            for seed, (model, scaling) in heads.items():
                yield seed, kept(model, scaling), seconds

    def evaluate(
        self, cell: LearningCell, test: Records, trained: Trained, released: Arrays, seed: int, device: torch.device
    ) -> Rows:
        model, scaling = restored(cell, test, trained)
        perturbed = None if not cell.private else torch.from_numpy(released["test"])
        return evaluate(model, test, scaling, device, perturbed, cell.precision)

    def guarantee(self, cell: LearningCell, data: Path) -> dict[str, Any]:
        test = read_records(data / "test.safetensors")
        if not _trained_extractor(cell):
            return record_guarantee(cell, test.box())
        train = read_records(data / "train.safetensors").first(cell.training.limit)
        return record_guarantee(cell, test.box(), [len(train.y), len(test.y)])

    def audited(self, cell: LearningCell, data: Path) -> Audited:
        box = read_records(data / "test.safetensors").box()
        if cell.factors.unit == "batch":
            return mechanism_on(cell, batch_box(box, "records")), "the record of this audit is the whole batch"
        return mechanism_on(cell, box), ""


METHOD = Learning()
