"""A card for a mechanism, as `tensorldp card` makes it, at an epsilon of 1 on digits.

A mechanism of bits has one on records of bits. One whose releases have another shape has a page that says so.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tensorldp.commands.main import DONE, REFUTED, exit_code
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, Mechanism, make
from tensorldp_papers.card.leaks import DIGITS
from tensorldp_papers.card.page import write_refusal
from tensorldp_papers.run.cli import parser, run


def _on_digits(name: str) -> Mechanism:
    try:
        return make(name, epsilon=1.0, domain=DIGITS)
    except InputError:
        return make(name, epsilon=1.0, domain=Box(0, 1, DIGITS.shape))


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--mechanism", required=True, help="its key")
    arg.add_argument("--minutes", default="1", help="processor time of the check")
    arg.add_argument("--cores", default="1", help="for the tasks")
    arg.add_argument("--datasets", nargs="+", default=[], help="of the tasks (default: those that need no network)")
    arg.add_argument("--out", type=Path, required=True, help="folder to write the card to; its runs/ serve all cards")
    args = arg.parse_args(arguments)
    made = _on_digits(args.mechanism)
    if not made.same_shape:
        write_refusal(args.out, args.mechanism, "its releases have another shape than the records")
        return
    low, high = f"{made.box.low:g}", f"{made.box.high:g}"
    place = ["--out", str(args.out), "--runs", str(args.out / "runs")]
    given = [args.mechanism, "--epsilon", "1", "--box", low, high, "--minutes", args.minutes, "--cores", args.cores]
    place += ["--datasets", *args.datasets] if args.datasets else []
    if (code := exit_code(["card", *given, *place])) not in (DONE, REFUTED):
        sys.exit(code)


if __name__ == "__main__":
    run(main)
