"""The best accuracy that an epsilon truly buys: releases of public representations, and what learns from them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tensorldp.config.methods.frontier import FrontierFactors, FrontierTraining
from tensorldp.errors import InputError
from tensorldp.learners.least_squares import least_squares
from tensorldp.learners.means import (
    class_moments,
    label_blocks,
    mean_scores,
    nearest_block_mean,
    nearest_mean,
    public_metric,
)
from tensorldp.learners.scores import LinearScores
from tensorldp.learners.self_training import linear_discriminant, self_train
from tensorldp.mechanisms import Mechanism
from tensorldp.privacy.shuffling import shuffled_epsilon
from tensorldp.representations.dimension import Plan
from tensorldp.representations.projection import Projection, discriminant
from tensorldp.studies.cell import FrontierCell, common_stream, noise_stream
from tensorldp.studies.frontier import (
    FITTED,
    Material,
    answer_mechanism,
    as_released,
    labels_of,
    material,
    mechanism_of,
    plan_of,
    private_count,
    read_public,
)
from tensorldp.studies.guarantee import LABELS, describe
from tensorldp.studies.methods.base import Audited, MeasureMethod, Rows

SHUFFLED_DELTA = 1e-6
COVERED = {
    "features": LABELS,
    "record": "the label is part of the release",
    "test": "of a test record; the model and the training records are public",
    "answer": "of a test record; the model and the training records are public",
    "client": "one release of a client in the whole run, its labels included",
}


def _client_means(features: Tensor, labels: Tensor, classes: int, clients: int) -> Tensor:
    """The mean over each client's records of their label blocks, (clients, classes x dimension), in the unit ball."""
    owner = torch.arange(len(features)) % clients
    blocks = torch.zeros(clients * classes, features.shape[1]).index_add_(0, owner * classes + labels, features)
    return blocks.reshape(clients, -1) / owner.bincount(minlength=clients).clamp_min(1)[:, None]


class Frontier(MeasureMethod[FrontierTraining, FrontierFactors]):
    """Metric `accuracy` on clean test records, or `accuracy_perturbed_test`, and the `dimension` of a release.

    `shuffled_epsilon` is the central guarantee of the same releases behind a trusted shuffler, where it is known.
    """

    def measure(self, cell: FrontierCell, data: Path | None, seed: int, device: torch.device) -> Rows:
        assert data is not None
        labels, classes = labels_of(data, "train")
        records, public = private_count(cell, len(labels))
        found = material(data, cell.factors.backbone, public, records)
        if cell.factors.private in ("test", "answer"):
            value, size = self._private_test(cell, found, classes, seed)
            return [
                {"metric": "accuracy_perturbed_test", "value": value},
                {"metric": "dimension", "value": float(size)},
            ]
        plan = plan_of(cell, data)
        projection = found.projection.weighted(plan.exponent).first(plan.dimension)
        value = self._private_training(cell, data, found, plan, projection, classes, seed)
        rows = [{"metric": "accuracy", "value": value}, {"metric": "dimension", "value": float(plan.dimension)}]
        return rows + self._shuffled(cell, data, found.y, classes)

    def _shuffled(self, cell: FrontierCell, data: Path, y: Tensor, classes: int) -> Rows:
        """The central epsilon at delta 1e-6 behind a shuffler of all records, or of those with one public label."""
        local = self._mechanism(cell, data).guarantee(0.0).epsilon  # infinite where there is an atom
        if cell.factors.control or cell.factors.private == "client" or not 0.0 < local < math.inf:
            return []
        together = len(y) if cell.factors.private == "record" else int(y.bincount(minlength=classes).min())
        return [{"metric": "shuffled_epsilon", "value": shuffled_epsilon(local, max(together, 1), SHUFFLED_DELTA)}]

    def test_labels(self, cell: FrontierCell, data: Path | None) -> Tensor | None:
        assert data is not None
        return labels_of(data, "test")[0]

    def _private_training(
        self,
        cell: FrontierCell,
        data: Path,
        found: Material,
        plan: Plan,
        projection: Projection,
        classes: int,
        seed: int,
    ) -> float:
        rows, test, y = projection(found.x), projection(found.x_test), found.y
        if cell.factors.control == "public":
            arrays = read_public(data).arrays
            if "named_x" not in arrays:
                raise InputError(
                    f"the representation {cell.factors.backbone} has no public records of the classes: "
                    "control: public needs strokes"
                )
            _, means, error = class_moments(projection(arrays["named_x"]), arrays["named_y"], classes)
            return mean_scores(means, error).accuracy(test, found.y_test)
        if cell.factors.control == "shuffled":
            y = y[torch.randperm(len(y), generator=common_stream(cell, seed, "shuffled labels"))]
        source, private = noise_stream(cell, seed, "releases"), cell.factors.private
        mechanism = self._mechanism(cell, data)
        test = as_released(mechanism, test)
        unlabelled = as_released(mechanism, projection(found.unlabelled)) if len(found.unlabelled) else None
        metric = None if unlabelled is None else public_metric(unlabelled, plan.ridge)
        if private == "features":
            released = mechanism.privatize(rows, source)
            if cell.factors.learner == "least_squares":
                scores = least_squares(released, y, classes, mechanism)
            else:
                scores = nearest_mean(released, y, classes, metric)
        else:
            blocks = (
                label_blocks(rows, y, classes)
                if private == "record"
                else _client_means(rows, y, classes, cell.training.clients)
            )
            scores = nearest_block_mean(mechanism.privatize(blocks, source), classes, metric)
        if unlabelled is None or cell.factors.learner != "chosen":
            return scores.accuracy(test, found.y_test)
        coordinates = found.projection.coordinates(found.unlabelled)
        trained = self_train(scores, unlabelled, coordinates)
        return trained.accuracy(test, found.projection.coordinates(found.x_test), found.y_test)

    def _private_test(self, cell: FrontierCell, found: Material, classes: int, seed: int) -> tuple[float, int]:
        """Accuracy on private test records under a public model of clean training records, and the release's size."""
        source, x, y = noise_stream(cell, seed, "releases"), found.x[:FITTED], found.y[:FITTED]
        if cell.factors.private == "answer":
            coordinates = found.projection.coordinates
            model = linear_discriminant(coordinates(x), y, classes, ridge=0.01)
            answers = model.predict(coordinates(found.x_test))
            mechanism = answer_mechanism(cell, classes)
            released = mechanism.privatize(answers[:, None].float(), source)[:, 0].long()
            return float((released == found.y_test).double().mean()), 1
        projection = discriminant(x, y, max(classes - 1, 2), ridge=0.01)
        clean = projection(x)
        _, means, error = class_moments(clean, y, classes)
        scores: LinearScores = mean_scores(means, error)
        mechanism = mechanism_of(cell, projection.dimension)
        return scores.accuracy(mechanism.privatize(projection(found.x_test), source), found.y_test), len(means[0])

    def _mechanism(self, cell: FrontierCell, data: Path) -> Mechanism:
        """What releases one record, without reading any."""
        _, classes = labels_of(data, "train")
        private = cell.factors.private
        if private == "answer":
            return answer_mechanism(cell, classes)
        if private == "test":
            return mechanism_of(cell, max(classes - 1, 2))
        size = plan_of(cell, data).dimension
        return mechanism_of(cell, size if private == "features" else size * classes)

    def guarantee(self, cell: FrontierCell, data: Path | None) -> dict[str, Any]:
        assert data is not None
        mechanism = self._mechanism(cell, data)
        notes = [mechanism.note, COVERED[cell.factors.private], "the representation is public"]
        if mechanism.epsilon != cell.nominal_epsilon:
            notes.append(f"the nominal epsilon is {mechanism.epsilon:.4g}")
        unit = "run" if cell.factors.private == "client" else "record"
        described = describe(mechanism.curve(), unit, notes)
        if cell.factors.control == "public":  # no private record is read
            nothing = dict.fromkeys(described["profile"], 0.0)
            described |= {"epsilon": 0.0, "pure_epsilon": 0.0, "atom": 0.0, "exact": True, "profile": nothing}
        return described

    def audited(self, cell: FrontierCell, data: Path | None) -> Audited:
        assert data is not None
        return self._mechanism(cell, data), "one release"


METHOD = Frontier()
