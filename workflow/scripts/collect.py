"""Gather the cells' metrics into a table, series by round, epoch or client into another, guarantees into a third."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.runtime.cli import cells_to_gather, parser, run
from tensorldp.runtime.files import read_json, replacing, write_text
from tensorldp.studies.seeds import guarantee_over, scores_of
from tensorldp.studies.table import guarantees_table, metrics_table, series_table


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--cells", type=Path, help="file with a line for each cell; without it, all cells with metrics")
    arg.add_argument("--results", type=Path, default=Path("results"), help="folder with metrics/ and privacy/")
    arg.add_argument("--scale", required=True)
    arg.add_argument("--out", type=Path, required=True, help="Parquet file to write the metrics to")
    arg.add_argument("--series", type=Path, required=True, help="Parquet file to write the series to")
    arg.add_argument("--guarantees", type=Path, required=True, help="CSV file for the guarantees at all deltas")
    args = arg.parse_args(arguments)
    cells = [
        (
            scores_of(read_json(args.results / "metrics" / f"{cell}.json"), seeds),
            guarantee_over(read_json(args.results / "privacy" / "guarantees" / f"{cell}.json"), seeds),
        )
        for cell, seeds in cells_to_gather(args.cells, args.results)
    ]
    for path, table in ((args.out, metrics_table(cells, args.scale)), (args.series, series_table(cells))):
        with replacing(path) as temporary:
            table.to_parquet(temporary, index=False)
    write_text(args.guarantees, guarantees_table(cells).to_csv(index=False))


if __name__ == "__main__":
    run(main)
