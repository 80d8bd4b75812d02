"""Train the models of a batch of cells: on their releases, or with the mechanism inside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp_papers.run.cli import batch_parser, run
from tensorldp_papers.run.stages import train
from tensorldp_papers.run.store import Store, read_tasks


def main(arguments: Sequence[str] | None = None) -> None:
    arg = batch_parser(__doc__)
    arg.add_argument("--released", type=Path, default=None, help="folder of perturb; none to perturb inside training")
    arg.add_argument("--out", type=Path, required=True, help="folder to write")
    args = arg.parse_args(arguments)
    train(read_tasks(args.batch), Store(args.results), args.released, args.out, args.device)


if __name__ == "__main__":
    run(main)
