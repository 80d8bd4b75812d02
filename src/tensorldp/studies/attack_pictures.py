"""Which attacked releases stand side by side, and one victim's pictures in each of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from torch import Tensor

from tensorldp.attacks.likelihood import Prior
from tensorldp.config.cell import Cell, variant_factors
from tensorldp.config.methods.attacks import ATTACKS, AttackFactors, AttackTraining
from tensorldp.errors import InputError
from tensorldp.registration.kinds import NO_PRIVACY
from tensorldp.studies.attack_table import STUDY
from tensorldp.studies.attacks.releases import candidates_of, decode
from tensorldp.studies.cell import mechanism_on
from tensorldp.studies.records import Records, read_records

PUBLIC = 12000  # records of an attacker's prior
COLUMNS = 3
VICTIM = 0  # of the victims of seed 0; the noise is a draw of its own
SAME = 1e-4  # two guarantees that differ by less, relatively, are one
KINDS = ("original", "released", "reconstructed")
ANCHORS = ("tldp-l", "tldp-g")
AXES = ("nominal", "guaranteed")
KEYS = ["mechanism", "epsilon", "delta", "variant", "guarantee_epsilon", "guarantee_pure_epsilon"]


def _attacked(metrics: pd.DataFrame) -> pd.DataFrame:
    rows = metrics[(metrics["study"] == STUDY) & (metrics["metric"] == "identification")]
    rows = rows[[variant_factors(v).get("attack") == "likelihood" for v in rows["variant"]]]
    if rows.empty:
        raise InputError("the metrics table has no releases attacked by likelihood")
    return rows


def picture_dataset(metrics: pd.DataFrame) -> str:
    """The data set whose pictures are shown, the first with attacked releases.

    Raises:
        InputError: if there is none.
    """
    return str(_attacked(metrics)["dataset"].iloc[0])


def columns_of(metrics: pd.DataFrame) -> pd.DataFrame:
    """The grid's columns: the cells of TLDP-L (TLDP-G if there are none), with the true epsilon `target` of each.

    The target is the guarantee at delta 1e-5. Where atoms heavier than delta leave none, it is the pure epsilon
    without the atoms, so that the other mechanisms have a place to stand.

    Raises:
        InputError: if neither was attacked.
    """
    rows = _attacked(metrics)
    rows = rows[rows["dataset"] == picture_dataset(metrics)]
    anchor = next((name for name in ANCHORS if name in set(rows["mechanism"])), None)
    if anchor is None:
        raise InputError("the metrics table has no attacked releases of TLDP, whose epsilons the pictures stand at")
    cells = rows[rows["mechanism"] == anchor].drop_duplicates("epsilon").sort_values("epsilon").tail(COLUMNS)
    target = cells["guarantee_epsilon"].where(np.isfinite(cells["guarantee_epsilon"]), cells["guarantee_pure_epsilon"])
    return cells.assign(target=target)[["mechanism", "epsilon", "guarantee_epsilon", "target"]].reset_index(drop=True)


def likelihood_cells(metrics: pd.DataFrame, axis: str) -> pd.DataFrame:
    """The cells to show: mechanism, epsilon, guarantee, share of victims named, and the column of the grid.

    On the nominal axis a column is a nominal epsilon. On the guaranteed axis it is a guarantee at delta 1e-5: that
    which TLDP-L has at the nominal epsilon of the column.

    Raises:
        InputError: if TLDP was not attacked.
    """
    rows = _attacked(metrics)
    rows = rows[(rows["dataset"] == picture_dataset(metrics)) & (rows["mechanism"] != NO_PRIVACY)]
    cells = rows.groupby(KEYS, dropna=False)["value"].mean().reset_index()
    columns = columns_of(metrics)
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
    return next((i for i, at in enumerate(columns) if math.isclose(value, at, rel_tol=SAME)), -1)


def picture_key(kind: str, cell: Mapping[Any, Any]) -> str:
    """The name of a cell's picture among the stored arrays."""
    return f"{kind}/{cell['mechanism']}/{cell['epsilon']:.12g}"


def pictures(metrics: pd.DataFrame, folder: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """One victim in every cell of both axes, as grey levels of one byte, and what they are of.

    Originals and reconstructions cover the range of the data, releases their own.

    Args:
        metrics: the metrics table, with the study's rows.
        folder: the prepared data set.

    Raises:
        InputError: if there is nothing to show.
    """
    dataset = picture_dataset(metrics)
    test, train = (read_records(folder / f"{split}.safetensors") for split in ("test", "train"))
    prior = Prior.of(train.first(PUBLIC).x)
    cells = pd.concat([likelihood_cells(metrics, axis) for axis in AXES]).drop_duplicates(["mechanism", "epsilon"])
    found = {}
    for cell in cells.to_dict("records"):
        for kind, picture in zip(KINDS, _seen(cell, dataset, prior, test), strict=True):
            low, high = (float(picture.min()), float(picture.max())) if kind == "released" else (test.low, test.high)
            grey = 255 * (picture - low) / max(high - low, 1e-300)
            found[picture_key(kind, cell)] = grey.round().clamp(0, 255).byte().numpy().reshape(picture.shape[0], -1)
    return found, {"dataset": dataset}


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
