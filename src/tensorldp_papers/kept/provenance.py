"""The files of the kept results, and what made each number: the settings, code and data of its cell and seed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from tensorldp.errors import InputError
from tensorldp_papers.run.cell import AnyCell, epsilon_text, parse_cell
from tensorldp_papers.run.grid import make_plan
from tensorldp_papers.run.method_plan import plan_of
from tensorldp_papers.run.sealed import read_sealed
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.store import Store, content_of, digest
from tensorldp_papers.run.table import CELL
from tensorldp_papers.run.table import read_table as read_whole

SCALES = ("quick", "desk", "paper")
METRICS, SERIES_TABLE, AUDITS, STANDING = "metrics.parquet", "series.parquet", "audits.csv", "standing.csv"
CLAIMS, PIECES, PROVENANCE = "claims.csv", "pieces.csv", "provenance.parquet"
SEEDED = [*CELL, "seed"]  # a run: a cell and a seed
VERSIONS = ["method_version", "mechanism_version"]  # of the numbers that were computed; 0 if not known
# digests of all settings and of the records, and the training settings that are not defaults; empty if never noted
ORIGIN = ["settings", "training", *VERSIONS, "data"]
UNNOTED = {name: 0 if name in VERSIONS else "" for name in ORIGIN}
CURRENT = [*SEEDED, "settings", *VERSIONS]  # a kept run with today's values of these counts
Name = tuple[str, str, str, str, float]


def name_of(cell: AnyCell) -> Name:
    """Returns the values of CELL."""
    return cell.study, cell.dataset, cell.variant, cell.mechanism, cell.nominal_epsilon


def names(table: pd.DataFrame, columns: list[str] = CELL) -> list[tuple[Any, ...]]:
    """Returns some columns of each row, by default the cell's name."""
    return list(table[columns].itertuples(index=False, name=None))


def among(rows: pd.DataFrame, others: pd.DataFrame, columns: list[str]) -> pd.Series:
    """Returns for each row whether another one has the same values in some columns."""
    found = set(names(others, columns))
    return pd.Series([name in found for name in names(rows, columns)], index=rows.index, dtype=bool)


def settings_digest(cell: AnyCell) -> str:
    """Returns a text that changes with any setting of the cell but its seeds and the precision of its networks.

    A training setting with its default counts as absent, so that a new one leaves the text as it was.
    """
    settings = {**cell.release_settings(), "training": cell.training.model_dump(exclude_defaults=True)}
    del settings["seeds"]
    return digest(json.dumps(settings, sort_keys=True))


def described(cell: AnyCell) -> dict[str, Any]:
    """Describes the cell as a row: its name, and what it says today of `ORIGIN`."""
    training = json.dumps(cell.training.model_dump(exclude_defaults=True), sort_keys=True)
    name = dict(zip(CELL, name_of(cell), strict=True))
    return {**name, "settings": settings_digest(cell), "training": training, **cell.versions, "cell": cell}


def data_digest(cell: AnyCell, folder: Path) -> str:
    """Returns the digest of the cell's records as results note it, where a run's folder has them; else empty."""
    place = cell.data_folder
    return digest(content_of(folder / place)) if place and (folder / place / "digest.json").exists() else ""


def read_result(store: Store, path: Path) -> dict[str, Any]:
    """Reads a result of the store as a row, with what made it and the values."""
    content, seed = read_sealed(path, store.place(path)), int(path.name.split(".")[0].removeprefix("seed~"))
    try:
        found = {**described(parse_cell(content["cell"])), "seed": seed, "seconds": float(content["run"]["seconds"])}
        made = {name: content[name] for name in (*VERSIONS, "code", "data", "rows")}
        return {**found, **made}
    except (KeyError, TypeError):
        raise InputError(f"the result {path} does not say what made it: delete the file and run again") from None
    except InputError as error:
        raise InputError(f"the result {path} comes from another version: delete it and run again ({error})") from None


def read_table(path: Path) -> pd.DataFrame | None:
    """Reads a table of either kind; None where there is none."""
    return read_whole(path) if path.exists() else None


def with_origins(metrics: pd.DataFrame, reference: Path) -> pd.DataFrame:
    """Returns a row for each run of the kept rows, with `ORIGIN`."""
    runs, noted = metrics.drop_duplicates(SEEDED), read_table(reference / PROVENANCE)
    if noted is None:
        return runs.assign(**UNNOTED)
    found = runs.merge(noted, on=SEEDED, how="left", validate="one_to_one").fillna(UNNOTED)
    return found.astype(dict.fromkeys(VERSIONS, int))


def noted_training(reference: Path) -> dict[Name, str]:
    """Returns the training settings with which each kept cell was made, as JSON, where they are noted."""
    noted = read_table(reference / PROVENANCE)
    return {} if noted is None else dict(zip(names(noted), noted["training"], strict=True))


def as_trained(cell: AnyCell, noted: Mapping[Name, str]) -> AnyCell:
    """Returns a cell as its study's file plans it, with the training settings that are noted for its rows, if any."""
    text = noted.get(name_of(cell))
    return replace(cell, training=plan_of(cell.method).training.model_validate_json(text)) if text else cell


def cells_as_planned(metrics: pd.DataFrame) -> pd.DataFrame:
    """Describes the kept cells at the scales of their rows, as the studies' files plan them today (`described`).

    What the files plan at other epsilons is taken at the row's epsilon. What they do not plan has no row.
    """
    found = []
    for (study, scale), part in metrics.groupby(["study", "scale"], observed=True):
        asked = {"scale": scale, "studies": [study], "datasets": {study: sorted(set(part["dataset"]))}}
        try:
            settings = parse_settings(asked)
            cells = make_plan(settings).cells
        except InputError:  # a study, a scale or a data set that the files no longer have
            continue
        planned = {name_of(cell): cell for cell in cells}
        alike = {name[:4]: cell for name, cell in planned.items()}
        for name in names(part[CELL].drop_duplicates()):
            if cell := planned.get(name) or alike.get(name[:4]):
                found.append(described(replace(cell, epsilon=epsilon_text(name[4]))))
    return pd.DataFrame(found, columns=[*CELL, "settings", "training", *VERSIONS, "cell"]).astype({"epsilon": float})
