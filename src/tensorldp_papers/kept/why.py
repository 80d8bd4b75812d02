"""Why a cell's results count or not: which setting, data, version or code changed since they were made."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import pandas as pd

from tensorldp.errors import InputError
from tensorldp_papers.kept import provenance
from tensorldp_papers.kept.provenance import METRICS, VERSIONS, among, data_digest, described
from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.code_digest import job_of_cell, source_listing
from tensorldp_papers.run.sealed import read_sealed
from tensorldp_papers.run.store import Store, code_list
from tensorldp_papers.run.table import CELL

LABELS = dict(zip(VERSIONS, ("method", "mechanism"), strict=True))


def why(cell: AnyCell, results: Path, reference: Path, scripts: Path, plugins: tuple[str, ...] = ()) -> str:
    """Returns for each wanted seed of a cell whether a result counts, and if not, what changed since it was made.

    Args:
        cell: as it is planned today.
        results: the folder of the run.
        reference: the folder of the kept results.
        scripts: the folder of the stages' scripts.
        plugins: names of a user's modules.
    """
    listing = source_listing(*job_of_cell(cell, scripts, plugins))
    told = [cell.path]
    for seed in cell.seeds:
        here = list(_of_run(cell, seed, results, listing))
        kept = list(_of_kept(cell, seed, results.parent, reference))
        told += [f"  seed {seed}: {line}" for line in here + kept or ["never computed here, and not kept"]]
    return "\n".join(told)


def _of_run(cell: AnyCell, seed: int, results: Path, listing: Mapping[str, str]) -> Iterator[str]:
    """Says how the results of a seed in the run's folder stand, the newest only."""
    store = Store(results)
    files = sorted((results / "cells" / cell.path).glob(f"seed~{seed}.*.json"), key=lambda path: path.stat().st_mtime)
    for path in files[-1:]:
        try:
            made = read_sealed(path, store.place(path))
        except InputError:
            yield f"the run's result {path.name} is damaged, so it is computed again"
            continue
        changes = [*_settings(made["cell"], cell.settings()), *_data(cell, results.parent, made["data"])]
        changes += _code(code_list(results, made["code"]), listing)
        yield _verdict("in the run's folder", made["run"]["commit"], changes)


def _of_kept(cell: AnyCell, seed: int, folder: Path, reference: Path) -> Iterator[str]:
    """Says how the kept result of a seed stands."""
    if not (reference / METRICS).exists():
        return
    today = pd.DataFrame([{**described(cell), "seed": seed}])
    rows = pd.read_parquet(reference / METRICS, columns=[*CELL, "seed", "commit"])
    mine = rows[among(rows, today, [*CELL, "seed"])]
    if mine.empty:
        return
    (made,) = provenance.with_origins(mine, reference).to_dict("records")
    (now,) = today.to_dict("records")
    changes = []
    if made["settings"] != now["settings"]:
        trained = [json.loads(row["training"] or "{}") for row in (made, now)]
        changes += list(_settings(*trained)) or ["a setting other than those of training"]
    for name, what in LABELS.items():
        if made[name] != now[name]:
            then = f"version {made[name]}" if made[name] else "a version that is not known"
            changes.append(f"the {what} has version {now[name]}, the result {then}")
    yield _verdict("kept", made["commit"], [*changes, *_data(cell, folder, made["data"])])


def _verdict(place: str, commit: str, changes: list[str]) -> str:
    if not changes:
        return f"{place}, counts (made by commit {commit})"
    return f"{place}, does not count (made by commit {commit}): {'; '.join(changes)}"


def _settings(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    old, new = _flat(then), _flat(now)
    for name in sorted(old.keys() | new.keys()):
        if name != "seeds" and old.get(name) != new.get(name):
            texts = [json.dumps(side[name]) if name in side else "the default" for side in (old, new)]
            yield f"{name} was {texts[0]}, is {texts[1]}"


def _flat(settings: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in settings.items():
        found |= _flat(value, f"{before}{name}.") if isinstance(value, Mapping) else {f"{before}{name}": value}
    return found


def _data(cell: AnyCell, folder: Path, then: str) -> Iterator[str]:
    """Says whether the records are others, where they are prepared in the working directory."""
    if (today := data_digest(cell, folder)) and then and today != then:
        yield f"the data in {cell.data_folder} are others"


def _code(then: Mapping[str, str] | None, now: Mapping[str, str]) -> Iterator[str]:
    if then is None:
        yield "its list of code files is gone, so whether code changed is not known"
        return
    changed = [name for name in sorted(then.keys() | now.keys()) if then.get(name) != now.get(name)]
    if changed:
        yield f"code changed in {', '.join(changed)}"


def cell_of(path: str, cells: tuple[AnyCell, ...]) -> AnyCell:
    """Returns the planned cell of a path.

    Raises:
        InputError: if there is none, with the nearest ones.
    """
    path = path.removeprefix("results/").removeprefix("metrics/").removesuffix(".json").strip("/")
    found = {cell.path: cell for cell in cells}
    if path in found:
        return found[path]
    near = get_close_matches(path, found, cutoff=0)
    raise InputError(f"the configuration plans no cell {path}; the nearest are {', '.join(near)}")
