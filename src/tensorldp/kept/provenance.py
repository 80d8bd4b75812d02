"""Where each kept number comes from: of each cell and seed, digests of its settings and of the code that made it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from tensorldp.config.cell import AnyCell, epsilon_text, parse_cell
from tensorldp.errors import InputError
from tensorldp.runtime.files import read_json
from tensorldp.studies.table import CELL

PROVENANCE = "provenance.parquet"
SEEDED = [*CELL, "seed"]
DIGESTS = ["settings", "training", "source"]
COLUMNS = [*SEEDED, *DIGESTS]


class Key(NamedTuple):
    """A cell by name; epsilon is the canonical text."""

    study: str
    dataset: str
    variant: str
    mechanism: str
    epsilon: str


def key_of(cell: AnyCell) -> Key:
    """The name of a planned cell."""
    return Key(cell.study, cell.dataset, cell.variant, cell.mechanism, cell.epsilon)


def keys(table: pd.DataFrame) -> list[Key]:
    """The cell of each row."""
    columns = [table[name].astype(str) for name in CELL[:-1]]
    return [Key(*row) for row in zip(*columns, table["epsilon"].map(epsilon_text), strict=True)]


def read_provenance(reference: Path) -> pd.DataFrame:
    """The kept digests, none where nothing was recorded."""
    path = reference / PROVENANCE
    return pd.read_parquet(path) if path.exists() else pd.DataFrame(columns=COLUMNS)


def cells_of_run(results: Path) -> dict[Key, AnyCell]:
    """The cells with metrics in a run's folder, with the settings and the seeds that they were computed with.

    Raises:
        InputError: if a file of metrics is damaged.
    """
    found = {}
    for path in sorted((results / "metrics").rglob("*.json")):
        try:
            cell = parse_cell(read_json(path)["cell"])
        except (KeyError, TypeError):
            raise InputError(f"the metrics in {path} name no cell: delete the file and run again") from None
        found[key_of(cell)] = cell
    return found
