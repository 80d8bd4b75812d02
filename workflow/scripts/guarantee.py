"""What a cell's releases guarantee, exactly or as a bound, for the unit that its study protects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.config.cell import parse_cell
from tensorldp.runtime.cli import json_argument, parser, run
from tensorldp.runtime.files import write_json
from tensorldp.studies.methods import guarantee_of


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--data", type=Path, default=None, help="folder of the prepared data, for the records' shape")
    arg.add_argument("--cell", type=json_argument, required=True, help="the cell's settings, JSON or @file")
    arg.add_argument("--models", type=Path, default=None, help="folder of train, where cells share models")
    arg.add_argument("--out", type=Path, required=True, help="JSON file to write")
    args = arg.parse_args(arguments)
    cell = parse_cell(args.cell)
    write_json(args.out, guarantee_of(cell, args.data, args.models))


if __name__ == "__main__":
    run(main)
