"""Join the studies' tables into those of the whole run, one file for each name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp_papers.run.cli import parser, run
from tensorldp_papers.run.table import join_tables


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--folders", type=Path, nargs="+", required=True, help="folders named after their studies")
    arg.add_argument("--out", type=Path, nargs="+", required=True, help="tables to write; each folder has one so named")
    args = arg.parse_args(arguments)
    for out in args.out:
        folders = sorted(args.folders, key=lambda folder: folder.name)
        join_tables([folder / out.name for folder in folders], out)


if __name__ == "__main__":
    run(main)
