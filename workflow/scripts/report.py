"""Write the report: one HTML page that needs no network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tensorldp.files import write_text
from tensorldp_papers.plots.means import read_metrics
from tensorldp_papers.report.report import render
from tensorldp_papers.run.audit_table import stop_if_refuted
from tensorldp_papers.run.cli import parser, run
from tensorldp_papers.run.table import read_table


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--metrics", type=Path, default=Path("results/metrics.parquet"))
    arg.add_argument("--figures", type=Path, default=Path("results/figures"), help="folder of the figures")
    arg.add_argument("--tables", type=Path, nargs="*", default=[], help="CSV files to show")
    arg.add_argument("--claims", type=Path, default=Path("results/claims.csv"))
    arg.add_argument("--audits", type=Path, default=Path("results/privacy/audits.csv"))
    arg.add_argument("--guarantees", type=Path, required=True, help="CSV file with every cell's profile")
    arg.add_argument(
        "--studies", type=json.loads, required=True, help="JSON list of {study, title, source, figure, views, paper}"
    )
    arg.add_argument("--settings", default="{}", help="the run's settings, as JSON")
    arg.add_argument("--out", type=Path, required=True, help="HTML file to write")
    arg.add_argument("--kept", type=Path, help="folder of the figures of the kept results")
    arg.add_argument("--standing", type=Path, required=True, help="table of refuted guarantees; one of them stops this")
    args = arg.parse_args(arguments)
    stop_if_refuted(args.standing, args.out)
    page = render(
        read_metrics(args.metrics),
        args.figures,
        args.studies,
        args.settings,
        tables={path.stem: read_table(path) for path in args.tables},
        claims=read_table(args.claims, keep_default_na=False),
        audits=read_table(args.audits),
        guarantees=read_table(args.guarantees),
        kept=args.kept,
    )
    write_text(args.out, page)


if __name__ == "__main__":
    run(main)
