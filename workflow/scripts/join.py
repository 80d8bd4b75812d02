"""Join the studies' tables into those of the whole run, one file for each name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.files import replacing
from tensorldp_papers.run.cli import parser, run
from tensorldp_papers.run.table import join_tables


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--folders", type=Path, nargs="+", required=True, help="folders named after their studies")
    arg.add_argument("--out", type=Path, nargs="+", required=True, help="tables to write; each folder has one so named")
    args = arg.parse_args(arguments)
    for out in args.out:
        table = join_tables([folder / out.name for folder in sorted(args.folders, key=lambda folder: folder.name)])
        with replacing(out) as temporary:
            if out.suffix == ".parquet":
                table.to_parquet(temporary, index=False)
            else:
                table.to_csv(temporary, index=False)


if __name__ == "__main__":
    run(main)
