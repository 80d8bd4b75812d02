"""Write the report: one HTML page that needs no network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from tensorldp.figures.curves import read_metrics
from tensorldp.figures.report import render
from tensorldp.runtime.cli import parser, run
from tensorldp.runtime.files import write_text


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--metrics", type=Path, default=Path("results/metrics.parquet"))
    arg.add_argument("--figures", type=Path, default=Path("results/figures"), help="folder of the figures")
    arg.add_argument("--table5", type=Path, default=Path("results/tables/tldp_table5.csv"))
    arg.add_argument("--table4", type=Path, default=None, help="TVG's Table IV, if one of its studies ran")
    arg.add_argument("--studies", type=json.loads, required=True, help="JSON list of {study, title, source, figure}")
    arg.add_argument("--settings", default="{}", help="the run's settings, as JSON")
    arg.add_argument("--out", type=Path, required=True, help="HTML file to write")
    args = arg.parse_args(arguments)
    table5 = pd.read_csv(args.table5)
    table4 = pd.read_csv(args.table4) if args.table4 else None
    write_text(args.out, render(read_metrics(args.metrics), args.figures, args.studies, args.settings, table5, table4))


if __name__ == "__main__":
    run(main)
