"""TLDP's Table 5: the printed formulas, what the mechanisms' noise really is, and what is measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp_papers.papers.tldp.error_table import error_table
from tensorldp_papers.run.cli import parser, run
from tensorldp_papers.run.table import write_table


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--out", type=Path, required=True, help="CSV file to write")
    args = arg.parse_args(arguments)
    write_table(args.out, error_table())


if __name__ == "__main__":
    run(main)
