"""Gather the results of a study's batches: metrics, series, guarantees, audits, and the standing of each guarantee."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from tensorldp_papers.run.audit_table import AUDIT_KEY, STANDING_KEY, audits_table, standing_table
from tensorldp_papers.run.cli import parser, run
from tensorldp_papers.run.collected import keep, results_of, unchanged
from tensorldp_papers.run.mechanism_check import read_verdict
from tensorldp_papers.run.store import Manifest, Store, audit_of, guarantee_of, read_manifests, scores_of
from tensorldp_papers.run.table import (
    CELL,
    KEY,
    SERIES,
    guarantees_table,
    joined,
    metrics_table,
    series_table,
    write_table,
)

AT_ONCE = 1000  # cells whose results are in memory: of a million results all would take 36 GB
ORDER = {
    "metrics.parquet": KEY,
    "series.parquet": [*KEY, *SERIES],
    "guarantees.csv": CELL,
    "audits.csv": AUDIT_KEY,
    "standing.csv": STANDING_KEY,
}


def some_at_a_time(store: Store, manifest: Manifest) -> Iterator[dict[str, dict[str, Any]]]:
    """Yields what the results of a manifest say, by cell and part."""
    cells = [*manifest.items()]
    for first in range(0, max(len(cells), 1), AT_ONCE):
        yield store.read(dict(cells[first : first + AT_ONCE]))


def tables_of(
    found: Iterable[Mapping[str, Any]], checks: Mapping[str, Mapping[str, Any]], scale: str
) -> dict[str, pd.DataFrame]:
    """Returns the tables of some cells by name, from what the results of each say."""
    audited = [(scores_of(parts), guarantee_of(parts), audit_of(parts)) for parts in found]
    scored = [(scores, guarantee) for scores, guarantee, _ in audited]
    return {
        "metrics.parquet": metrics_table(scored, scale),
        "series.parquet": series_table(scored),
        "guarantees.csv": guarantees_table(scored),
        "audits.csv": audits_table(audited),
        "standing.csv": standing_table(audited, checks),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--scores", type=Path, nargs="+", required=True, help="what evaluate or measure wrote for batches")
    arg.add_argument("--privacy", type=Path, nargs="+", required=True, help="what privacy wrote for them")
    arg.add_argument("--checks", type=Path, nargs="*", default=[], help="verdicts of checks, in folders of their names")
    arg.add_argument("--results", type=Path, default=Path("results"), help="folder that holds the results")
    arg.add_argument("--scale", required=True)
    arg.add_argument(
        "--code", default="", help="digest of the code that collects: what it collected before is not read"
    )
    arg.add_argument("--out", type=Path, required=True, help="folder for the tables")
    args = arg.parse_args(arguments)
    checks = {path.parent.name: read_verdict(path) for path in args.checks}
    store, manifest = Store(args.results), read_manifests([*args.scores, *args.privacy])
    how = json.dumps([args.code, args.scale, checks], sort_keys=True)
    now = results_of(store, manifest, how) if args.code else {}
    before, same = unchanged(args.out, [*ORDER], now)
    found = [before] if same else []
    if len(same) < len(manifest) or not manifest:
        new = {cell: parts for cell, parts in manifest.items() if cell not in same}
        found += [tables_of(results.values(), checks, args.scale) for results in some_at_a_time(store, new)]
    for name, order in ORDER.items():
        table = joined([tables.pop(name) for tables in found])
        write_table(args.out / name, table.sort_values(order, ignore_index=True))
    if args.code:
        keep(args.out, [*ORDER], now)


if __name__ == "__main__":
    run(main)
