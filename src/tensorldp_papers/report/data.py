"""The numbers that the report's explorer draws from: everything once, as compact JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from tensorldp.curves.gaussian import mu_of
from tensorldp.deltas import REPORT_DELTA
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp_papers.plots.curves import SHOWN
from tensorldp_papers.plots.lines import MOST_LINES
from tensorldp_papers.plots.names import (
    METRICS,
    dataset_name,
    factor_words,
    in_order,
    line_name,
    metric_label,
    study_name,
    variant_words,
)
from tensorldp_papers.plots.printed import printed_points
from tensorldp_papers.plots.style import MARKERS, in_the_dark, label, look, order
from tensorldp_papers.plots.words import json_number, own_data
from tensorldp_papers.rooms import paper, rooms
from tensorldp_papers.run.cell import variant_factors
from tensorldp_papers.run.table import CELL, PROFILE, SERIES

# factors that open a view of their own; others tell the lines of one view apart
SETTINGS = (
    *("backbone", "model", "where", "range", "eps", "tau", "attack", "features", "m", "d", "B"),
    *("split", "participation"),
)
# what the explorer says of a printed number
POINT_KEYS = ("study", "dataset", "metric", "epsilon", "value", "place", "sentence", "paper")
# what a study opens on, if it has one of them
SCORES = ("weighted_f1", "accuracy", "accuracy_perturbed_test", "auc", "rss_noisy", "relative_error", "psnr")
BALANCED = {  # data sets with even classes
    **dict.fromkeys(("digits", "mnist", "fashion_mnist", "cifar10"), 10),
    **dict.fromkeys(("imdb", "imdb_glove", "imdb_glove_short"), 2),
}


@cache
def gaussian_mu(epsilon: float, delta: float) -> float:
    """Computes the mu of the Gaussian release that has this epsilon at this delta; infinite or 0 where epsilon is."""
    if not math.isfinite(epsilon) or epsilon <= 0.0:
        return max(epsilon, 0.0)
    return mu_of(epsilon, delta)


def single_values(metrics: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of metrics that have one value a seed, and not one for each round, epoch or client."""
    keys = [key for key in SERIES if key in metrics]
    return metrics[metrics[keys].isna().all(axis=1)] if keys else metrics


def with_profiles(metrics: pd.DataFrame, guarantees: pd.DataFrame) -> tuple[pd.DataFrame, dict[float, str]]:
    """Returns the cells of the metrics with epsilon at every delta that is known for all of them.

    The guarantees have the columns `tensorldp_papers.run.table.PROFILE_COLUMNS`.

    Returns:
        One row a cell, and the column of each delta, the pure guarantee with its atoms at 0.
    """
    names = ["guarantee_unit", "guarantee_exact", "guarantee_pure_epsilon", "guarantee_atom", "guarantee_epsilon"]
    cells = metrics.drop_duplicates(CELL)[[*CELL, *names]].reset_index(drop=True)
    profiles = cells.merge(guarantees[[*CELL, *PROFILE.values()]], on=CELL, how="left")
    if len(profiles) == len(cells) and profiles[list(PROFILE.values())].notna().all(axis=None):
        return profiles, dict(PROFILE)
    atom = cells["guarantee_atom"] > 0
    return (
        cells.assign(epsilon_at_0=cells["guarantee_pure_epsilon"].mask(atom, math.inf)),
        {0.0: "epsilon_at_0", REPORT_DELTA: "guarantee_epsilon"},
    )


def line_and_setting(mechanism: str, variant: str) -> tuple[str, str]:
    """Names a cell's line, which `label` may know, and the view that it belongs to, both with their factors."""
    setting = ",".join(f"{k}={v}" for k, v in variant_factors(variant).items() if k in SETTINGS)
    return line_name(mechanism, variant, SETTINGS), setting


def line_label(line: str) -> str:
    """Names a line in words."""
    if label(line) != line:
        return label(line)
    mechanism, *rest = line.split(" ")
    return ", ".join([label(mechanism), *(factor_words(*pair.split("=", 1)) for pair in rest)])


def _cells(cells: pd.DataFrame, deltas: dict[float, str], audits: pd.DataFrame) -> list[list[Any]]:
    """Packs the cells for `explorer_data`, each with its best audit at every delta."""
    tried: dict[tuple[Any, ...], dict[float, list[Any]]] = {}
    for row in audits[audits["samples"] > 0].to_dict("records"):
        lower, samples, confidence = json_number(row["epsilon_lower"]), int(row["samples"]), float(row["confidence"])
        of_cell, delta = tried.setdefault(tuple(row[key] for key in CELL), {}), row["delta"]
        if delta not in of_cell or (lower or 0.0) > (of_cell[delta][0] or 0.0):
            of_cell[delta] = [lower, delta, row["kind"], samples, confidence]
    rows = []
    for row in cells.to_dict("records"):
        line, setting = line_and_setting(row["mechanism"], row["variant"])
        best = tried.get(tuple(row[key] for key in CELL), {})
        rows.append(
            [
                *(row["study"], row["dataset"], setting, line, json_number(row["epsilon"]), row["guarantee_unit"]),
                *(int(row["guarantee_exact"]), json_number(row["guarantee_pure_epsilon"])),
                [json_number(row[column]) for column in deltas.values()],
                [
                    json_number(gaussian_mu(float(row[column]), delta)) if delta else None
                    for delta, column in deltas.items()
                ],
                [best[delta] for delta in sorted(best)],
            ]
        )
    return rows


def _looks(lines: set[str]) -> dict[str, dict[str, Any]]:
    """Gives each line the look of its mechanism; the page gives those of one colour markers of their own."""
    return {
        line: {
            "label": line_label(line),
            "light": look(line).colour,
            "dark": in_the_dark(look(line).colour),
            "marker": look(line).marker,
            "reference": line.split(" ")[0] == NO_PRIVACY,
        }
        for line in order(lines)
    }


def opening(rows: pd.DataFrame, source: str) -> dict[str, Any]:
    """Returns what the explorer shows for a study before a reader chooses.

    It is the data set, score and setting with the most lines that have a place on the true axis, five counting as
    enough; then what the paper prints numbers of, then MNIST, then the most rows.

    Args:
        rows: rows of one study, for metrics with one value a seed.
        source: the key of its paper.

    Returns:
        `dataset`, `metric`, `setting`, `axis`, and `lines`, all in the order in which they are to be shown: what the
        paper proposes, `plots.curves.SHOWN`, then those with the most places.
    """
    split = [line_and_setting(m, v) for m, v in zip(rows["mechanism"], rows["variant"], strict=True)]
    rows = rows.assign(line=[line for line, _ in split], setting=[setting for _, setting in split])
    private = rows[rows["mechanism"] != NO_PRIVACY]
    at = np.isfinite(private["guarantee_epsilon"].astype(float)) & (private["guarantee_epsilon"] > 0)
    placed = private[at & np.isfinite(private["value"].astype(float))]
    datasets = in_order(rows["dataset"])

    def rank(group: tuple[Any, pd.DataFrame]) -> tuple[int, ...]:
        (dataset, metric, _), here = group
        places = here.groupby("line")["guarantee_epsilon"].nunique()
        score = SCORES.index(metric) if metric in SCORES else len(SCORES)
        printed = bool(printed_points(str(here["study"].iloc[0]), dataset, metric))
        order = (printed, dataset == "mnist", -score, len(here), -datasets.index(dataset))
        return int(metric in SCORES), min(len(places), MOST_LINES), *map(int, order)

    groups = (placed if len(placed) else rows).groupby(["dataset", "metric", "setting"])
    best, here = max(groups, key=rank)
    printed = np.isfinite(here["epsilon"].astype(float)).any()
    counts = placed.groupby("line")["guarantee_epsilon"].nunique()
    own = next((room.proposed[0] for room in rooms() if room.paper == source and room.proposed), "")

    def place(line: str) -> tuple[Any, ...]:
        known = SHOWN.index(line) if line in SHOWN else len(SHOWN)
        return line.split(" ")[0] != own, known, -int(counts.get(line, 0)), line

    return {
        **dict(zip(("dataset", "metric", "setting"), best, strict=True)),
        "axis": "printed" if printed else "guaranteed",
        "lines": sorted(set(rows["line"]), key=place),
    }


def _study(study: dict[str, Any], rows: pd.DataFrame, claims: pd.DataFrame) -> dict[str, Any]:
    """Returns what the explorer says of a study and opens on; `rows` are those of this study."""
    source = paper(study["paper"])
    reading = [study["study"] in studies.split() for studies in claims["studies"]]
    return {
        "title": study["title"],
        "figure": study["figure"],
        "name": study_name(study["study"]),
        "paper": source.short,
        "opening": opening(rows, study["paper"]),
        "source": study["paper"],
        "own": own_data(rows["dataset"], study["paper"]),
        "claims": claims["id"][reading].astype(str).tolist(),
    }


def _values(rows: pd.DataFrame, cells: pd.DataFrame) -> dict[str, list[list[Any]]]:
    """Returns for each metric its cells by index, each with a value a seed; one without finite values is left out."""
    place = {key: i for i, key in enumerate(map(tuple, cells[CELL].astype(object).to_numpy().tolist()))}
    found: dict[str, list[list[Any]]] = {}
    grouped = rows.sort_values("seed").groupby(["metric", *CELL], sort=False, dropna=False)["value"]
    for (metric, *cell), seeds in grouped:
        if np.isfinite(seeds).any():
            found.setdefault(str(metric), []).append([place[tuple(cell)], *map(json_number, seeds)])
    return found


def _metric(name: str) -> dict[str, str]:
    words = metric_label(name)
    return {"label": words, "axis": METRICS.get(name, (words, ""))[0]}


def explorer_data(
    metrics: pd.DataFrame,
    studies: Sequence[dict[str, Any]],
    *,
    claims: pd.DataFrame,
    audits: pd.DataFrame,
    guarantees: pd.DataFrame,
) -> dict[str, Any]:
    """Returns all that the explorer shows.

    Args:
        metrics: the metrics table.
        studies: {study, title, figure, paper} of each study.
        claims: the table of claims.
        audits: the table of audits.
        guarantees: each cell's epsilon at several deltas.

    Returns:
        Plain values for JSON. A cell is [study, data set, setting, line, printed epsilon, unit, exact, pure epsilon,
        epsilons, mus, audits], its lists in the order of `deltas`; an audit is [epsilon, delta, kind, samples,
        confidence]; None means infinity.
    """
    rows = single_values(metrics)
    rows = rows[rows["study"].isin([study["study"] for study in studies])]
    cells, deltas = with_profiles(rows, guarantees)
    packed = _cells(cells, deltas, audits)
    values = _values(rows, cells)
    of_study = dict(list(rows.groupby("study")))
    shown = {study["study"]: study for study in studies if study["study"] in of_study}
    return {
        "deltas": list(deltas),
        "first": next((name for name in (next(iter(rooms()[0].studies)), *shown) if name in shown), ""),
        "studies": {name: _study(study, of_study[name], claims) for name, study in shown.items()},
        "datasets": {name: dataset_name(name) for name in in_order(rows["dataset"])},
        "markers": MARKERS,
        "lines": _looks({cell[3] for cell in packed}),
        "settings": {setting: variant_words(setting) for setting in sorted({cell[2] for cell in packed})},
        "metrics": {metric: _metric(metric) for metric in sorted(values)},
        "cells": packed,
        "values": values,
        "printed": [{key: getattr(point, key) for key in POINT_KEYS} for point in printed_points() if point.proposed],
        "classes": BALANCED,
    }


def packed_json(value: Any) -> str:
    """Writes JSON that is safe inside a script element."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
