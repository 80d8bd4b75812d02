"""The page of all cards of a folder; --docs also writes the documentation's gallery, with small pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp_papers.card.gallery import documented, gallery
from tensorldp_papers.run.cli import parser, run


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--cards", type=Path, nargs="+", required=True, help="JSON of each card")
    arg.add_argument("--out", type=Path, required=True, help="HTML file to write, in the folder of the cards")
    arg.add_argument("--docs", type=Path, help="folder of the documentation")
    args = arg.parse_args(arguments)
    gallery(args.cards, args.out)
    if args.docs is not None:
        documented(args.cards, args.docs)


if __name__ == "__main__":
    run(main)
