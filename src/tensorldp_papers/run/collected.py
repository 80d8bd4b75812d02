"""What collecting a study left for the next time: its tables and which results they have; only others are read."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from tensorldp.errors import InputError
from tensorldp.files import sha256
from tensorldp_papers.run.cell import epsilon_text
from tensorldp_papers.run.sealed import read_sealed, write_sealed
from tensorldp_papers.run.store import Manifest, Store, digest
from tensorldp_papers.run.table import read_table

KEPT = ".collected"  # beside the tables, as Snakemake deletes these before they are made again
NOTE = "collected.json"  # the digests of its tables, and those of the results of each cell; written last
AS_TEXTS: dict[str, Any] = {"dtype": defaultdict(lambda: str, epsilon=float), "keep_default_na": False}  # of a CSV file


def results_of(store: Store, manifest: Manifest, how: str) -> dict[str, str]:
    """Returns a text for each cell that changes when a result of it is written, or when `how` it is collected does."""
    return {
        cell: digest(how, *(f"{part} {key} {store.written(cell, part, key)}" for part, key in sorted(parts.items())))
        for cell, parts in manifest.items()
    }


def unchanged(folder: Path, names: Sequence[str], now: Mapping[str, str]) -> tuple[dict[str, pd.DataFrame], set[str]]:
    """Returns the rows, by table, of cells that were collected before and are as they were then, and these cells.

    Texts of CSV files stay the texts they are. Where anything is missing or damaged there are no such cells.

    Args:
        folder: of the tables.
        names: of the tables; each cell has one row in the last one.
        now: what `results_of` says.
    """
    kept = folder / KEPT
    try:
        noted = read_sealed(kept / NOTE, NOTE)
        same = {cell for cell, made in now.items() if noted["cells"].get(cell) == made}
        if not same or noted["tables"] != {name: sha256(kept / name) for name in names}:
            return {}, set()
        tables = {name: _rows_of(read_table(kept / name, **AS_TEXTS), same) for name in names}
    except (InputError, OSError, AttributeError, KeyError):
        return {}, set()
    return (tables, same) if len(tables[names[-1]]) == len(same) else ({}, set())


def _rows_of(table: pd.DataFrame, cells: set[str]) -> pd.DataFrame:
    """Returns the rows of some cells, which are named by their paths."""
    if table.empty:
        return table
    epsilons = table["epsilon"].map({epsilon: epsilon_text(epsilon) for epsilon in table["epsilon"].unique()})
    folder = table["study"] + "/" + table["dataset"] + "/" + table["variant"].str.replace(",", "+")
    return table[(folder + "/" + table["mechanism"] + "/epsilon~" + epsilons).isin(cells)]


def keep(folder: Path, names: Sequence[str], now: Mapping[str, str]) -> None:
    """Keeps the tables of a folder for `unchanged`."""
    kept = folder / KEPT
    kept.mkdir(exist_ok=True)
    (kept / NOTE).unlink(missing_ok=True)
    for name in names:
        shutil.copyfile(folder / name, kept / name)
    write_sealed(kept / NOTE, {"cells": dict(now), "tables": {name: sha256(kept / name) for name in names}}, NOTE)
