"""Merge the numbers of finished runs, on whatever machines, into the kept results that figures are drawn from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from tensorldp.errors import InputError
from tensorldp.files import read_arrays, write_arrays
from tensorldp_papers.kept import provenance
from tensorldp_papers.kept.provenance import (
    METRICS,
    ORIGIN,
    PIECES,
    PROVENANCE,
    SCALES,
    SEEDED,
    VERSIONS,
    among,
    names,
    read_table,
)
from tensorldp_papers.run.sealed import check_file
from tensorldp_papers.run.store import Store, digest, read_manifests
from tensorldp_papers.run.table import CELL, SERIES, write_table

MACHINE = ["device", "isa", "precision"]


def merge_runs(
    runs: Sequence[Path], reference: Path, *, allow_dirty: bool = False, only: Sequence[str] = ()
) -> list[str]:
    """Puts the rows of finished runs among the kept results; returns the studies from which rows were taken over.

    The runs count as one: a cell's seeds may come from several, and of the same seed in two the later run counts. A
    larger scale replaces all rows of a study, a smaller one leaves them. At the same scale, a cell's seeds replace the
    same seeds and join others with the same settings, versions and data; what no run has stays. The claims are decided
    from the kept rows (`kept/decide.py`), not merged.

    Args:
        runs: the folders of the runs, all at one scale.
        reference: the folder that holds the kept results.
        allow_dirty: also take results from sources that are in no commit, whose `commit` ends in "+".
        only: the studies to take; all that were run without.

    Raises:
        InputError: if a run is not finished, its sources were not committed, or its rows do not fit those that are
            kept. Nothing is written then.
    """
    files = {
        METRICS: SEEDED,
        provenance.SERIES_TABLE: SEEDED,
        provenance.STANDING: CELL,
        f"privacy/{provenance.AUDITS}": CELL,
    }
    tables = {Path(name).name: (_joined(runs, name, columns), columns) for name, columns in files.items()}
    metrics = tables[METRICS][0]
    metrics = metrics[metrics["study"].isin(only or metrics["study"])]
    folders = ", ".join(map(str, runs))
    dirty = sorted({str(commit) for commit in metrics["commit"] if str(commit).endswith("+")})
    if dirty and not allow_dirty:
        raise InputError(
            f"results in {folders} come from changed sources that are in no commit ({', '.join(dirty)}): run "
            "them again from a clean tree, or give --allow-dirty"
        )
    scales = sorted({str(scale) for run in runs for scale in _finished(run, METRICS)["scale"]}, key=SCALES.index)
    if len(scales) > 1:
        raise InputError(f"results in {folders} are at scales {' and '.join(scales)}: merge each scale by itself")
    old = read_table(reference / METRICS)
    kept = metrics.iloc[:0] if old is None else old
    sizes, scale = kept["scale"].astype(object).map(SCALES.index), SCALES.index(scales[0])
    metrics = metrics[~metrics["study"].isin(kept.loc[sizes > scale, "study"])]
    taken = set(metrics["study"])
    if not taken:
        return []
    planned = provenance.cells_as_planned(pd.concat([metrics, kept[kept["study"].isin(taken) & (sizes == scale)]]))
    _check_planned(metrics, planned)
    replaced = set(kept.loc[sizes < scale, "study"]) & taken
    origins = _origins(runs, metrics)
    before = provenance.with_origins(kept[kept["study"].isin(taken - replaced)], reference)
    _check_seeds(before, origins)
    _check_training(before, origins, planned)
    tables[PROVENANCE] = origins[[*SEEDED, *ORIGIN]], SEEDED
    for name, (rows, columns) in tables.items():
        rows, earlier = rows[rows["study"].isin(taken)], read_table(reference / name)
        if earlier is not None:
            gone = among(earlier, origins if columns == SEEDED else rows, columns) | earlier["study"].isin(replaced)
            rows = pd.concat([earlier[~gone], rows], ignore_index=True)
        write_table(reference / name, rows, sealed=False)
    summarise(reference)
    for study in taken:
        others = before[(before["study"] == study) & ~among(before, origins, CELL)]
        pictures = f"{study}.safetensors"
        _keep_pictures([run / "pictures" / pictures for run in runs], reference / pictures, others)
    return sorted(taken)


def summarise(reference: Path) -> None:
    """Writes what is kept for each study, data set and seed: scale, cells, seconds, commits, machine and versions."""
    runs = provenance.with_origins(pd.read_parquet(reference / METRICS), reference).sort_values(SEEDED)
    rows = []
    for piece, part in runs.fillna(dict.fromkeys(MACHINE, "")).groupby(["study", "dataset", "seed"], observed=True):
        found = dict(zip(["study", "dataset", "seed"], piece, strict=True))
        found |= {"scale": part["scale"].iloc[0], "cells": len(part), "seconds": round(float(part["seconds"].sum()), 1)}
        found |= {"commits": " ".join(sorted(set(part["commit"])))}
        found |= {name: " ".join(sorted(set(part[name]) - {""})) for name in MACHINE}
        found |= {name: " ".join(map(str, sorted(set(part[name])))) for name in VERSIONS}
        found |= {"settings": digest(" ".join(part["settings"])) if all(part["settings"]) else ""}
        rows.append(found)
    write_table(reference / PIECES, pd.DataFrame(rows), sealed=False)


def _joined(runs: Sequence[Path], name: str, columns: list[str]) -> pd.DataFrame:
    """Returns a table of all runs; of rows with the same values in some columns, those of the last run."""
    found = _finished(runs[0], name)
    for run in runs[1:]:
        rows = _finished(run, name)
        found = pd.concat([found[~among(found, rows, columns)], rows], ignore_index=True)
    return found


def _finished(run: Path, name: str) -> pd.DataFrame:
    if (table := read_table(run / name)) is None:
        raise InputError(f"the run in {run} has no {name}: let it finish first")
    return table


def _origins(runs: Sequence[Path], metrics: pd.DataFrame) -> pd.DataFrame:
    """Returns what made the runs of some rows, as the stored results with the same values say.

    Lists of results may be left of earlier settings: the newest are read first.
    """
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for run in reversed(runs):
        store = Store(run)
        manifests = sorted((run / "batches").rglob("scores.json"), key=lambda path: -path.stat().st_mtime_ns)
        lists = [cells for path in manifests for cells in read_manifests([path]).items()]
        listed = [(cell, *part) for cell, parts in lists for part in parts.items()]
        for place in dict.fromkeys(listed):
            row = provenance.read_result(store, store.path(*place))
            found.setdefault(tuple(row[name] for name in SEEDED), []).append(row)
    made = []
    for name, part in metrics.groupby(SEEDED, observed=True):
        values = dict(zip(part["metric"], part["value"], strict=True))
        for row in found.get(name, []):
            single = {one["metric"]: float(one["value"]) for one in row["rows"] if not one.keys() & set(SERIES)}
            if single == values and row["seconds"] == part["seconds"].iloc[0]:
                made.append(row)
                break
        else:
            where = ", ".join(map(str, runs))
            raise InputError(f"no result in {where} has the values of {_named(name)}, seed {name[-1]}: run again")
    return pd.DataFrame(made).drop(columns=["cell", "rows"])


def _check_planned(new: pd.DataFrame, planned: pd.DataFrame) -> None:
    """Refuses cells that their studies' files do not plan: no claim can be decided among kept rows with such."""
    known = set(names(planned))
    if strange := next((name for name in names(new) if name not in known), None):
        raise InputError(
            f"{_named(strange)} has a mechanism or an option that no arm of its study's file plans: add it there, or "
            "leave the study out"
        )


def _check_seeds(kept: pd.DataFrame, new: pd.DataFrame) -> None:
    """Refuses a run that would leave one cell with seeds from different settings, versions or data."""
    both = kept[~among(kept, new, SEEDED)].merge(new.drop_duplicates(CELL), on=CELL, suffixes=("", "_new"))
    unknown = (both["settings"] == "") | (both[VERSIONS] == 0).any(axis=1)
    settings = both["settings"] != both["settings_new"]
    version = pd.concat([both[name] != both[f"{name}_new"] for name in VERSIONS], axis=1).any(axis=1)
    data = (both["data"] != "") & (both["data"] != both["data_new"])
    differ = both[unknown | settings | version | data]
    if differ.empty:
        return
    name, part = next(iter(differ.groupby(CELL, observed=True)))
    texts = {
        "settings or versions that are not known": unknown,
        "other settings": settings,
        "other versions of its method or mechanism": version,
    }
    how = next((text for text, where in texts.items() if where[part.index[0]]), "other data")
    has = new.loc[[other == name for other in names(new)], "seed"]
    raise InputError(
        f"seeds {_listed(part['seed'])} of {_named(name)} are kept with {how} and this run has only {_listed(has)}: "
        f"run the kept seeds again with it ({len(differ.drop_duplicates(CELL))} cells)"
    )


def _check_training(kept: pd.DataFrame, new: pd.DataFrame, planned: pd.DataFrame) -> None:
    """Refuses cells whose training differs from the plan in other settings than that of the cells they join.

    The plan is their study's file, whose arms may train the mechanisms of a variant differently.

    Kept rows without a note count as trained as planned. Rows that are planned no more have the plan of their variant.
    """
    stays = kept[~among(kept, new, SEEDED) & among(kept, new, CELL[:3])]
    both = pd.concat([new, stays])[[*CELL, "training"]].drop_duplicates()
    known = planned[[*CELL, "training"]].drop_duplicates(CELL)
    both = both.merge(known, on=CELL, how="left", suffixes=("", "_planned"))
    variants = both.groupby(CELL[:3], observed=True)
    both["training_planned"] = both["training_planned"].fillna(variants["training_planned"].transform("first"))
    pairs = zip(both["training"], both["training_planned"], strict=True)
    both["changed"] = [_changed(text, plan) if text else "{}" for text, plan in pairs]
    groups = both.groupby(CELL[:3], observed=True)["changed"].nunique()
    for group in dict.fromkeys(names(new, CELL[:3])):
        if groups[group] > 1:
            raise InputError(
                f"the training settings of this run for {' '.join(group)} are not those of its kept cells: "
                "cells of a variant are compared with each other, so run all of them with the same settings"
            )


def _changed(training: str, planned: str) -> str:
    """Returns the training settings that differ from planned ones."""
    now, then = json.loads(training), json.loads(planned)
    return json.dumps({key: now.get(key) for key in sorted(now | then) if now.get(key) != then.get(key)})


def _listed(seeds: pd.Series) -> str:
    return ", ".join(map(str, sorted(seeds)))


def _named(name: tuple[Any, ...]) -> str:
    return f"{' '.join(name[:4])} at epsilon {name[4]:g}"


def _keep_pictures(sources: Sequence[Path], kept: Path, others: pd.DataFrame) -> None:
    """Puts runs' pictures in the place of the same ones; the rest stays as long as other rows of the study do."""
    both = read_arrays(kept)[0] if len(others) and kept.exists() else {}
    for source in sources:
        check_file(source)
        both |= read_arrays(source)[0] if source.exists() else {}
    if both:
        write_arrays(kept, both)
    else:
        kept.unlink(missing_ok=True)
