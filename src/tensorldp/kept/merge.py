"""Merge the numbers of finished runs, on whatever machines, into the kept results that figures are drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from tensorldp.errors import InputError
from tensorldp.kept.digests import settings_digest, source_digests, training_text
from tensorldp.kept.pieces import pieces_table, run_facts
from tensorldp.kept.provenance import COLUMNS, PROVENANCE, SEEDED, Key, cells_of_run, keys, read_provenance
from tensorldp.kept.rules import Origin, check_seeds, check_training
from tensorldp.kept.standing import add_standings
from tensorldp.kept.state import cells_as_planned
from tensorldp.kept.tables import AUDITS, METRICS, PIECES, RUNS, SCALES, SERIES, STANDING, read_table
from tensorldp.runtime.files import read_arrays, replacing, write_arrays, write_json, write_text
from tensorldp.studies.table import CELL

Place = tuple[Key, int]


def merge_run(
    results: Path, reference: Path, repository: Path, *, allow_dirty: bool = False, only: Sequence[str] = ()
) -> list[str]:
    """Put the rows of a finished run among the kept results; returns the studies of which rows were taken over.

    Of a study that is kept at a smaller scale all rows go; one that is kept at a larger scale stays as it is. At the
    same scale, a cell's seeds take the place of the same seeds and stand beside others that have the same settings and
    code; `kept.rules` refuses the rest. What the run does not have stays. The claims are decided from the kept rows
    (`claims/kept.py`), not merged.

    Args:
        results: the folder of the run, with metrics.parquet, series.parquet and metrics/; privacy/audits.csv,
            standing.csv and pictures/ are taken where they are there.
        reference: the folder that holds the kept results.
        repository: the checkout, in which the commits of the rows are looked up.
        allow_dirty: also take results of sources that no commit has, whose `commit` ends in "+".
        only: the studies to take; all of the run's without.

    Raises:
        InputError: if the run is not finished, its sources were not committed, or its rows do not fit those that are
            kept. Nothing is written then.
    """
    metrics, series = (_finished(results, name) for name in (METRICS, SERIES))
    if only:
        metrics = metrics[metrics["study"].isin(only)]
    _check_commits(results, metrics, allow_dirty=allow_dirty)
    (scale,) = metrics["scale"].unique()
    old = read_table(reference / METRICS)
    kept = metrics.iloc[:0] if old is None else old
    sizes = {str(study): str(part["scale"].iloc[0]) for study, part in kept.groupby("study", observed=True)}
    larger = {study for study, size in sizes.items() if SCALES.index(size) > SCALES.index(scale)}
    smaller = {study for study, size in sizes.items() if SCALES.index(size) < SCALES.index(scale)}
    metrics = metrics[~metrics["study"].isin(larger)]
    studies = set(metrics["study"])
    if not studies:
        return []
    new = _origins(results, metrics, repository)
    before = _kept_origins(reference, kept[kept["study"].isin(studies - smaller)])
    check_seeds(before, new)
    check_training(before, new, _planned_training(before, kept, repository / "workflow" / "studies"))

    def merged(before: pd.DataFrame | None, rows: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
        rows = rows[rows["study"].isin(studies)]
        if before is None:
            return rows.reset_index(drop=True)
        before = before[~before["study"].isin(smaller & studies)]
        gone = set(new) if columns == SEEDED else set(places(rows, columns))
        stays = [place not in gone for place in places(before, columns)]
        return pd.concat([before[stays], rows], ignore_index=True)

    table = merged(old, metrics, SEEDED)
    whole = {METRICS: table, SERIES: merged(read_table(reference / SERIES), series, SEEDED)}
    noted = pd.DataFrame([(*key, seed, *origin) for (key, seed), origin in new.items()], columns=COLUMNS)
    whole[PROVENANCE] = merged(read_provenance(reference), noted.assign(epsilon=noted["epsilon"].astype(float)), SEEDED)
    reference.mkdir(parents=True, exist_ok=True)
    for name, content in whole.items():
        with replacing(reference / name) as temporary:
            content.to_parquet(temporary, index=False)
    for name, path in ((AUDITS, results / "privacy" / AUDITS), (STANDING, results / STANDING)):
        if (rows := read_table(path)) is not None:
            write_text(reference / name, merged(read_table(reference / name), rows, CELL).to_csv(index=False))
    summarise(reference)
    for study in studies:
        stays = set(zip(keys(table[table["study"] == study]), strict=True)) - {(key,) for key, _ in new}
        _keep_pictures(results, reference, study, others=bool(stays))
    return sorted(studies)


def summarise(reference: Path) -> None:
    """Write what is kept of each study, and of each study, data set and seed, and where guarantees stand."""
    table = pd.read_parquet(reference / METRICS)
    facts = {str(study): run_facts(part) for study, part in table.groupby("study", observed=True)}
    write_json(reference / RUNS, facts)
    write_text(reference / PIECES, pieces_table(table, read_provenance(reference)).to_csv(index=False))
    add_standings(reference)


def places(table: pd.DataFrame, columns: list[str]) -> list[Any]:
    """The cell of each row, with its seed where the columns have one."""
    found = keys(table)
    return list(zip(found, table["seed"].astype(int), strict=True)) if "seed" in columns else list(found)


def _finished(results: Path, name: str) -> pd.DataFrame:
    table = read_table(results / name)
    if table is None:
        raise InputError(f"the run in {results} has no {name}: let it finish first")
    return table


def _check_commits(results: Path, metrics: pd.DataFrame, *, allow_dirty: bool) -> None:
    dirty = sorted({str(commit) for commit in metrics["commit"] if str(commit).endswith("+")})
    if dirty and not allow_dirty:
        raise InputError(
            f"results in {results} are of changed sources that no commit has ({', '.join(dirty)}): run "
            "them again from a clean tree, or give --allow-dirty"
        )


def _origins(results: Path, metrics: pd.DataFrame, repository: Path) -> dict[Place, Origin]:
    """The digests of each cell and seed of a run, the code's as it was at the row's commit."""
    cells = cells_of_run(results)
    rows = metrics.drop_duplicates(SEEDED)
    found: dict[Place, Origin] = {}
    for commit, part in rows.groupby("commit"):
        named = places(part, SEEDED)
        sources = source_digests({cells[key] for key, _ in named if key in cells}, repository, str(commit))
        for key, seed in named:
            cell = cells.get(key)
            found[key, seed] = (
                Origin(settings_digest(cell), training_text(cell), sources[cell]) if cell else Origin("", "", "")
            )
    return found


def _kept_origins(reference: Path, rows: pd.DataFrame) -> dict[Place, Origin]:
    noted = read_provenance(reference)
    values = zip(noted["settings"], noted["training"], noted["source"], strict=True)
    digests = dict(zip(places(noted, SEEDED), (Origin(*row) for row in values), strict=True))
    unknown = Origin("", "", "")
    return {place: digests.get(place, unknown) for place in places(rows.drop_duplicates(SEEDED), SEEDED)}


def _planned_training(kept: dict[Place, Origin], rows: pd.DataFrame, studies: Path) -> dict[Place, str]:
    """The training that the files plan for the kept rows without a note of theirs."""
    found: dict[Place, str] = {}
    unknown = {key.study for (key, _), origin in kept.items() if not origin.training}
    for study in sorted(unknown):
        own = rows[rows["study"] == study]
        then = cells_as_planned(study, str(own["scale"].iloc[0]), sorted(own["dataset"].unique()), studies)
        found |= {place: training_text(then[place[0]]) for place in kept if place[0] in then}
    return found


def _keep_pictures(results: Path, reference: Path, study: str, *, others: bool) -> None:
    """A study's pictures belong to its rows: the run's take the place of the same ones; if all rows go, the rest go."""
    source, kept = results / "pictures" / f"{study}.safetensors", reference / f"{study}.safetensors"
    before = read_arrays(kept)[0] if others and kept.exists() else {}
    new = read_arrays(source)[0] if source.exists() else {}
    if both := before | new:
        write_arrays(kept, both)
    else:
        kept.unlink(missing_ok=True)
