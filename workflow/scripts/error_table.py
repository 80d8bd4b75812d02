"""TLDP's Table 5: the printed formulas, what the mechanisms' noise really is, and what is measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.files import replacing
from tensorldp_papers.papers.tldp.error_table import error_table
from tensorldp_papers.run.cli import parser, run


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--draws", type=int, default=400, help="releases per measured value")
    arg.add_argument("--seed", type=int, default=0)
    arg.add_argument("--out", type=Path, required=True, help="CSV file to write")
    args = arg.parse_args(arguments)
    table = error_table(args.draws, args.seed)
    with replacing(args.out) as temporary:
        table.to_csv(temporary, index=False)


if __name__ == "__main__":
    run(main)
