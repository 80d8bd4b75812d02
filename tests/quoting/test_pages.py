"""The pages' marked numbers are those of the kept results, and README.md has no number that should be marked."""

from pathlib import Path

import pytest

from tensorldp.quoting.marks import MARK, check_marks, drifts, unmarked, without_sections
from tensorldp.quoting.values import Quotes, read_table

ROOT = Path(__file__).parents[2]
TABLE = read_table(ROOT / "docs" / "quotes.yaml")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.fixture(scope="module")
def quotes() -> Quotes:
    return Quotes(TABLE, ROOT / "results" / "reference")


def test_quoted_numbers_are_those_of_the_kept_results(quotes: Quotes) -> None:
    for page in PAGES:
        check_marks(page.read_text(), page.name)
    wrong = {page.name: found for page in PAGES if (found := drifts(page.read_text(), quotes))}
    assert not wrong, "run workflow/scripts/quotes.py --write, and read what changed"


def test_the_readme_quotes_what_it_finds(quotes: Quotes) -> None:
    marks = MARK.findall((ROOT / "README.md").read_text())
    assert len(marks) > 100


def test_every_entry_is_quoted_somewhere() -> None:
    names = {mark["id"].split()[0] for page in PAGES for mark in MARK.finditer(page.read_text())}
    assert set(TABLE.entries) == names


def test_no_number_of_the_readme_lacks_a_mark() -> None:
    text = without_sections((ROOT / "README.md").read_text(), TABLE.unmarked.sections)
    allowed = [phrase for phrases in TABLE.unmarked.phrases.values() for phrase in phrases]
    assert unmarked(text, allowed) == []
