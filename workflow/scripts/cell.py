"""The scores of one cell, all seeds in one file, for those who want to look at it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.files import write_json
from tensorldp_papers.run.cli import parser, run
from tensorldp_papers.run.store import Store, read_manifests, scores_of


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--scores", type=Path, required=True, help="what evaluate or measure wrote for the cell")
    arg.add_argument("--results", type=Path, default=Path("results"), help="folder that holds the results")
    arg.add_argument("--out", type=Path, required=True, help="JSON file to write")
    args = arg.parse_args(arguments)
    (parts,) = Store(args.results).read(read_manifests([args.scores])).values()
    write_json(args.out, scores_of(parts))


if __name__ == "__main__":
    run(main)
