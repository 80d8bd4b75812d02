"""Decide every claim of the sources from the results of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.registry import import_plugins
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.table import claims_table
from tensorldp_papers.run.audit_table import stop_if_refuted
from tensorldp_papers.run.cli import json_argument, parser, run
from tensorldp_papers.run.grid import make_plan
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.table import write_table


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--settings", type=json_argument, required=True, help="the run's settings, JSON or @file")
    arg.add_argument("--results", type=Path, required=True, help="folder with metrics/, privacy/ and tables/")
    arg.add_argument("--out", type=Path, required=True, help="CSV file to write")
    arg.add_argument("--standing", type=Path, required=True, help="table of refuted guarantees; one of them stops this")
    arg.add_argument("--report", type=Path, default=Path("results/report.html"), help="page that then says so")
    args = arg.parse_args(arguments)
    stop_if_refuted(args.standing, args.report)
    settings = parse_settings(args.settings)
    import_plugins(settings.plugins)
    plan = make_plan(settings)
    write_table(args.out, claims_table(Evidence(plan, args.results)))


if __name__ == "__main__":
    run(main)
