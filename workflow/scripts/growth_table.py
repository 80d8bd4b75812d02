"""TVG's Table IV: expected errors, printed and exact and measured, and how they grow with the size of a record."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp_papers.papers.tvg.growth_table import growth_table
from tensorldp_papers.run.cli import parser, run
from tensorldp_papers.run.table import write_table


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--out", type=Path, required=True, help="CSV file to write")
    args = arg.parse_args(arguments)
    write_table(args.out, growth_table())


if __name__ == "__main__":
    run(main)
