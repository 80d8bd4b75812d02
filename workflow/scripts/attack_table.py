"""Privacy, utility loss and reconstruction quality of every defence, from the metrics table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp_papers.papers.lecture.attack_table import attack_table
from tensorldp_papers.run.cli import parser, run
from tensorldp_papers.run.table import read_table, write_table


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--metrics", type=Path, required=True, help="the metrics table, Parquet")
    arg.add_argument("--out", type=Path, required=True, help="CSV file to write")
    args = arg.parse_args(arguments)
    write_table(args.out, attack_table(read_table(args.metrics)))


if __name__ == "__main__":
    run(main)
