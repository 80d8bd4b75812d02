"""Fetch a data set's files from the mirror folder or its publisher, and verify their checksums."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tensorldp_papers.data.fetch import fetch
from tensorldp_papers.run.cli import parser, run


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--dataset", required=True, help="a data set or set of weights of the catalogue")
    arg.add_argument("--out", type=Path, required=True, help="folder for the files; source.json tells what they are")
    arg.add_argument("--mirror", default=os.environ.get("TENSORLDP_MIRROR") or None, help="folder with the same files")
    args = arg.parse_args(arguments)
    fetch(args.dataset, args.out, mirror=Path(args.mirror) if args.mirror else None)


if __name__ == "__main__":
    run(main)
