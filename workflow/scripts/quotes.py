"""Compare README.md and the pages of docs/ that templates make with the kept results, or write them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.errors import InputError
from tensorldp.files import write_text
from tensorldp_papers.quoting.templates import Pages
from tensorldp_papers.run.cli import parser, run

ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--root", type=Path, default=ROOT, help="folder with README.md, docs/ and results/reference/")
    what = arg.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true", help="list the lines that differ, and fail if there are any")
    what.add_argument("--write", action="store_true", help="write the pages")
    args = arg.parse_args(arguments)
    pages = Pages(args.root)
    wrong = pages.differing()
    for name, lines in wrong.items():
        for line in lines:
            print(f"{name}, {line}")
    if args.write:
        templates = pages.templates()
        for name in wrong:
            (args.root / name).parent.mkdir(parents=True, exist_ok=True)
            write_text(args.root / name, pages.rendered(templates[name]))
    elif wrong:
        raise InputError(f"{len(wrong)} page(s) differ from the kept results: run quotes.py --write and read them")


if __name__ == "__main__":
    run(main)
