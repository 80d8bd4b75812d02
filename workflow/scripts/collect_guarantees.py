"""Gather what all cells guarantee, at every delta that is kept, into one table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.runtime.cli import cell_paths, parser, run
from tensorldp.runtime.files import read_json, write_text
from tensorldp.studies.table import guarantees_table


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--cells", type=Path, help="file with a line for each cell; without it, all cells with metrics")
    arg.add_argument("--results", type=Path, default=Path("results"), help="folder with metrics/ and privacy/")
    arg.add_argument("--out", type=Path, required=True, help="CSV file to write")
    args = arg.parse_args(arguments)
    cells = [
        (
            read_json(args.results / "metrics" / f"{cell}.json"),
            read_json(args.results / "privacy" / "guarantees" / f"{cell}.json"),
        )
        for cell in cell_paths(args.cells, args.results)
    ]
    write_text(args.out, guarantees_table(cells).to_csv(index=False))


if __name__ == "__main__":
    run(main)
