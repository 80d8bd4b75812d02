"""Where each kept number comes from: of each cell and seed, digests of its settings and of the code that made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from tensorldp.config.cell import AnyCell, epsilon_text, parse_cell
from tensorldp.config.methods import METHODS
from tensorldp.errors import InputError
from tensorldp.runtime.files import read_json
from tensorldp.studies.table import CELL

PROVENANCE = "provenance.parquet"
SEEDED = [*CELL, "seed"]
# digests of all settings and of the code, and the training settings that are not defaults, as JSON
COLUMNS = [*SEEDED, "settings", "training", "source"]


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


def noted_training(reference: Path) -> dict[Key, str]:
    """The training settings with which the kept rows of each cell were made, as JSON, where they are noted."""
    noted = read_provenance(reference)
    return {key: text for key, text in zip(keys(noted), noted["training"], strict=True) if text}


def as_trained(cell: AnyCell, noted: Mapping[Key, str]) -> AnyCell:
    """A cell as its study's file plans it, with the training settings that are noted of its rows, if any."""
    if not (text := noted.get(key_of(cell))):
        return cell
    return replace(cell, training=METHODS[cell.method].training.model_validate_json(text))


def cells_of_run(results: Path, *, skip_old: bool = False) -> dict[Key, AnyCell]:
    """The cells with metrics in a run's folder, with the settings and the seeds that they were computed with.

    Args:
        results: the folder of the run.
        skip_old: leave out cells with settings that there are no more, as earlier versions wrote them.

    Raises:
        InputError: if a file of metrics is damaged, or of such a cell.
    """
    found = {}
    for path in sorted((results / "metrics").rglob("*.json")):
        try:
            cell = parse_cell(read_json(path)["cell"])
        except (KeyError, TypeError):
            raise InputError(f"the metrics in {path} name no cell: delete the file and run again") from None
        except InputError as error:
            if skip_old:
                continue
            raise InputError(
                f"the metrics in {path} are of another version: delete the file and run again ({error})"
            ) from None
        found[key_of(cell)] = cell
    return found
