"""Reference results: the numbers of the largest runs, kept so that figures can be drawn without training."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pandas as pd

from tensorldp.errors import InputError
from tensorldp.runtime.files import read_json, replacing, write_json, write_text

SCALES = ("quick", "desk", "paper")
METRICS, SERIES, AUDITS = "metrics.parquet", "series.parquet", "audits.csv"
STANDING = "standing.csv"
CLAIMS, RUNS = "claims.csv", "runs.json"


def _read(path: Path) -> pd.DataFrame | None:
    if not path.exists():
        return None
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)


def _replace(old: pd.DataFrame | None, new: pd.DataFrame, studies: set[str]) -> pd.DataFrame:
    """The old rows of other studies and the new ones of these."""
    new = new[new["study"].isin(studies)]
    if old is None:
        return new.reset_index(drop=True)
    return pd.concat([old[~old["study"].isin(studies)], new], ignore_index=True)


def add_run(results: Path, reference: Path, *, allow_dirty: bool = False) -> list[str]:
    """Put the tables of a finished run among the reference results; returns the studies that were taken over.

    A study's rows are replaced as a whole, unless those that are there come from a larger scale. The claims are decided
    from the rows that are kept (`claims/kept.py`), not merged.

    Args:
        results: the folder of the run, with metrics.parquet, series.parquet, privacy/audits.csv and claims.csv.
        reference: the folder that holds the reference results.
        allow_dirty: also take results of sources that no commit has, whose `commit` ends in "+".

    Raises:
        InputError: if the run is not finished, or its sources were not committed.
    """
    tables = {
        name: _read(results / path)
        for name, path in ((METRICS, METRICS), (SERIES, SERIES), (AUDITS, f"privacy/{AUDITS}"), (CLAIMS, CLAIMS))
    }
    for name, table in tables.items():
        if table is None:
            raise InputError(f"the run in {results} has no {name}: let it finish first")
    metrics, series, audits = (tables[name] for name in (METRICS, SERIES, AUDITS))
    assert metrics is not None
    assert series is not None
    assert audits is not None
    commits = sorted(str(commit) for commit in metrics["commit"].unique())
    dirty = [commit for commit in commits if commit.endswith("+")]
    if dirty and not allow_dirty:
        raise InputError(
            f"results in {results} are of changed sources that no commit has ({', '.join(dirty)}): run "
            "them again from a clean tree, or give --allow-dirty"
        )
    (scale,) = metrics["scale"].unique()
    old = _read(reference / METRICS)
    larger = (
        set()
        if old is None
        else {
            study for study, part in old.groupby("study")["scale"] if SCALES.index(part.iloc[0]) > SCALES.index(scale)
        }
    )
    studies = set(metrics["study"]) - larger
    merged = _replace(old, metrics, studies)
    reference.mkdir(parents=True, exist_ok=True)
    for name, table in ((METRICS, merged), (SERIES, _replace(_read(reference / SERIES), series, studies))):
        with replacing(reference / name) as temporary:
            table.to_parquet(temporary, index=False)
    write_text(reference / AUDITS, _replace(_read(reference / AUDITS), audits, studies).to_csv(index=False))
    if (standing := _read(results / STANDING)) is not None:
        kept = _replace(_read(reference / STANDING), standing, studies)
        write_text(reference / STANDING, kept.to_csv(index=False))
    runs: dict[str, Any] = read_json(reference / RUNS) if (reference / RUNS).exists() else {}
    for study in sorted(studies):
        runs[study] = _run_facts(merged[merged["study"] == study])
        _keep_pictures(results, reference, study)
    write_json(reference / RUNS, runs)
    return sorted(studies)


def _keep_pictures(results: Path, reference: Path, study: str) -> None:
    """A study's pictures belong to its rows: those of an older run go."""
    source, kept = results / "pictures" / f"{study}.safetensors", reference / f"{study}.safetensors"
    kept.unlink(missing_ok=True)
    if source.exists():
        with replacing(kept) as temporary:
            shutil.copyfile(source, temporary)


def _run_facts(rows: pd.DataFrame) -> dict[str, Any]:
    """What was run: scale, data sets, cells, seeds, commits, devices and the seconds of training."""
    seeds = rows.drop_duplicates(["dataset", "variant", "mechanism", "epsilon", "seed"])
    return {
        "scale": rows["scale"].iloc[0],
        "datasets": sorted(rows["dataset"].unique()),
        "cells": len(rows.groupby(["dataset", "variant", "mechanism", "epsilon"])),
        "seeds": sorted(int(s) for s in rows["seed"].unique()),
        "commits": sorted(rows["commit"].unique()),
        "devices": sorted(rows["device"].unique()),
        "seconds": round(float(seeds["seconds"].sum()), 1),
    }
