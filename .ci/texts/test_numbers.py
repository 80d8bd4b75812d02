"""The pages are what their templates give from the kept results; what they say of code and keys is so, too."""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from blocks import blocks
from texts import DOCS, ROOT, read

from tensorldp.errors import InputError
from tensorldp_papers.data import catalogue
from tensorldp_papers.quoting.templates import QUOTES, Pages
from tensorldp_papers.rooms import papers
from tensorldp_papers.run.settings import Settings

MADE = Pages(ROOT)
TEMPLATES = {name: read(template) for name, template in MADE.templates().items()}
HELD = {"README.md", *(f"docs/papers/{key}.md" for key in papers())}


NUMBER = re.compile(r"(?<![\w.,^])[0-9][0-9,]*(?:\.[0-9]+)?(?:e-?[0-9]+)?(?![\w])")
NOT_PROSE = (
    re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL),
    re.compile(r"`[^`\n]*`"),
    re.compile(r"\]\([^)]*\)"),
    re.compile(r"<[^>\n]+>"),
    re.compile(r"<!--.*?-->", re.DOTALL),
    re.compile(r"\{\{.*?\}\}", re.DOTALL),
)


def without_sections(text: str, headings: Iterable[str]) -> str:
    """The page without the sections under these headings, each up to the next heading of its level.

    Raises:
        InputError: if there is no such heading.
    """
    for heading in headings:
        level = len(heading) - len(heading.lstrip("#"))
        pattern = re.compile(rf"^{re.escape(heading)}$.*?(?=^#{{1,{level}}} |\Z)", re.MULTILINE | re.DOTALL)
        text, count = pattern.subn("", text)
        if not count:
            raise InputError(f"no heading {heading!r}: remove it from the list of what needs no value")
    return text


def unmarked(text: str, allowed: Iterable[str]) -> list[str]:
    """The numbers with a decimal point or above 100 that are in no phrase of `allowed` and that no value fills in.

    Code, the targets of links, comments and what is filled in are left out.

    Raises:
        InputError: if a phrase of `allowed` is not in the page.
    """
    for pattern in NOT_PROSE:
        text = pattern.sub(" ", text)
    text = re.sub(r"\s+", " ", text)
    phrases = list(allowed)
    for phrase in phrases:
        if phrase not in text:
            raise InputError(f"no prose has the phrase {phrase!r}: remove it from the list of what needs no value")
    for phrase in sorted(phrases, key=len, reverse=True):
        start = r"(?<![\w.,])" if phrase[0].isalnum() else ""  # not the end of another number
        text = re.sub(rf"{start}{re.escape(phrase)}(?!\w)", " ", text)
    numbers = (match[0].rstrip(",") for match in NUMBER.finditer(text))
    return [number for number in numbers if "." in number or float(number.replace(",", "")) > 100]


def test_the_pages_are_what_their_templates_give() -> None:
    assert MADE.differing() == {}, "run workflow/scripts/quotes.py --write, and read what changed"


def test_every_entry_is_used_somewhere_and_the_pages_show_what_the_runs_found() -> None:
    asked = [name for text in TEMPLATES.values() for name in re.findall(r'\bq\("([^\s"]+)', text)]
    assert set(MADE.table.entries) == set(asked)
    assert len(asked) > 100


def test_pages_are_plain_text_and_a_value_never_begins_a_line_of_a_template() -> None:
    assert TEMPLATES.keys() >= HELD
    assert [name for name in TEMPLATES if "{{" in read(name) or "<!--" in read(name)] == []
    assert [name for name, text in TEMPLATES.items() if re.search(r"^\s*\{\{ *q\(", text, re.MULTILINE)] == []


@pytest.mark.parametrize("page", sorted({*MADE.table.unmarked, *HELD}))
def test_no_number_of_results_in_a_template_lacks_a_value(page: str) -> None:
    allowance = MADE.table.unmarked[page]
    allowed = [phrase for phrases in allowance.phrases.values() for phrase in phrases]
    assert unmarked(without_sections(TEMPLATES[page], allowance.sections), allowed) == []


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
    shutil.copy(ROOT / QUOTES, tmp_path / "docs")
    (tmp_path / "results").symlink_to(ROOT / "results")
    (tmp_path / "page.md.j2").write_text(text)
    with pytest.raises(InputError, match=told):
        Pages(tmp_path).rendered(tmp_path / "page.md.j2")


@pytest.mark.parametrize(
    ("text", "allowed", "expected"),
    [
        ("reaches 0.93 at 100 and 101, or 1,234 there", [], ["0.93", "101", "1,234"]),
        ("the 5.2e7 of 36 %", [], ["5.2e7"]),
        ('| {{ q("x 0.1,0.25") }} | and {{ q("y") }}', [], []),
        ("`0.93` and [0.93](0.94)\n```\n0.95\n```\n<!-- 0.96 -->", [], ["0.93"]),
        ("TLDP2025 and v1.5 and x86", [], []),
        ("all 60,000\nimages and 60,000 of 160,000 images", ["60,000 images"], ["60,000", "160,000"]),
    ],
)
def test_numbers_without_a_value_are_found_and_an_allowed_phrase_covers_itself_alone(
    text: str, allowed: list[str], expected: list[str]
) -> None:
    assert unmarked(text, allowed) == expected
    with pytest.raises(InputError, match="70,000"):
        unmarked(text, ["70,000 images"])


def test_sections_without_values_end_at_the_next_heading_of_their_level() -> None:
    text = "# A\n1.5\n## Speed\n2.5\n### Part\n3.5\n## B\n4.5\n"
    assert unmarked(without_sections(text, ["## Speed"]), []) == ["1.5", "4.5"]
    with pytest.raises(InputError, match="Sped"):
        without_sections(text, ["## Sped"])


# what pages say of the library and of the config


def test_the_librarys_example_gives_what_its_comments_say() -> None:
    (block,) = [one.text for one in blocks(DOCS / "reading-a-guarantee.md") if "mechanisms.make" in one.text]
    names: dict[str, Any] = {}
    exec(block.split("\nm.guarantee")[0], names)
    said = re.findall(r"^(m\.guarantee\S+) +# (inf|[\d.]+\d)", block, re.MULTILINE)
    assert [float(number) for _, number in said] == [float("inf"), 784.0, 382.3]
    for code, number in said:
        assert eval(code, names) == pytest.approx(float(number), abs=0.05)


def test_the_page_on_copies_has_those_of_the_catalogue() -> None:
    wanted = {
        entry.name: [entry.sizes[1], copies.seen, copies.relabelled, entry.sizes[0], copies.repeated]
        for entry in map(catalogue.get, catalogue.names())
        if (copies := entry.copies)
    }
    rows = csv.reader(read("docs/decisions/copies.csv").splitlines()[1:])
    assert {name: [*map(int, numbers)] for name, *numbers in rows} == wanted
    tests, seen, relabelled, *_ = wanted["darknet_5k"]
    said = f"{seen} of {tests:,} test records are also in training, {relabelled} only with another label"
    assert said in " ".join(read("docs/decisions.md").split())


def test_the_first_mechanism_is_about_twenty_lines() -> None:
    (block,) = [one.text for one in blocks(DOCS / "your-first-mechanism.md") if "@register" in one.text]
    assert len(block.splitlines()) <= 25


def test_the_lines_of_the_config_that_a_page_offers_are_read() -> None:
    (block,) = [one.text for one in blocks(DOCS / "changing-a-run.md") if one.option("title") == "config.yaml"]
    settings = Settings.model_validate({"studies": ["tldp_type1"], **yaml.safe_load(block)})
    assert settings.seeds == [0, 1, 2, 3, 4]


def test_the_guide_has_every_key_of_the_config_with_its_default() -> None:
    text = read("config/README.md")
    table = text[text.index("| `scale` |") :].split("\n\n")[0]  # another one has the keys of clients
    rows = {key: default for key, _, default in re.findall(r"^\| `(\w+)` \| (.*) \| (.*) \|$", table, re.MULTILINE)}
    assert list(rows) == list(Settings.model_fields)
    for key, field in Settings.model_fields.items():
        if field.is_required():
            assert rows[key] == "required"
        elif isinstance(field.default, str | float):
            assert rows[key].split(":")[0].strip("`") == str(field.default).removesuffix(".0"), key
