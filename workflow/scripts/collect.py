"""Gather the results of a study's batches: metrics, series, guarantees, audits, and the standing of each guarantee."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp_papers.run.audit_table import audits_table, standing_table
from tensorldp_papers.run.cli import parser, run
from tensorldp_papers.run.mechanism_check import read_verdict
from tensorldp_papers.run.store import Store, audit_of, guarantee_of, read_manifests, scores_of
from tensorldp_papers.run.table import guarantees_table, metrics_table, series_table, write_table


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--scores", type=Path, nargs="+", required=True, help="what evaluate or measure wrote for batches")
    arg.add_argument("--privacy", type=Path, nargs="+", required=True, help="what privacy wrote for them")
    arg.add_argument("--checks", type=Path, nargs="*", default=[], help="verdicts of checks, in folders of their names")
    arg.add_argument("--results", type=Path, default=Path("results"), help="folder that holds the results")
    arg.add_argument("--scale", required=True)
    arg.add_argument("--out", type=Path, required=True, help="folder for the tables")
    args = arg.parse_args(arguments)
    found = Store(args.results).read(read_manifests([*args.scores, *args.privacy])).values()
    scored = [(scores_of(parts), guarantee_of(parts)) for parts in found]
    audited = [(*both, audit_of(parts)) for both, parts in zip(scored, found, strict=True)]
    checks = {path.parent.name: read_verdict(path) for path in args.checks}
    tables = {
        "metrics.parquet": metrics_table(scored, args.scale),
        "series.parquet": series_table(scored),
        "guarantees.csv": guarantees_table(scored),
        "audits.csv": audits_table(audited),
        "standing.csv": standing_table(audited, checks),
    }
    for name, table in tables.items():
        write_table(args.out / name, table)


if __name__ == "__main__":
    run(main)
