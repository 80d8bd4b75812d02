"""Compare the marked numbers and tables of README.md and docs/ with the kept results, or write them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.errors import InputError
from tensorldp.files import write_text
from tensorldp_papers.plots.printed import FILES
from tensorldp_papers.quoting.marks import check_marks, drifts, kept_table, open_table, rewritten, with_block
from tensorldp_papers.quoting.printed import Printed, printed_page
from tensorldp_papers.quoting.values import Quotes, Table, read_as
from tensorldp_papers.run.cli import parser, run

ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--root", type=Path, default=ROOT, help="folder with README.md, docs/ and results/reference/")
    what = arg.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true", help="list the numbers that differ, and fail if there are any")
    what.add_argument("--write", action="store_true", help="write the computed numbers into the pages")
    args = arg.parse_args(arguments)
    quotes = Quotes(read_as(args.root / "docs" / "quotes.yaml", Table), args.root / "results" / "reference")
    wrong = []
    for page in [args.root / "README.md", *sorted((args.root / "docs").glob("*.md"))]:
        text, name = page.read_text(), str(page.relative_to(args.root))
        check_marks(text, name)
        found = drifts(text, quotes)
        wrong += found
        for drift in found:
            print(f"{name}, line {drift.line}: {drift.id}: written {drift.written}, computed {drift.computed}")
        if args.write and found:
            write_text(page, rewritten(text, quotes))
    printed = args.root / "docs" / "printed-numbers.md"
    page = printed_page([read_as(path, Printed) for path in FILES], quotes)
    if args.write:
        write_text(printed, page)
    elif not printed.exists() or printed.read_text() != page:
        raise InputError("docs/printed-numbers.md differs from the kept results: run quotes.py --write and read it")
    evidence = args.root / "docs" / "evidence.md"
    if evidence.exists():
        text = evidence.read_text()
        page = with_block(text, "kept", kept_table(quotes.metrics))
        page = with_block(page, "open", open_table(quotes.claims.reset_index()))
        if args.write:
            write_text(evidence, page)
        elif page != text:
            raise InputError("docs/evidence.md differs from the kept results: run quotes.py --write and read it")
    if args.check and wrong:
        raise InputError(
            f"{len(wrong)} quoted number(s) differ from the kept results: run quotes.py --write and read them"
        )


if __name__ == "__main__":
    run(main)
