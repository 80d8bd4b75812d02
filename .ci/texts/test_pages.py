"""The pages are what their templates give from the kept results, and no template types a result."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from tensorldp.errors import InputError
from tensorldp_papers.citations import PAPERS
from tensorldp_papers.quoting.templates import Pages, unmarked, verdict_table, without_sections
from tensorldp_papers.quoting.values import Table, read_as

ROOT = Path(__file__).parents[2]
TABLE = read_as(ROOT / "docs" / "quotes.yaml", Table)
ASKED = re.compile(r'\bq\("([^\s"]+)')
PAPER_PAGES = {f"docs/papers/{key}.md" for key in PAPERS}


@pytest.fixture(scope="module")
def pages() -> Pages:
    return Pages(ROOT)


def test_the_pages_are_what_their_templates_give(pages: Pages) -> None:
    assert pages.differing() == {}, "run workflow/scripts/quotes.py --write, and read what changed"


def test_every_entry_is_used_somewhere_and_the_pages_show_what_the_runs_found(pages: Pages) -> None:
    asked = [name for template in pages.templates().values() for name in ASKED.findall(template.read_text())]
    assert set(TABLE.entries) == set(asked)
    assert len(asked) > 100


def test_the_page_itself_is_plain_text(pages: Pages) -> None:
    assert {"README.md", *PAPER_PAGES} <= pages.templates().keys()
    texts = {name: (ROOT / name).read_text() for name in pages.templates()}
    assert [name for name, text in texts.items() if "{{" in text or "<!--" in text] == []


def test_a_value_never_begins_a_line(pages: Pages) -> None:
    texts = {name: template.read_text() for name, template in pages.templates().items()}
    assert [name for name, text in texts.items() if re.search(r"^\s*\{\{ *q\(", text, re.MULTILINE)] == []


@pytest.mark.parametrize("page", TABLE.unmarked)
def test_no_number_of_results_in_a_template_lacks_a_value(page: str, pages: Pages) -> None:
    allowance = TABLE.unmarked[page]
    text = without_sections(pages.templates()[page].read_text(), allowance.sections)
    allowed = [phrase for phrases in allowance.phrases.values() for phrase in phrases]
    assert unmarked(text, allowed) == []


def test_the_readme_and_the_pages_of_papers_are_held_to_it() -> None:
    assert {"README.md", *PAPER_PAGES} <= TABLE.unmarked.keys()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{{ q("no-such-entry") }}', "no-such-entry"),
        ('{{ printed_table("lattent") }}', "page.md.j2: .*did you mean 'latent'"),
        ('{{ verdict_table("lattent") }}', "page.md.j2: .*did you mean 'latent'"),
        ("{{ no_such_name }}", "page.md.j2: .*no_such_name"),
        ("{{ q(", "page.md.j2: "),
    ],
)
def test_a_wrong_template_is_told_in_a_sentence(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "quotes.yaml", tmp_path / "docs")
    (tmp_path / "results").symlink_to(ROOT / "results")
    template = tmp_path / "page.md.j2"
    template.write_text(text)
    with pytest.raises(InputError, match=told):
        Pages(tmp_path).rendered(template)


def test_verdicts_are_counted_by_kind_in_the_order_of_the_report() -> None:
    rows = [
        ("a", "theorem", "refuted"),
        ("a", "theorem", "reproduced"),
        ("a", "empirical", "undecided"),
        ("a", "cost", "reproduced"),
        ("b", "descriptive", "reproduced"),
    ]
    claims = pd.DataFrame(rows, columns=["source", "kind", "verdict"])
    assert verdict_table(claims, "a").splitlines() == [
        "| | reproduced | refuted | undecided | all |",
        "|---|---|---|---|---|",
        "| theorems | 1 | 1 | 0 | 2 |",
        "| statements about runs | 1 | 0 | 1 | 2 |",
    ]
