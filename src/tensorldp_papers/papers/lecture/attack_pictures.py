"""Which attacked releases are shown side by side, and one victim's pictures in each of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from torch import Tensor

from tensorldp.errors import InputError
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp_papers.attacks.likelihood import Prior
from tensorldp_papers.papers.lecture.attack_table import STUDY
from tensorldp_papers.papers.lecture.measures import candidates_of, decode
from tensorldp_papers.papers.lecture.settings import ATTACKS, AttackFactors, AttackTraining
from tensorldp_papers.run.cell import Cell, variant_factors
from tensorldp_papers.run.records import Records, read_records
from tensorldp_papers.run.streams import mechanism_on

PUBLIC_RECORDS = 12000  # records of an attacker's prior
MOST_COLUMNS = 3  # of a grid: the largest epsilons
VICTIM = 0  # of the victims of seed 0; the noise is a draw of its own
SAME_GUARANTEE = 1e-4  # two guarantees that differ by less, relatively, are one
KINDS = ("original", "released", "reconstructed")
ANCHORS = ("tldp-l", "tldp-g")  # the first that was attacked places the columns by its epsilons
AXES = ("nominal", "guaranteed")
KEYS = ["mechanism", "epsilon", "delta", "variant", "guarantee_epsilon", "guarantee_pure_epsilon"]


def _attacked(metrics: pd.DataFrame) -> pd.DataFrame:
    rows = metrics[(metrics["study"] == STUDY) & (metrics["metric"] == "identification")]
    rows = rows[[variant_factors(v).get("attack") == "likelihood" for v in rows["variant"]]]
    if rows.empty:
        raise InputError("the metrics table has no releases attacked by likelihood")
    return rows


def picture_datasets(metrics: pd.DataFrame) -> list[str]:
    """Returns the data sets whose pictures are shown: all with attacked releases."""
    return sorted(_attacked(metrics)["dataset"].astype(str).unique())


def columns_of(metrics: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Returns the columns of a data set's grid: TLDP-L's cells, else TLDP-G's, with the true epsilon `target`.

    The target is the guarantee at delta 1e-5. Where atoms heavier than delta leave none, it is the pure epsilon
    without the atoms, so that the other mechanisms have a column.
    """
    rows = _attacked(metrics)
    rows = rows[rows["dataset"] == dataset]
    anchor = next((name for name in ANCHORS if name in set(rows["mechanism"])), None)
    if anchor is None:
        raise InputError("the metrics table has no attacked releases of TLDP, whose epsilons place the pictures")
    cells = rows[rows["mechanism"] == anchor].drop_duplicates("epsilon").sort_values("epsilon").tail(MOST_COLUMNS)
    target = cells["guarantee_epsilon"].where(np.isfinite(cells["guarantee_epsilon"]), cells["guarantee_pure_epsilon"])
    return cells.assign(target=target)[["mechanism", "epsilon", "guarantee_epsilon", "target"]].reset_index(drop=True)


def likelihood_cells(metrics: pd.DataFrame, dataset: str, axis: str) -> pd.DataFrame:
    """Returns a data set's cells to show: mechanism, epsilon, guarantee, and the column of the grid.

    `value` is the share of victims named, a mean over `seeds`, from the `low`est to the `high`est.

    On the nominal axis a column is a nominal epsilon. On the guaranteed axis it is a guarantee at delta 1e-5: that
    which TLDP-L has at the nominal epsilon of the column.
    """
    rows = _attacked(metrics)
    rows = rows[(rows["dataset"] == dataset) & (rows["mechanism"] != NO_PRIVACY)]
    cells = (
        rows.groupby(KEYS, dropna=False)["value"].agg(value="mean", low="min", high="max", seeds="count").reset_index()
    )
    columns = columns_of(metrics, dataset)
    anchor = columns["mechanism"].iloc[0]
    places = [
        _place(epsilon, columns["epsilon"])
        if axis == "nominal" or name == anchor
        else _place(guarantee, columns["target"])
        for name, epsilon, guarantee in zip(
            cells["mechanism"], cells["epsilon"], cells["guarantee_epsilon"], strict=True
        )
    ]
    cells = cells.assign(column=places)
    return cells[cells["column"] >= 0].reset_index(drop=True)


def _place(value: float, columns: Iterable[float]) -> int:
    return next((i for i, at in enumerate(columns) if math.isclose(value, at, rel_tol=SAME_GUARANTEE)), -1)


def picture_key(dataset: str, kind: str, cell: Mapping[Any, Any]) -> str:
    """Returns the name of a cell's picture among the stored arrays."""
    return f"{dataset}/{kind}/{cell['mechanism']}/{cell['epsilon']:.12g}"


def pictures(metrics: pd.DataFrame, folder: Path) -> dict[str, NDArray[Any]]:
    """Draws one victim of each data set in every cell of both axes, (height, width) or (height, width, 3), bytes.

    Originals and reconstructions cover the range of the data, releases their own.

    Args:
        metrics: the metrics table, with the study's rows.
        folder: the folder of the prepared data sets.
    """
    found = {}
    for dataset in picture_datasets(metrics):
        test, train = (read_records(folder / dataset / f"{split}.safetensors") for split in ("test", "train"))
        prior = Prior.of(train.first(PUBLIC_RECORDS).x)
        axes = [likelihood_cells(metrics, dataset, axis) for axis in AXES]
        for cell in pd.concat(axes).drop_duplicates(["mechanism", "epsilon"]).to_dict("records"):
            for kind, picture in zip(KINDS, _seen(cell, dataset, prior, test), strict=True):
                low, high = (
                    (float(picture.min()), float(picture.max())) if kind == "released" else (test.low, test.high)
                )
                levels = 255 * (picture - low) / max(high - low, 1e-300)
                found[picture_key(dataset, kind, cell)] = (
                    levels.round().clamp(0, 255).byte().numpy().reshape(test.shape)
                )
    return found


def _seen(cell: Mapping[Any, Any], dataset: str, prior: Prior, test: Records) -> tuple[Tensor, Tensor, Tensor]:
    settings = Cell(
        study=STUDY,
        dataset=dataset,
        variant=cell["variant"],
        mechanism=cell["mechanism"],
        epsilon=f"{cell['epsilon']:.12g}",
        release="gradients",
        method=ATTACKS.name,
        delta=cell["delta"],
        training=AttackTraining(candidates=max(2, VICTIM + 1)),
        factors=AttackFactors(attack="likelihood"),
        seeds=(0,),
    )
    seen = decode(settings, mechanism_on(settings, test.box()), prior, candidates_of(settings, test, 0), 0, VICTIM + 1)
    return seen.original[VICTIM], seen.released[VICTIM], seen.reconstructed[VICTIM]
