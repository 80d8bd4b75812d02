"""Verdicts from the reference results: the metrics kept from the largest runs, decided with today's checks.

All claims are decided again whenever a run is added. So no verdict depends on the order in which runs came, and a
reason why something was not run always matches the rows that are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from tensorldp.errors import InputError
from tensorldp_papers.claims.base import NotRun, catalogue
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.table import COLUMNS, find, row_of
from tensorldp_papers.data.catalogue import get
from tensorldp_papers.kept.provenance import (
    METRICS,
    SCALES,
    SEEDED,
    Name,
    as_trained,
    cells_as_planned,
    names,
    noted_training,
)
from tensorldp_papers.plots.names import OPEN
from tensorldp_papers.rooms import room_of
from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.grid import Plan
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.table import CELL, read_table


class NotKept(NotRun):
    """A claim needs a file of a run that the reference results do not keep."""


@cache
def _exact(name: str) -> pd.DataFrame:
    """Computes a table that its room makes from nothing; claims read only its exact columns."""
    room = room_of(name)
    if room is None or not room.tables[name].function or room.tables[name].reads:
        raise NotKept(f"needs results/tables/{name}.csv, which is not kept")
    table: pd.DataFrame = room.code(room.tables[name].function)(draws=2)
    return table


def _cells(runs: pd.DataFrame, trained: Mapping[Name, str]) -> Iterator[AnyCell]:
    """Returns the cells that have runs, with the training that is noted for them or that their study's file plans."""
    table = cells_as_planned(runs)
    planned = dict(zip(names(table), table["cell"], strict=True))
    same: dict[tuple[int, ...], tuple[int, ...]] = {}  # most cells have the same seeds, which may be many
    for name, found in runs.groupby(CELL, sort=False, observed=True)["seed"]:
        if name not in planned:
            raise InputError(f"kept rows belong to a cell that no arm plans: {' '.join(map(str, name[:4]))}")
        seeds = tuple(sorted({int(seed) for seed in found}))
        yield replace(as_trained(planned[name], trained), seeds=same.setdefault(seeds, seeds))


class KeptEvidence(Evidence):
    """The metrics of results/reference as claims see them; each study has the scale of its run."""

    def __init__(self, reference: Path, trained: Mapping[Name, str] | None = None) -> None:
        path, cells, scales, commits = reference / METRICS, list[AnyCell](), set[str](), set[str]()
        studies = sorted(read_table(path, columns=["study"], compact=True)["study"].unique())
        for study in studies:
            runs = read_table(path, [study], columns=[*SEEDED, "scale", "commit"], compact=True).drop_duplicates()
            cells += _cells(runs, trained or {})
            scales.update(runs["scale"])
            commits.update(runs["commit"])
        settings = parse_settings({"scale": max(scales, key=SCALES.index), "studies": studies})
        super().__init__(Plan(settings, {}, tuple(cells)), Path())
        self.commits = sorted(commits)
        self._metrics = path

    @property
    def place(self) -> str:
        return "the kept results"

    def table(self, name: str) -> pd.DataFrame:
        """Computes a table of exact columns with few draws: what was measured in it decides nothing."""
        table = _exact(name).copy()
        self.used.append(f"results/tables/{name}.csv")
        return table

    def sizes(self, dataset: str, cells: list[AnyCell]) -> tuple[int, list[int]]:
        """Returns those of the release, for a data set with kept rows: `prepare` refuses files with other numbers."""
        if dataset not in {cell.dataset for cell in self.plan.cells}:
            raise self.lacks(dataset)
        train, test = get(dataset).sizes
        return train, [test]

    def features(self, study: str, dataset: str, extractor: str) -> NDArray[Any]:
        """Says that the features are not kept."""
        raise NotKept(f"needs the features of {study}, which are not kept")


def decide_again(reference: Path, earlier: pd.DataFrame | None = None) -> pd.DataFrame:
    """Decides the claims of the reference results; each row has the scale and the commits of the rows behind it.

    Args:
        reference: the folder of the reference results.
        earlier: rows of earlier tables, oldest first, for claims that need what is not kept; a decided one goes before
            an open one, and then a later one before an earlier.

    Raises:
        InputError: if a check fails on damaged results.
    """
    evidence = KeptEvidence(reference, noted_training(reference))
    scale, commits = evidence.scale, " ".join(evidence.commits)
    rows = []
    for claim in catalogue().values():
        found = find(claim, evidence)
        row = {**row_of(claim, found, evidence), "scale": scale, "commit": commits}
        rows.append(row | (_earlier(earlier, claim.id) if isinstance(found, NotKept) else {}))
    return pd.DataFrame(rows, columns=[*COLUMNS, "scale", "commit"])


def _earlier(tables: pd.DataFrame | None, id: str) -> dict[str, Any]:
    """Returns the row of a claim that was decided, and last; empty without one."""
    if tables is None:
        return {}
    rows = tables[(tables["id"] == id) & ~tables["verdict"].isin(OPEN)]
    if rows.empty:
        return {}
    columns = [column for column in [*COLUMNS, "scale", "commit"] if column in rows]
    # older tables had no column for what would decide a claim, and a decided one needs nothing
    return {"condition": "", **{key: rows[key].fillna("").iloc[-1] for key in columns}, "wanted": ""}
