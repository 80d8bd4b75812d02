"""A table that a paper's room computes: from formulas and draws, or from the metrics of its study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp_papers.rooms import room_of
from tensorldp_papers.run.cli import parser, run
from tensorldp_papers.run.table import read_table, write_table


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("name", help="the table, as in a room.yaml")
    arg.add_argument("--metrics", type=Path, help="the metrics table of the study that it reads, Parquet")
    arg.add_argument("--out", type=Path, required=True, help="CSV file to write")
    args = arg.parse_args(arguments)
    room = room_of(args.name)
    if room is None:
        arg.error(f"no room.yaml has the table {args.name}")
    compute = room.code(room.tables[args.name].function)
    write_table(args.out, compute(read_table(args.metrics)) if args.metrics else compute())


if __name__ == "__main__":
    run(main)
