"""The page of all checks of a config's mechanisms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.files import write_text
from tensorldp_papers.run.cli import parser, run
from tensorldp_papers.run.mechanism_check import read_verdict, summary


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--verdicts", type=Path, nargs="+", required=True, help="verdict.json of each check")
    arg.add_argument("--out", type=Path, required=True, help="HTML file to write")
    args = arg.parse_args(arguments)
    write_text(args.out, summary(args.verdicts))
    for path in args.verdicts:
        verdict = read_verdict(path)
        if verdict["refuted"]:
            print(f"warning: the guarantee of {verdict['subject']} is refuted: {args.out}")


if __name__ == "__main__":
    run(main)
