"""Train the models that the cells of a batch share, and keep them among the results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp_papers.run.cli import batch_parser, run
from tensorldp_papers.run.stages import train_shared
from tensorldp_papers.run.store import Store, read_tasks


def main(arguments: Sequence[str] | None = None) -> None:
    arg = batch_parser(__doc__)
    arg.add_argument("--out", type=Path, required=True, help="JSON file to write: which models these are")
    args = arg.parse_args(arguments)
    train_shared(read_tasks(args.batch), Store(args.results), args.out, args.device)


if __name__ == "__main__":
    run(main)
