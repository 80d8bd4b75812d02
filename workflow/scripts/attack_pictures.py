"""One victim's picture, release and reconstruction in every cell that the grids of pictures show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.files import write_arrays
from tensorldp_papers.papers.lecture.attack_pictures import pictures
from tensorldp_papers.run.cli import parser, run
from tensorldp_papers.run.sealed import seal_file
from tensorldp_papers.run.table import read_table


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--metrics", type=Path, required=True, help="the metrics table, Parquet")
    arg.add_argument("--datasets", type=Path, required=True, help="folder of the prepared data sets")
    arg.add_argument("--out", type=Path, required=True, help="safetensors file to write")
    args = arg.parse_args(arguments)
    write_arrays(args.out, pictures(read_table(args.metrics), args.datasets))
    seal_file(args.out)


if __name__ == "__main__":
    run(main)
