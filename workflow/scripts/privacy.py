"""What the cells of a batch guarantee, exactly or as a bound, and an audit of each that could prove it wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp_papers.run.cli import batch_parser, run
from tensorldp_papers.run.stages import privacy
from tensorldp_papers.run.store import Store, read_tasks


def main(arguments: Sequence[str] | None = None) -> None:
    arg = batch_parser(__doc__)
    arg.add_argument("--out", type=Path, required=True, help="JSON file to write: which results these are")
    args = arg.parse_args(arguments)
    privacy(read_tasks(args.batch), Store(args.results), args.out)


if __name__ == "__main__":
    run(main)
