"""LATENT: owners release bit strings, and an ANN learns from them; beside it the baseline CNN and an honest arm.

The factor `model` says which: `ann` on bit strings, `cnn` on the images themselves (NPCNN, no privacy), `centroid` on
a short projection of the same features.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp.mechanisms import Mechanism
from tensorldp.mechanisms.bits import bit_count
from tensorldp_papers.nets.classify import predict, scores
from tensorldp_papers.papers.latent import bit_strings
from tensorldp_papers.papers.latent.networks import BitANN, baseline_cnn, feature_count
from tensorldp_papers.papers.latent.settings import LatentCell, LatentFactors, LatentTraining
from tensorldp_papers.papers.latent.training import (
    checkpoint_epochs,
    class_means,
    fit_stream,
    make_optimizer,
    nearest_mean,
)
from tensorldp_papers.run.cell import Cell
from tensorldp_papers.run.method import Arrays, Audited, ReleaseMethod, Rows, Trained
from tensorldp_papers.run.method_plan import Training
from tensorldp_papers.run.privacy import LABELS, describe
from tensorldp_papers.run.records import Records, read_records
from tensorldp_papers.run.streams import common_stream, mechanism_on


def model_of(cell: Cell[Training, LatentFactors]) -> Literal["ann", "cnn", "centroid"]:
    """Returns the factor `model`."""
    name = cell.factors.model
    if name == "cnn" and cell.private:
        raise InputError(
            f"the model cnn of {cell.study} is the baseline without privacy, got the mechanism "
            f"{cell.mechanism!r}; allowed is none"
        )
    return name


def network(cell: LatentCell, records: Records, seed: int) -> nn.Module:
    """Builds the cell's network, freshly initialised."""
    source = common_stream(cell, seed, "model")
    if model_of(cell) == "cnn":
        return baseline_cnn(records.task, source)
    settings = cell.training
    bits = feature_count(records.shape) * bit_count(*bit_strings.code_of(cell, records.shape))
    return BitANN(
        bits,
        records.classes,
        width=settings.width,
        activation=settings.activation,
        dropout=settings.dropout,
        generator=source,
    )


class LatentMethod(ReleaseMethod[LatentTraining, LatentFactors]):
    """Packed bits on disk, unpacked batch by batch; scores on clean and on released test records."""

    def release(
        self, cell: Cell[Training, LatentFactors], records: Records, seed: int, split: str, device: torch.device
    ) -> dict[str, NDArray[Any]]:
        kind = model_of(cell)
        if kind == "cnn":
            return {split: records.x.numpy()}
        make = bit_strings.release_bits if kind == "ann" else bit_strings.release_projection
        return {split: make(cell, records, seed, device, split=split).numpy()}

    def train(
        self,
        cell: LatentCell,
        records: Records,
        released: Arrays,
        seed: int,
        device: torch.device,
        weights: Path | None = None,
    ) -> Trained:
        x = torch.from_numpy(released["train"])
        labels = records.y
        if cell.factors.labels == "permuted":
            labels = labels[torch.randperm(len(labels), generator=common_stream(cell, seed, "permuted labels"))]
        y = labels.repeat(len(x) // len(labels))
        if model_of(cell) == "centroid":
            means = class_means(x, y, records.classes)
            right = float((nearest_mean(means, x) == y).float().mean())
            return Trained({"epoch~1/means": means.numpy()}, {"records": len(x), "train_accuracy": {"1": right}})
        model = network(cell, records, seed).to(device)
        if isinstance(model, BitANN):
            model.centre(x)
        settings = cell.training
        wanted = checkpoint_epochs(settings.epochs, settings.checkpoints)
        arrays: dict[str, NDArray[Any]] = {}
        history: dict[str, float] = {}

        def keep(epoch: int, accuracy: float) -> None:
            if epoch in wanted:
                history[str(epoch)] = accuracy
                arrays.update(
                    {f"epoch~{epoch}/{key}": value.cpu().numpy().copy() for key, value in model.state_dict().items()}
                )

        fit_stream(
            model,
            x,
            y,
            optimizer=make_optimizer(settings.optimizer, model, settings.learning_rate),
            epochs=settings.epochs,
            batch_size=settings.batch_size,
            device=device,
            precision=cell.precision,
            after_epoch=keep,
            generator=common_stream(cell, seed, "batches"),
            prepare=self._preparation(cell, records),
            what=f"{cell.mechanism} {cell.epsilon} seed {seed}",
        )
        return Trained(arrays, {"records": len(x), "train_accuracy": history})

    def evaluate(
        self, cell: LatentCell, test: Records, trained: Trained, released: Arrays, seed: int, device: torch.device
    ) -> Rows:
        kind = model_of(cell)
        if kind == "cnn":
            splits = {"": test.x}
        else:
            make = bit_strings.release_bits if kind == "ann" else bit_strings.release_projection
            splits = {"": make(cell, test, seed, device, split="test", private=False)}
        if cell.private:
            splits["_perturbed_test"] = torch.from_numpy(released["test"])
        rows: Rows = [
            {"metric": "train_records", "value": float(trained.facts["records"])},
            {"metric": "largest_class", "value": float(test.y.bincount().max()) / len(test.y)},
        ]
        history: dict[str, float] = trained.facts["train_accuracy"]
        model = None if kind == "centroid" else network(cell, test, seed).to(device)
        if isinstance(model, BitANN):
            rows.append({"metric": "string_bits", "value": float(model.bits)})
        for epoch in sorted(history, key=int):
            prefix = f"epoch~{epoch}/"
            state = {
                key.removeprefix(prefix): torch.from_numpy(value)
                for key, value in trained.arrays.items()
                if key.startswith(prefix)
            }
            found = {"train_accuracy": history[epoch]}
            for suffix, x in splits.items():
                guess = self._predict(cell, test, model, state, x, device)
                found |= {metric + suffix: value for metric, value in scores(test.y, guess).items()}
            if len(history) > 1:
                rows += [
                    {"metric": f"{metric}_by_epoch", "epoch": int(epoch), "value": value}
                    for metric, value in found.items()
                    if "accuracy" in metric
                ]
        return rows + [{"metric": metric, "value": value} for metric, value in found.items()]

    def _predict(
        self,
        cell: LatentCell,
        test: Records,
        model: nn.Module | None,
        state: dict[str, Tensor],
        x: Tensor,
        device: torch.device,
    ) -> Tensor:
        if model is None:
            return nearest_mean(state["means"], x)
        model.load_state_dict(state)
        return predict(model, x, precision=cell.precision, device=device, prepare=self._preparation(cell, test))

    @staticmethod
    def _preparation(cell: LatentCell, records: Records) -> Any:
        return (lambda x: bit_strings.unit_images(records, x)) if model_of(cell) == "cnn" else None

    def guarantee(self, cell: LatentCell, data: Path) -> dict[str, Any]:
        mechanism, note = self._mechanism(cell, data)
        curve, notes = mechanism.curve(), [mechanism.note, LABELS, "the convolutional module is public", note]
        copies = cell.factors.augment
        if copies:
            curve = curve.compose(1 + copies)
            notes.append(f"each owner releases {1 + copies} strings, composed")
        return describe(curve, mechanism.unit, notes)

    def audited(self, cell: LatentCell, data: Path) -> Audited:
        return self._mechanism(cell, data)

    @staticmethod
    def _mechanism(cell: LatentCell, data: Path) -> tuple[Mechanism, str]:
        """Makes the mechanism of one release, and a note about it."""
        records = read_records(data / "test.safetensors")
        if model_of(cell) == "centroid":
            return bit_strings.projection_mechanism(cell), "on a public random projection of the features"
        private = bit_strings.bit_mechanism(cell, records.shape)
        # an arm's options are those of LATENT, next to which it has `none`
        return private or mechanism_on(replace(cell, options={}), records.box()), ""


METHOD = LatentMethod()
