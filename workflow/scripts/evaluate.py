"""Score the models of a batch of cells on the test set and keep the scores of each seed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp_papers.run.cli import batch_parser, run
from tensorldp_papers.run.stages import evaluate
from tensorldp_papers.run.store import Store, read_tasks


def main(arguments: Sequence[str] | None = None) -> None:
    arg = batch_parser(__doc__)
    arg.add_argument("--released", type=Path, default=None, help="folder of perturb; to score on released records too")
    arg.add_argument("--models", type=Path, default=None, help="folder of train; none where cells share models")
    arg.add_argument("--out", type=Path, required=True, help="JSON file to write: which results these are")
    args = arg.parse_args(arguments)
    evaluate(read_tasks(args.batch), Store(args.results), args.released, args.models, args.out, args.device)


if __name__ == "__main__":
    run(main)
