"""Release the training and test records of a batch of cells, a file for each seed that has no scores yet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp_papers.run.cli import batch_parser, run
from tensorldp_papers.run.stages import perturb
from tensorldp_papers.run.store import Store, read_tasks


def main(arguments: Sequence[str] | None = None) -> None:
    arg = batch_parser(__doc__)
    arg.add_argument("--out", type=Path, required=True, help="folder to write")
    args = arg.parse_args(arguments)
    perturb(read_tasks(args.batch), Store(args.results), args.out, args.device)


if __name__ == "__main__":
    run(main)
