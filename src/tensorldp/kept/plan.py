"""What a configuration has to run: every study and data set with its cells, seeds, hours and disk, done and left."""

from __future__ import annotations

import math
from collections import Counter
from itertools import groupby
from typing import Any

import pandas as pd

from tensorldp.config.cell import AnyCell
from tensorldp.config.methods.base import SYNTHETIC
from tensorldp.data.catalogue import get as dataset_entry
from tensorldp.data.catalogue import names as dataset_names
from tensorldp.kept.costs import UNKNOWN, Costs
from tensorldp.kept.likeness import LEVELS, elements, records
from tensorldp.kept.state import DONE, KEPT, LEFT, OTHER, State

COUNTED = ["cells", "seeds", "runs", DONE, KEPT, OTHER, LEFT]
PLAN_COLUMNS = ["study", "dataset", *COUNTED, "hours", "hours_left", *LEVELS, UNKNOWN, "data_mb", "releases_mb"]
BYTES = 4  # of an element of a prepared record and of a release


def plan_table(cells: tuple[AnyCell, ...], state: State) -> pd.DataFrame:
    """One row per study and data set, in the order of the cells.

    Args:
        cells: those that are planned; a run is a cell and one of its seeds.
        state: what is computed already.

    Returns:
        The columns `PLAN_COLUMNS`. The counts of runs `done`, `kept`, `other` and `left` are those of `State.of`, with
        those of `other`, which have to run again, among `left`. `hours` are of one core (of a GPU where the measured
        ones were), of all runs and of those that are left, without the runs of which nothing like them was measured:
        their number is `unknown`, and the number of runs behind each kind of estimate stands under
        `kept.likeness.LEVELS`. Training and measuring count, not perturbing, scoring, guarantees, audits or features.
        `data_mb` is of the prepared records; `releases_mb` of the largest cell's releases of whole records, which lie
        on the disk until it is trained. Both are empty where they are not known beforehand.
    """
    costs = Costs(state.measured)
    rows = [
        {"study": study, "dataset": dataset, **_row(list(group), state, costs)}
        for (study, dataset), group in groupby(
            sorted(cells, key=lambda cell: (cell.study, cell.dataset)), lambda cell: (cell.study, cell.dataset)
        )
    ]
    order = {(cell.study, cell.dataset): place for place, cell in reversed(list(enumerate(cells)))}
    rows.sort(key=lambda row: order[row["study"], row["dataset"]])
    return pd.DataFrame(rows, columns=PLAN_COLUMNS)


def _row(cells: list[AnyCell], state: State, costs: Costs) -> dict[str, Any]:
    states: Counter[str] = Counter()
    estimates: Counter[str] = Counter()
    seconds = left = 0.0
    for cell in cells:
        estimate = costs.of(cell)
        known = not math.isnan(estimate.seconds)
        estimates[estimate.how] += len(cell.seeds)
        for seed in cell.seeds:
            now = state.of(cell, seed)
            states[now] += 1
            if known:
                seconds += estimate.seconds
                left += estimate.seconds if now in (OTHER, LEFT) else 0
    some = estimates[UNKNOWN] < estimates.total()
    releases = [_release_mb(cell) for cell in cells]
    return {
        "cells": len(cells),
        "seeds": len({seed for cell in cells for seed in cell.seeds}),
        "runs": states.total(),
        **{name: states[name] for name in (DONE, KEPT, OTHER)},
        LEFT: states[OTHER] + states[LEFT],
        "hours": seconds / 3600 if some else math.nan,
        "hours_left": left / 3600 if some else math.nan,
        **{how: estimates[how] for how in (*LEVELS, UNKNOWN)},
        "data_mb": _prepared_mb(cells[0].dataset),
        "releases_mb": math.nan if any(map(math.isnan, releases)) else max(releases),
    }


def _prepared_mb(dataset: str) -> float:
    if dataset == SYNTHETIC:
        return 0.0
    if dataset not in dataset_names():
        return math.nan
    return sum(dataset_entry(dataset).sizes) * elements(dataset) * BYTES / 1e6


def _release_mb(cell: AnyCell) -> float:
    if not cell.plan.perturbs:
        return 0.0
    if cell.release != "data" or cell.dataset not in dataset_names():
        return math.nan
    tested = dataset_entry(cell.dataset).sizes[1]
    return (records(cell) + tested) * elements(cell.dataset) * len(cell.seeds) * BYTES / 1e6


def plan_text(table: pd.DataFrame) -> str:
    """The table for a terminal, with a last line of sums and a sentence on what the hours rest on."""
    hours = ["hours", "hours_left"]
    shown = table[["study", "dataset", *COUNTED, *hours, UNKNOWN]].copy()
    sums = {name: shown[name].sum(min_count=1) for name in [*COUNTED[:1], *COUNTED[2:], *hours, UNKNOWN]}
    shown = pd.concat([shown, pd.DataFrame([{"study": "all", "dataset": "", "seeds": "", **sums}])], ignore_index=True)
    for name in hours:
        shown[name] = shown[name].map(lambda value: "?" if math.isnan(value) else f"{value:.2f}")
    estimates = {how: int(table[how].sum()) for how in (*LEVELS, UNKNOWN)}
    parts = ", ".join(f"{how} {count:,}" for how, count in estimates.items() if count)
    least = " Hours of unknown runs come on top." if estimates[UNKNOWN] else ""
    return (
        f"{shown.to_string(index=False)}\n\n"
        f"A run is a cell with one seed. {OTHER}: kept with settings or code that are not today's or were not noted; "
        "it is to run again and counts as left.\n"
        f"Runs whose hours are: {parts}.{least}\n"
        f"Disk: {_disk(table)}.\n"
    )


def _disk(table: pd.DataFrame) -> str:
    """What is known of the disk that a run takes, and of which data sets nothing is."""
    missing = table["data_mb"].isna() | table["releases_mb"].isna()
    unknown = ", ".join(dict.fromkeys(table.loc[missing, "dataset"]))
    largest = table["releases_mb"].max()
    known = table.drop_duplicates("dataset")["data_mb"].sum() + (0 if math.isnan(largest) else largest)
    size = f"{known:,.0f}" if known >= 1 else f"{known:.1g}"
    parts = [f"at least {size} MB for prepared data and the releases of one cell at a time"] if known else []
    parts += [f"unknown for {'what else there is of ' if known else ''}{unknown}"] if unknown else []
    return "; ".join(parts) or "next to none"
