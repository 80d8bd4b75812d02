"""The best accuracy that an epsilon truly buys: releases of public representations, and what learns from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tensorldp.curves.shuffling import shuffled_epsilon
from tensorldp.errors import InputError
from tensorldp.mechanisms import Mechanism
from tensorldp.mechanisms.randomized_response import KaryRandomizedResponse
from tensorldp_papers.papers.frontier.knowledge import (
    FITTED,
    Material,
    answer_mechanism,
    as_released,
    code_mechanism,
    labels_of,
    material,
    mechanism_of,
    plan_of,
    read_public,
    shares_of,
)
from tensorldp_papers.papers.frontier.settings import FrontierCell, FrontierFactors, FrontierTraining
from tensorldp_papers.public.codewords import release_codes
from tensorldp_papers.public.dimension import Plan
from tensorldp_papers.public.least_squares import discriminant_from_releases, least_squares, logistic
from tensorldp_papers.public.means import (
    LinearScores,
    class_moments,
    label_blocks,
    mean_scores,
    nearest_block_mean,
    nearest_mean,
    public_metric,
)
from tensorldp_papers.public.projection import discriminant
from tensorldp_papers.public.rounds import average_directions, upload_size
from tensorldp_papers.public.unlabelled import (
    Scorer,
    accuracy,
    best_across_sources,
    best_names,
    clusters,
    linear_discriminant,
    self_train,
    taught,
    together,
)
from tensorldp_papers.run.method import Audited, MeasureMethod, Rows
from tensorldp_papers.run.privacy import LABELS, describe
from tensorldp_papers.run.streams import common_stream, noise_stream

SHUFFLED_DELTA = 1e-6
COVERED = {
    "features": LABELS,
    "code": LABELS,
    "record": "the label is part of the release",
    "test": "of a test record; the model and the training records are public",
    "answer": "of a test record; the model and the training records are public",
    "client": "all uploads of a client in the whole run, its labels included",
}


@dataclass(frozen=True)
class _PublicClassifier:
    """A classifier from public records alone, the records, and what chose it."""

    scores: Scorer
    records: Tensor
    rule: Rows


class Frontier(MeasureMethod[FrontierTraining, FrontierFactors]):
    """Metric `accuracy` on clean test records, or `accuracy_perturbed_test`, and the `dimension` of a release.

    Where records are held out, models are scored on those alone, as `accuracy_held_out`.

    `across_sources_` and a learner's name is the metric by which the public control is chosen.
    `shuffled_epsilon` is the central guarantee of the same releases behind a trusted shuffler, where it is known.
    """

    def measure(self, cell: FrontierCell, data: Path | None, seed: int, device: torch.device) -> Rows:
        assert data is not None
        rows = self._scored(cell, data, seed)
        return [{**rows[0], "metric": f"{rows[0]['metric']}_held_out"}, *rows[1:]] if cell.training.held_out else rows

    def _scored(self, cell: FrontierCell, data: Path, seed: int) -> Rows:
        labels, classes = labels_of(data, "train")
        found = material(data, shares_of(cell, len(labels)))
        if cell.factors.private in ("test", "answer"):
            value, size = self._private_test(cell, found, classes, seed)
            return [
                {"metric": "accuracy_perturbed_test", "value": value},
                {"metric": "dimension", "value": float(size)},
            ]
        chosen: Rows = []
        if cell.factors.control == "public" or cell.factors.learner == "logistic":
            value, size, chosen = self._unprotected(cell, data, found, classes, seed)
        else:
            plan = plan_of(cell, data)
            size, value = plan.dimension, self._private_training(cell, data, found, plan, classes, seed)
        measured: Rows = [{"metric": "accuracy", "value": value}, {"metric": "dimension", "value": float(size)}]
        return measured + chosen + self._shuffled(cell, data, found.y, classes)

    def _shuffled(self, cell: FrontierCell, data: Path, y: Tensor, classes: int) -> Rows:
        """Computes the central epsilon at delta 1e-6 behind a shuffler of all records, or of those of one label."""
        local = self._mechanism(cell, data).guarantee(0.0).epsilon  # infinite where there is an atom
        if cell.factors.control or cell.factors.private == "client" or not 0.0 < local < math.inf:
            return []
        together = len(y) if cell.factors.private == "record" else int(y.bincount(minlength=classes).min())
        return [{"metric": "shuffled_epsilon", "value": shuffled_epsilon(local, max(together, 1), SHUFFLED_DELTA)}]

    def test_labels(self, cell: FrontierCell, data: Path | None) -> Tensor | None:
        assert data is not None
        if not cell.training.held_out:
            return labels_of(data, "test")[0]
        labels, _ = labels_of(data, "train")
        private, held_out, _ = shares_of(cell, len(labels))
        return labels[private : private + held_out]

    def _unprotected(
        self, cell: FrontierCell, data: Path, found: Material, classes: int, seed: int
    ) -> tuple[float, int, Rows]:
        """Computes the accuracy of a classifier without any mechanism, its dimension, and what chose it.

        Where no public record has a label of the task, clusters of the unlabelled ones stand for public data alone,
        named as suits the test labels best: what these clusters would have if somebody named them.
        """
        if cell.private:
            asked = "control: public" if cell.factors.control else "learner: logistic"
            raise InputError(f"{asked} takes no mechanism but none, got {cell.mechanism}")
        if cell.factors.learner == "logistic":
            coordinates = found.projection.coordinates
            scores, rows = logistic(coordinates(found.x), found.y, classes), coordinates(found.x_test)
            return scores.accuracy(rows, found.y_test), rows.shape[1], []
        plan = plan_of(cell, data)
        projection = found.projection.weighted(plan.exponent).first(plan.dimension)
        known = self._public_classifier(cell, data, found, projection, classes, seed)
        if known is not None:
            return accuracy(known.scores, found.x_test, found.y_test), plan.dimension, known.rule
        test, stream = projection(found.x_test), common_stream(cell, seed, "clusters")
        scores = best_names(clusters(projection(found.unlabelled), classes, stream), test, found.y_test)
        return scores.accuracy(test, found.y_test), plan.dimension, []

    def _public_classifier(
        self, cell: FrontierCell, data: Path, found: Material, projection: Scorer, classes: int, seed: int
    ) -> _PublicClassifier | None:
        """Fits what public records with labels teach; None where none has any.

        Those that other public knowledge labelled are the unlabelled records of the same kind, and teach a
        discriminant. Of those of other sources half, drawn by the seed, teach the best of a few learners, chosen across
        their sources.
        """
        arrays = read_public(data).arrays
        if "labels" in arrays:
            count = min(len(arrays["labels"]), len(found.unlabelled))
            records, labels = found.unlabelled[-count:], arrays["labels"][-count:]
            return _PublicClassifier(taught(labels, records, found.projection.coordinates, classes), records, [])
        if "named_x" not in arrays:
            return None
        x, y, sources = arrays["named_x"].float(), arrays["named_y"], arrays["named_source"]
        if classes != int(y.max()) + 1:
            raise InputError(f"the public records have the ten digits, but {cell.dataset} has {classes} classes")
        stream = common_stream(cell, seed, "clusters")
        half = torch.randperm(len(x), generator=stream)[: len(x) // 2]
        best, means = best_across_sources(x[half], y[half], sources[half], classes, projection, stream)
        rule: Rows = [{"metric": f"across_sources_{name}", "value": mean} for name, mean in means.items()]
        return _PublicClassifier(best, x[half], rule)

    def _private_training(
        self, cell: FrontierCell, data: Path, found: Material, plan: Plan, classes: int, seed: int
    ) -> float:
        projection = found.projection.weighted(plan.exponent).first(plan.dimension)
        rows, y = projection(found.x), found.y
        if cell.factors.control == "shuffled":
            y = y[torch.randperm(len(y), generator=common_stream(cell, seed, "shuffled labels"))]
        source, private = noise_stream(cell, seed, "releases"), cell.factors.private
        mechanism = self._mechanism(cell, data)

        def released_as(x: Tensor) -> Tensor:
            return as_released(mechanism, projection(x))

        unlabelled = found.unlabelled if len(found.unlabelled) else None
        metric = None if unlabelled is None else public_metric(released_as(unlabelled), plan.ridge)
        if private == "client":
            scores = average_directions(
                rows, y, classes, cell.training.clients, mechanism, source, rounds=cell.factors.rounds
            )
        elif private == "record":
            scores = nearest_block_mean(mechanism.privatize(label_blocks(rows, y, classes), source), classes, metric)
        else:
            if isinstance(mechanism, KaryRandomizedResponse):
                public = read_public(data).arrays["task_x"] if unlabelled is None else unlabelled
                book = clusters(projection(public), plan.codewords, common_stream(cell, seed, "codewords"))
                released = release_codes(rows, book, mechanism, source)
            else:
                released = mechanism.privatize(rows, source)
            if cell.factors.learner == "least_squares":
                scores = least_squares(released, y, classes, mechanism)
            elif cell.factors.learner == "covariance":
                scores = discriminant_from_releases(released, y, classes, mechanism)
            else:
                scores = nearest_mean(released, y, classes, metric)
        prior = cell.factors.learner == "prior"
        if not prior and (unlabelled is None or cell.factors.learner != "chosen"):
            return scores.accuracy(released_as(found.x_test), found.y_test)
        own = scores.on_average()
        combined: Scorer = lambda x: own(released_as(x))  # noqa: E731
        if prior:
            known = self._public_classifier(cell, data, found, projection, classes, seed)
            if known is None:
                raise InputError(f"learner: prior needs public records with labels, but {cell.dataset} has none here")
            combined = together(combined, known.scores, known.records)
        if unlabelled is not None:
            combined = self_train(combined, unlabelled, found.projection.coordinates, classes)
        return accuracy(combined, found.x_test, found.y_test)

    def _private_test(self, cell: FrontierCell, found: Material, classes: int, seed: int) -> tuple[float, int]:
        """Computes accuracy on private test records under a public model of clean ones, and the release's size."""
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
        """Makes what releases one record, without reading any."""
        _, classes = labels_of(data, "train")
        private = cell.factors.private
        if private == "answer":
            return answer_mechanism(cell, classes)
        if private == "test":
            return mechanism_of(cell, max(classes - 1, 2))
        plan = plan_of(cell, data)
        if private == "code":
            return code_mechanism(cell, plan.codewords)
        size = plan.dimension
        if private == "client":
            return mechanism_of(cell, upload_size(size, classes))
        return mechanism_of(cell, size if private == "features" else size * classes)

    def guarantee(self, cell: FrontierCell, data: Path | None) -> dict[str, Any]:
        assert data is not None
        mechanism = self._mechanism(cell, data)
        notes = [mechanism.note, COVERED[cell.factors.private], "the representation is public"]
        if mechanism.epsilon != cell.nominal_epsilon:
            notes.append(f"the nominal epsilon is {mechanism.epsilon:.4g}")
        unit, uploads = "run" if cell.factors.private == "client" else "record", cell.factors.rounds
        described = describe(mechanism.curve().compose(uploads) if uploads > 1 else mechanism.curve(), unit, notes)
        if cell.factors.control == "public":  # no private record is read
            nothing = dict.fromkeys(described["profile"], 0.0)
            described |= {"epsilon": 0.0, "pure_epsilon": 0.0, "atom": 0.0, "exact": True, "profile": nothing}
        return described

    def audited(self, cell: FrontierCell, data: Path | None) -> Audited:
        assert data is not None
        uploads = cell.factors.rounds
        return self._mechanism(cell, data), "one release" if uploads == 1 else f"one of a client's {uploads} uploads"


METHOD = Frontier()
