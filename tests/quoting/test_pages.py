"""The pages' marked numbers are those of the kept results, and pages of results have no number that lacks a mark."""

from pathlib import Path

import pytest

from tensorldp_papers.quoting.marks import MARK, check_marks, drifts, unmarked, without_sections
from tensorldp_papers.quoting.values import Quotes, Table, read_as

ROOT = Path(__file__).parents[2]
TABLE = read_as(ROOT / "docs" / "quotes.yaml", Table)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.fixture(scope="module")
def quotes() -> Quotes:
    return Quotes(TABLE, ROOT / "results" / "reference")


def test_quoted_numbers_are_those_of_the_kept_results(quotes: Quotes) -> None:
    for page in PAGES:
        check_marks(page.read_text(), page.name)
    wrong = {page.name: found for page in PAGES if (found := drifts(page.read_text(), quotes))}
    assert not wrong, "run workflow/scripts/quotes.py --write, and read what changed"


def test_the_pages_quote_what_the_runs_found() -> None:
    marks = [mark for page in PAGES for mark in MARK.finditer(page.read_text())]
    assert len(marks) > 100
    assert MARK.search((ROOT / "README.md").read_text())


def test_every_entry_is_quoted_somewhere() -> None:
    names = {mark["id"].split()[0] for page in PAGES for mark in MARK.finditer(page.read_text())}
    assert set(TABLE.entries) == names


@pytest.mark.parametrize("page", TABLE.unmarked)
def test_no_number_of_the_pages_of_results_lacks_a_mark(page: str) -> None:
    allowance = TABLE.unmarked[page]
    text = without_sections((ROOT / page).read_text(), allowance.sections)
    allowed = [phrase for phrases in allowance.phrases.values() for phrase in phrases]
    assert unmarked(text, allowed) == []


def test_the_readme_and_the_results_are_held_to_it() -> None:
    assert {"README.md", "docs/results.md"} <= TABLE.unmarked.keys()
