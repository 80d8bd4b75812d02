"""What a configuration has to run: for each study and data set its cells, seeds, hours and disk, done and left."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from tensorldp.errors import InputError
from tensorldp_papers.data.catalogue import get as dataset_entry
from tensorldp_papers.data.catalogue import names as dataset_names
from tensorldp_papers.kept import provenance
from tensorldp_papers.kept.provenance import CURRENT, METRICS, SEEDED, among, data_digest, described, names
from tensorldp_papers.progress import about
from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.code_digest import code_of_cell
from tensorldp_papers.run.method_plan import SYNTHETIC
from tensorldp_papers.run.store import Store
from tensorldp_papers.run.table import CELL

DONE, KEPT, OTHER, LEFT = "done", "kept", "other", "left"
LEVELS = ("measured", "same mechanism", "same network", "same network, other data")
UNKNOWN = "unknown"
STORED = ["settings", "code"]  # a run's own result with today's values of these counts
COUNTED = ["cells", "seeds", "runs", DONE, KEPT, OTHER, LEFT]
HOURS, DISK = ["hours", "hours_left"], ["data_mb", "releases_mb"]
PLAN_COLUMNS = ["study", "dataset", *COUNTED, *HOURS, *LEVELS, UNKNOWN, *DISK]
JOBS = (2, 100)  # at once: a laptop's, and a cluster's
SHORT_BATCH = 20  # seconds, beside the three or four that its stages take to begin
BYTES = 4  # of an element of a prepared record and of a release
# factors that decide how long a step takes, and training settings that seconds are in proportion to
COMPUTING = ("model", "backbone", "attack", "features", "width", "m", "d", "B")
COUNTS = ("epochs", "rounds", "participation")
# of those of private SGD and of attacks, whatever the number of records; any other attack has victims and steps
STEPS = {
    "private_sgd": ("steps", "lot"),
    "tensor": ("draws",),
    "sensitivity": ("pairs",),
    "likelihood": ("victims",),
    "membership": ("members", "member_epochs"),
    "attacks": ("victims", "steps"),
}
Measured = tuple[AnyCell, float]  # the seconds of a seed, and the cell with the settings that it had then


def computed(
    cells: Sequence[AnyCell], results: Path, reference: Path, workflow: Path, plugins: tuple[str, ...] = ()
) -> tuple[pd.DataFrame, list[Measured]]:
    """Returns which part of a plan is computed.

    Args:
        cells: those that are planned.
        results: the folder of the run, which may be empty.
        reference: the folder of the kept results, which may be empty.
        workflow: the folder with scripts/.
        plugins: the config's.

    Returns:
        A row for each planned run with `cell`, `seed` and `state`: `done` in the run's folder with today's settings and
        code, `kept` with today's settings and versions, kept with `other` ones, or `left`. And the seconds of all that
        is stored or kept.
    """
    rows = [{**described(cell), "code": code_of_cell(cell, workflow / "scripts", plugins)} for cell in cells]
    runs = pd.DataFrame([{**row, "seed": seed} for row in rows for seed in row["cell"].seeds]).assign(state=LEFT)
    measured = []

    def mark(found: pd.DataFrame, columns: list[str], state: str) -> None:
        runs.loc[among(runs, found, columns), "state"] = state

    if (reference / METRICS).exists():
        kept = provenance.with_origins(
            pd.read_parquet(reference / METRICS, columns=[*SEEDED, "seconds", "scale"]), reference
        )
        mark(kept, SEEDED, OTHER)
        today = {provenance.name_of(cell): data_digest(cell, results.parent) for cell in cells}
        records = pd.Series([today.get(name, "") for name in names(kept)], index=kept.index, dtype=object)
        others = (records != "") & (kept["data"] != "") & (records != kept["data"])
        mark(kept[~others], CURRENT, KEPT)
        then = kept.merge(provenance.cells_as_planned(kept)[[*CELL, "cell"]], on=CELL)
        trained = provenance.noted_training(reference)
        measured = [
            (provenance.as_trained(cell, trained), seconds) for cell, seconds in names(then, ["cell", "seconds"])
        ]
    stored = []
    for path in sorted((results / "cells").rglob("seed~*.json")):
        try:
            stored.append(provenance.read_result(Store(results), path))
        except InputError:  # damaged, or of an earlier version
            continue
    mark(pd.DataFrame(stored, columns=[*SEEDED, *STORED]), [*SEEDED, *STORED], DONE)
    return runs, measured + [(row["cell"], row["seconds"]) for row in stored]


def plan_table(runs: pd.DataFrame, measured: Iterable[Measured]) -> pd.DataFrame:
    """Sums what `computed` returns to one row per study and data set, in the order of the runs.

    Returns:
        The columns `PLAN_COLUMNS`. The counts `done`, `kept`, `other` and `left` count runs; `other` ones have to run
        again and count as left. `hours` and `hours_left` cover runs whose seconds can be estimated, only from training
        or measuring; the columns of `LEVELS` and `unknown` count the runs by kind of estimate. `data_mb` is the size of
        the prepared records, `releases_mb` that of the largest cell's releases; empty where they are not known.
    """
    estimates = estimate_seconds(dict.fromkeys(runs["cell"]), measured)
    seconds, hows = zip(*(estimates[cell] for cell in runs["cell"]), strict=True)
    runs = runs.assign(seconds=seconds, how=hows, release=runs["cell"].map(_release_mb))
    rows = []
    for (study, dataset), part in runs.groupby(["study", "dataset"], sort=False):
        left = part["state"].isin([OTHER, LEFT])
        counts = [part["cell"].nunique(), part["seed"].nunique(), len(part)]
        counts += [*((part["state"] == state).sum() for state in (DONE, KEPT, OTHER)), left.sum()]
        hours = [(part["seconds"] * these).sum(min_count=1) / 3600 for these in (1, left)]
        alike = [(part["how"] == how).sum() for how in (*LEVELS, UNKNOWN)]
        rows.append(
            [study, dataset, *counts, *hours, *alike, _data_mb(str(dataset)), part["release"].max(skipna=False)]
        )
    return pd.DataFrame(rows, columns=PLAN_COLUMNS)


def estimate_seconds(cells: Iterable[AnyCell], measured: Iterable[Measured]) -> dict[AnyCell, tuple[float, str]]:
    """Estimates the seconds of one seed of each cell, and says from which of `LEVELS`; NaN where nothing like it ran.

    They are the mean of the measured cells that are most like it, in proportion to the work. Cells that are scored with
    another cell's models take none, as what scoring takes is not kept.
    """
    rates: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for cell, seconds in measured:
        if seconds > 0 and not _uses_models(cell):
            for key in _levels(cell):
                rates[key].append(seconds / work(cell))
    found = {}
    for cell in cells:
        alike = [
            (sum(rates[key]) / len(rates[key]) * work(cell), how)
            for key, how in zip(_levels(cell), LEVELS, strict=True)
            if key in rates
        ]
        found[cell] = (0.0, LEVELS[0]) if _uses_models(cell) else (*alike, (math.nan, UNKNOWN))[0]
    return found


def work(cell: AnyCell) -> float:
    """Returns what seconds are taken to be proportional to, among cells of a study with the same `COMPUTING`."""
    settings = cell.training.model_dump()
    steps = STEPS.get(cell.method) and STEPS.get(str(cell.factors.named().get("attack")), STEPS[cell.method])
    counts = math.prod(settings[name] for name in steps or COUNTS if settings.get(name))
    return float(counts * _elements(cell.dataset) * (1 if steps else _records(cell)))


def _levels(cell: AnyCell) -> tuple[tuple[str, ...], ...]:
    """Returns which runs are like this one at each of `LEVELS`; data of unknown size are like no other."""
    named = cell.factors.named()
    network = ",".join(f"{name}={named[name]}" for name in COMPUTING if name in named)
    unsized = "" if cell.dataset in dataset_names() else cell.dataset
    return (
        (cell.study, cell.dataset, cell.variant, cell.mechanism, cell.epsilon, repr(work(cell))),
        (cell.study, cell.dataset, cell.variant, cell.mechanism),
        (cell.study, cell.dataset, network),
        (cell.study, "any data", unsized, network, ""),
    )


def _uses_models(cell: AnyCell) -> bool:
    return cell.plan.shares_models and cell.path != cell.model_path


def _elements(dataset: str) -> int:
    """Counts the elements of a record; 1 where that is not known, as of a user's own data."""
    return math.prod(dataset_entry(dataset).shape) if dataset in dataset_names() else 1


def _records(cell: AnyCell) -> int:
    """Counts the training records that the cell reads; 1 where it reads none or their number is not known."""
    if not cell.plan.data or cell.dataset not in dataset_names():
        return 1
    size = dataset_entry(cell.dataset).sizes[0]
    return min(size, cell.training.limit or size)


def _data_mb(dataset: str) -> float:
    if dataset not in dataset_names():
        return 0.0 if dataset == SYNTHETIC else math.nan
    return sum(dataset_entry(dataset).sizes) * _elements(dataset) * BYTES / 1e6


def _release_mb(cell: AnyCell) -> float:
    if not cell.plan.perturbs:
        return 0.0
    if cell.release != "data" or cell.dataset not in dataset_names():
        return math.nan
    count = _records(cell) + dataset_entry(cell.dataset).sizes[1]
    return count * _elements(cell.dataset) * len(cell.seeds) * BYTES / 1e6


def plan_text(table: pd.DataFrame, batches: int = 1) -> str:
    """Writes the table for a terminal, with a line of sums, and sentences on what the hours rest on.

    Args:
        table: of `plan_table`.
        batches: in which the cells are computed.
    """
    shown = table[["study", "dataset", *COUNTED, *HOURS, UNKNOWN, *DISK]].astype(object)
    summed = [name for name in (*COUNTED, *HOURS, UNKNOWN) if name != "seeds"]
    total = {name: table[name].sum(min_count=1) for name in summed}
    shown = pd.concat([shown, pd.DataFrame([{"study": "all", **total}], dtype=object)], ignore_index=True)
    for name in (*HOURS, *DISK):
        digits = 2 if name in HOURS else 1
        shown[name] = [f"{value:.{digits}f}" if pd.notna(value) else "?" for value in shown[name]]
    shown.loc[len(table), ["dataset", "seeds", *DISK]] = ""
    estimates = ", ".join(f"{how} {count:,}" for how in (*LEVELS, UNKNOWN) if (count := int(table[how].sum())))
    least = " Hours of unknown runs come on top." if table[UNKNOWN].sum() else ""
    return (
        f"{shown.to_string(index=False)}\n\n"
        f"A run is a cell with one seed. {OTHER}: kept with settings or versions that are not today's or not known; "
        "it has to run again and counts as left.\n"
        f"Runs whose hours are: {estimates}.{least}\n{_in_all(table, batches)}"
    )


def _in_all(table: pd.DataFrame, batches: int) -> str:
    """What is left, its largest part, and how long several jobs at once take; empty where nothing is measured."""
    of_studies = table.groupby(["study", "dataset"])["hours_left"].sum()
    hours = float(of_studies.sum())
    if not hours:
        return ""
    place: Any = of_studies.idxmax()
    share = float(of_studies.max()) / hours
    part = f"; {share:.0%} of them are {' on '.join(place)}" if share < 1.0 else ""
    first, *more = (f"{jobs} jobs at once take {about(3600 * hours / jobs)}" for jobs in JOBS)
    short = ""
    if 3600 * hours < SHORT_BATCH * batches:
        short = f" Each stage of {batches} batches takes a second more to begin: a larger cells_per_job saves that."
    return f"Left: {about(3600 * hours)} of one core{part}. {first}, {' and '.join(more)}.{short}\n"
