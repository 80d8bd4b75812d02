"""Try to prove a mechanism's guarantee wrong: as `tensorldp check`, on a small record."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from tensorldp.registry import import_plugins
from tensorldp_papers.run.cli import json_argument, parser, run
from tensorldp_papers.run.mechanism_check import check_mechanism


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--mechanism", required=True, help="its key")
    arg.add_argument("--options", type=json_argument, default={}, help="its options, JSON or @file")
    arg.add_argument("--minutes", type=float, default=2.0, help="processor time at most")
    arg.add_argument("--out", type=Path, required=True, help="folder to write verdict.json and verdict.html to")
    args = arg.parse_args(arguments)
    torch.set_num_threads(1)
    import_plugins()
    check_mechanism(args.mechanism, args.options, args.minutes, args.out)


if __name__ == "__main__":
    run(main)
