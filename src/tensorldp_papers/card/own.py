"""What a mechanism buys on a user's own data, by cells of the study `frontier` in this process.

A table's rows are released as they are, images as strokes; see `tensorldp_papers.papers.frontier`. So a number here is
the one that the study gives for the same data set, mechanism, epsilon and seed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from tensorldp.deltas import REPORT_DELTA
from tensorldp.files import write_arrays
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp.mechanisms import Box
from tensorldp.memory import check_memory
from tensorldp_papers.card.tasks import BASELINES, FRONTIER, PRIVUNIT, SEEDS
from tensorldp_papers.data.own import OwnDataset, check_own
from tensorldp_papers.data.own_files import prepare_own
from tensorldp_papers.papers.frontier.knowledge import WIDEST_BLOCK
from tensorldp_papers.papers.frontier.method import METHOD
from tensorldp_papers.papers.frontier.represent import public_arrays, represent
from tensorldp_papers.papers.frontier.settings import FrontierCell, FrontierFactors, FrontierTraining
from tensorldp_papers.plots.means import adds_from
from tensorldp_papers.run.cell import Cell, epsilon_text, variant_text
from tensorldp_papers.run.records import read_records
from tensorldp_papers.run.sealed import read_prepared

LADDER = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # epsilons, of which a card names the least that beats the largest class
LEARNERS = {
    "chosen": "class means",
    "least_squares": "least squares",
    "covariance": "discriminant",
    "logistic": "logistic regression",
}
PRIVATE_LABELS = {"private": "record"}


@dataclass(frozen=True)
class OwnData:
    """A user's own data, split and represented.

    Attributes:
        name: of the file or folder.
        key: of the data set.
        folder: where both splits and their public projection are.
        backbone: their representation.
        box: where a record lives.
        records: how many there are of each class.
        test: how many of all are test records.
        largest: the class with most training records.
        share: of that class among test records.
        told: what its owner should know of it, a sentence each without a full stop.
    """

    name: str
    key: str
    folder: Path
    backbone: str
    box: Box
    records: dict[str, int]
    test: int
    largest: str
    share: float
    told: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values for JSON."""
        own = {key: getattr(self, key) for key in ("name", "records", "test", "largest", "share")}
        return {**own, "shape": list(self.box.shape), "told": list(self.told), "ladder": list(LADDER)}


@dataclass(frozen=True)
class Accuracy:
    """What one learner reaches on clean test records from releases by one mechanism.

    Attributes:
        mechanism: its key.
        learner: in words.
        labels: whether labels are private too; else they are released in clear.
        true: the epsilon of one record that the mechanism truly has; infinite without privacy.
        mean, low, high: over the seeds; NaN where no epsilon was asked for.
        beats: the least epsilon of `LADDER` from which on accuracy is above the share of the largest class, infinite if
            there is none; None without privacy.
    """

    mechanism: str
    learner: str
    labels: bool
    true: float
    mean: float
    low: float
    high: float
    beats: float | None


def key_of(path: Path) -> str:
    """Returns the name of the data set that a file or folder is."""
    plain = re.sub(r"[^a-z0-9]+", "_", path.stem.casefold()).strip("_")
    return f"{'' if plain[:1].isalpha() else 'data_'}{plain}"[:40].rstrip("_")


def prepare(key: str, entry: OwnDataset, folder: Path, told: tuple[str, ...] = ()) -> OwnData:
    """Splits a user's own data and writes their representation to a folder, as the workflow does.

    Raises:
        InputError: if the entry or the data have a mistake.
    """
    check_own({key: entry}, ())
    _, warnings = prepare_own(key, entry, folder / "splits")
    splits = {split: read_records(folder / "splits" / f"{split}.safetensors") for split in ("train", "test")}
    train, test = splits["train"], splits["test"]
    backbone = "columns" if train.kind == "tabular" else "strokes"
    columns = 0
    for split, records in splits.items():
        features = represent(backbone, records)
        columns = features.shape[1]
        arrays = {"x": features.numpy().astype(np.float16), "y": records.y.numpy()}
        metadata = {"dataset": key, "classes": str(records.classes), "low": "-inf", "high": "inf", "kind": "features"}
        write_arrays(folder / f"{split}.safetensors", arrays, {**metadata, "backbone": backbone})
    write_arrays(folder / "public.safetensors", public_arrays(backbone, private=key, columns=columns))
    names = json.loads(read_prepared(folder / "splits" / "train.safetensors")[1]["class_names"])
    counts = {split: records.y.bincount(minlength=len(names)) for split, records in splits.items()}
    largest = int(counts["train"].argmax())
    return OwnData(
        Path(entry.path).name,
        key,
        folder,
        backbone,
        train.box(),
        dict(zip(names, (counts["train"] + counts["test"]).tolist(), strict=True)),
        len(test.x),
        names[largest],
        float(counts["test"][largest]) / len(test.x),
        (*told, *(warning.removeprefix(f"own_datasets.{key}: ") for warning in warnings)),
    )


def accuracies(
    data: OwnData, mechanism: str, true: float, attempt: Callable[[str, Callable[[], Accuracy]], Accuracy | None]
) -> list[Accuracy]:
    """Computes accuracies at a true epsilon, three seeds each: with labels in clear, then with private ones.

    Args:
        data: the data.
        mechanism: the key of a registered one, beside `BASELINES` and no privacy; empty for none.
        true: the epsilon of one record; not finite for none.
        attempt: makes what it is given the name and the maker of, or notes why that cannot be made.
    """
    releasing = dict.fromkeys([*([mechanism] if mechanism not in ("", NO_PRIVACY) else []), *BASELINES])
    plain: list[tuple[str, dict[str, str]]] = [(NO_PRIVACY, {"learner": "logistic"}), (NO_PRIVACY, {})]
    plain += [(name, {}) for name in releasing]
    plain += [(PRIVUNIT, {"learner": learner}) for learner in ("least_squares", "covariance")]
    lines = [*plain, *((name, PRIVATE_LABELS) for name in (NO_PRIVACY, *releasing))]
    looks = len(LADDER) * sum(name != NO_PRIVACY for name, _ in lines)
    found = []
    for name, factors in lines:
        what = f"accuracy of {name} by {LEARNERS[factors.get('learner', 'chosen')]}"
        what += ", labels private" if factors == PRIVATE_LABELS else ""

        def line(name: str = name, factors: dict[str, str] = factors) -> Accuracy:
            return _accuracy(data, name, factors, true, looks)

        found.append(attempt(what, line))
    return [one for one in found if one is not None]


def _accuracy(data: OwnData, mechanism: str, factors: dict[str, str], true: float, looks: int) -> Accuracy:
    learner, labels = LEARNERS[factors.get("learner", "chosen")], factors == PRIVATE_LABELS
    if labels:
        block = data.box.size if data.backbone == "columns" else WIDEST_BLOCK
        check_memory("releases of records with their label", sum(data.records.values()) * len(data.records) * block, 40)
    if mechanism == NO_PRIVACY:
        scores = _scores(data, mechanism, math.inf, factors)
        return Accuracy(mechanism, learner, labels, math.inf, *_summary(scores), None)
    level = pd.DataFrame({"seed": SEEDS, "value": data.share})
    ladder = {epsilon: _scores(data, mechanism, epsilon, factors) for epsilon in LADDER}
    rows = [
        (epsilon, seed, value) for epsilon, found in ladder.items() for seed, value in zip(SEEDS, found, strict=True)
    ]
    table = pd.DataFrame(rows, columns=["epsilon", "seed", "value"])
    beats = adds_from(table.reset_index(), level, records=data.test, looks=looks)
    wanted = 0.0 < true < math.inf
    scores = ladder.get(true) or (_scores(data, mechanism, true, factors) if wanted else [math.nan])
    return Accuracy(mechanism, learner, labels, true if wanted else math.nan, *_summary(scores), beats)


def _summary(scores: list[float]) -> tuple[float, float, float]:
    return sum(scores) / len(scores), min(scores), max(scores)


def _scores(data: OwnData, mechanism: str, epsilon: float, factors: dict[str, str]) -> list[float]:
    """Computes the accuracy of each seed, as a cell of the study has it."""
    named: dict[str, Any] = {"backbone": data.backbone, **factors}
    cell: FrontierCell = Cell(
        study=FRONTIER,
        dataset=data.key,
        variant=variant_text(named),
        mechanism=mechanism,
        epsilon=epsilon_text(epsilon),
        release="data",
        method=FRONTIER,
        delta=REPORT_DELTA,
        training=FrontierTraining(),
        factors=FrontierFactors(**named),
        seeds=SEEDS,
    )
    rows = [METHOD.measure(cell, data.folder, seed, torch.device("cpu")) for seed in SEEDS]
    return [next(row["value"] for row in found if row["metric"] == "accuracy") for found in rows]
