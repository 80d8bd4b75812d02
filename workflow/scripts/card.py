"""A card for a mechanism, as `python -m tensorldp card` makes it, at an epsilon of 1 on digits."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tensorldp.commands.main import DONE, REFUTED, exit_code
from tensorldp_papers.run.cli import parser, run


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--mechanism", required=True, help="its key")
    arg.add_argument("--minutes", default="1", help="processor time of the check")
    arg.add_argument("--cores", default="1", help="for the tasks")
    arg.add_argument("--out", type=Path, required=True, help="folder to write the card to; its runs/ serve all cards")
    args = arg.parse_args(arguments)
    place = ["--out", str(args.out), "--runs", str(args.out / "runs")]
    given = [args.mechanism, "--epsilon", "1", "--box", "0", "16", "--minutes", args.minutes, "--cores", args.cores]
    if (code := exit_code(["card", *given, *place])) not in (DONE, REFUTED):
        sys.exit(code)


if __name__ == "__main__":
    run(main)
