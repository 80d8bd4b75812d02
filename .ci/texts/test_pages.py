"""The pages are short, their sentences too, and lists, tables and paragraphs are whole for GitHub and for the site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import cmarkgfm
import pytest
from blocks import blocks
from keys import KEY
from markdown_it import MarkdownIt
from texts import DOCS, PAGES, ROOT, anchors, named, read
from words import CODE, FORMULAS, count, sentences, without_code

MOST_WORDS, MOST_ALL, README_WORDS, README_LINES, AVERAGE = 35, 24_500, 500, 110, 17.0
MOST_NAME = 12  # words of an item that is a name and no sentence
LOWER_NAMES = ("scikit-learn", "dp-accounting")
GITHUB = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
ITEM = re.compile(r"^ *(?:[-*+]|\d+[.)]) +\S")
RULE = re.compile(r"^\|?[ :|-]+\|[ :|-]*$")
WHOLE = re.compile(r"[.!?:)”\"’…]$")
each_page = pytest.mark.parametrize("page", PAGES, ids=named)


def test_all_pages_are_short() -> None:
    """But for those that are tables of data."""
    tables = {DOCS / "criteria.md", DOCS / "libraries.md"}
    assert sum(count(read(page)) for page in PAGES if page not in tables) <= MOST_ALL


def test_the_readme_is_two_screens_with_five_findings_and_short_up_to_where_to_go_on() -> None:
    text = read("README.md")
    assert len(text.splitlines()) <= README_LINES
    assert len(re.findall(r"^\d\. \*\*", text, re.MULTILINE)) == 5
    assert {"make figures", "make test"} <= set(re.findall(r"make \w+", text))
    first, _ = re.split(r"^#+ Where to go on", text, flags=re.MULTILINE)
    assert count(first) <= README_WORDS


@each_page
def test_sentences_are_short_and_a_key_is_always_code(page: Path) -> None:
    found = sentences(read(page))
    assert [sentence for sentence, words in found if words > MOST_WORDS] == []
    assert sum(words for _, words in found) < AVERAGE * max(1, len(found))
    assert KEY.findall(re.sub(r"`[^`]*`", " ", without_code(read(page)))) == []


def test_sentences_are_told_apart() -> None:
    text = "# Title\n\nOne has $a b c$ here. Two, e.g. This, is `one two`!\n\n"
    text += "- Three is\n  one.\n- Four.\n\n| a | b |\n|---|---|\n"
    assert sentences(text) == [("One has formula here.", 4), ("Two, e.g. This, is code!", 5), ("Three is one.", 3)]
    assert count(text) == 16


@each_page
def test_every_block_of_a_guide_is_run_or_says_why_not(page: Path) -> None:
    for block in blocks(page) if page.parent == DOCS else ():
        assert block.language in {"python", "pycon", "sh", "yaml", "text"}, block.text
        assert block.language != "yaml" or block.option("title"), f"{block.text} is no file"
        assert "skip" not in block.info or len(block.option("skip")) > 10, block.text


@each_page
def test_links_lead_to_pages_and_sections(page: Path) -> None:
    for target, section in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([\w-]+))?\)", read(page)):
        path = (page.parent / target) if target else page
        assert path.exists(), target
        assert not section or section in anchors(path), f"{target}#{section}"


def test_the_map_names_every_folder_and_nothing_that_is_not_there() -> None:
    names = set(re.findall(r"`([\w./-]+/?)`", read("docs/code-map.md")))
    packages = (ROOT / "src" / "tensorldp", ROOT / "src" / "tensorldp_papers")
    folders = {f"{path.parent.name}/" for package in packages for path in package.glob("*/__init__.py")}
    assert folders <= names
    paths = {name for name in names if "/" in name or name.endswith((".py", ".yaml"))}
    assert [name for name in paths if not any((folder / name).exists() for folder in (ROOT, *packages))] == []


def test_what_the_guides_say_to_run_exists() -> None:
    text = "\n".join(map(read, [ROOT / "CONTRIBUTING.md", *PAGES]))
    scripts = set(re.findall(r"bash (\.ci/\w+)", text))
    assert {".ci/run", ".ci/wheel", ".ci/docs", ".ci/library"} <= scripts
    assert [script for script in scripts if not (ROOT / script).is_file()] == []
    targets = set(re.findall(r"`make ([a-z-]+)", text))
    assert targets <= set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))


# paragraphs and items


class Text(NamedTuple):
    """A paragraph of a page, or that of an item."""

    line: int
    text: str  # what a reader reads
    raw: str
    item: bool  # whether it begins an item
    group: int  # the outermost list that it is in, 0 for none


def texts(markdown: str) -> list[Text]:
    """Paragraphs and items of a page, in its order; a table counts as the beginning of a formula."""
    tokens = GITHUB.parse(markdown)
    found, level, group = [], 0, 0
    for place, token in enumerate(tokens):
        level += token.type.endswith("_list_open") - token.type.endswith("_list_close")
        group += level == 1 and token.type.endswith("_list_open")
        line = token.map[0] + 1 if token.map else 0
        if token.type == "table_open":
            found.append(Text(line, "", "$$ table", False, 0))
        elif token.type == "inline" and tokens[place - 1].type == "paragraph_open":
            parts = [child for child in token.children or [] if child.type not in {"image", "html_inline"}]
            text = "".join(" " if child.type == "softbreak" else child.content for child in parts).strip()
            item = tokens[place - 2].type == "list_item_open"
            found.append(Text(line, text, token.content, item, group if level else 0))
    return found


def only_names(items: list[Text]) -> bool:
    """Whether a list has names alone: none ends as a sentence does, and all are short."""
    return all(text.item and len(text.text.split()) <= MOST_NAME and text.text[-1:] not in ".!?;," for text in items)


def fragments(markdown: str) -> list[str]:
    """The paragraphs and items that begin or end in the middle of a sentence."""
    found, wrong, ahead = texts(markdown), [], ""
    names = {t.group for t in found if t.group and only_names([other for other in found if other.group == t.group])}
    for before, text, after in zip([None, *found], found, [*found[1:], None], strict=False):
        if text.text and not text.raw.startswith("$$") and text.group not in names:
            within = (before and before.raw.endswith(("$$", "$$."))) or (text.item and ahead.endswith(":"))
            begins = within or text.raw.startswith(LOWER_NAMES) or not re.match("[a-z]", text.raw)
            goes_on = after and (after.raw.startswith("$$") or (text.item and after.item and text.text[-1] in ";,"))
            if not begins or not (goes_on or text.raw.endswith("$$") or WHOLE.search(text.text)):
                wrong.append(f"line {text.line}: {text.text[:60]} ... {text.text[-40:]}")
        ahead = ahead if text.item else text.text
    return wrong


@each_page
def test_no_paragraph_or_item_is_a_fragment(page: Path) -> None:
    assert fragments(read(page)) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("A whole one.\n\nand its end.", 1),
        ("It begins and\n\nEnds.", 1),
        ("Five of them:\n\n- one is 5;\n- two is\n", 1),
        ("It has\n\n0.5 of them.", 1),
        ("Five.\n\n- one begins small. And is no name.\n", 1),
        ("See [the page](page.md)\n", 1),
        ("# a title\n\nA whole one (with a bracket).\n\n![a picture](a.svg)\n", 0),
        ("Names:\n\n- one\n- two of them\n\nA formula is\n\n$$a$$\n\nand goes on.", 0),
        ("Three things are there:\n\n- one thing;\n- another, [linked](a.md).\n", 0),
        ("A caption\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", 0),
        ("`code` is first.\n\n```python\nlower = 1\n```\n", 0),
    ],
)
def test_fragments_are_told_from_whole_ones(text: str, count: int) -> None:
    assert len(fragments(text)) == count


# lists and tables

ODD = re.compile(
    r"""^(?:[^\s|*+\d-].*\n\ *(?:[-*+]|\d+[.)])\ +\S  # a list without an empty line before it
    |[^|\n].*\n\|  # a table without one
    |(?:\ {4})*\ {1,3}(?:[-*+]|\d+[.)])\ +\S  # an item that is not four spaces further in
    |\n(?:\ {4})*\ {1,3}(?!\ )\S.*)  # nor is a paragraph of an item""",
    re.MULTILINE | re.VERBOSE,
)


def without(text: str, *patterns: re.Pattern[str]) -> list[str]:
    """A page's lines without what patterns match, in place of each line an empty one."""
    for pattern in patterns:
        text = pattern.sub(lambda found: "\n" * found[0].count("\n"), text)
    return text.splitlines()


def written(lines: list[str]) -> tuple[int, int, int]:
    """Items, tables and rows that the source means to have: lines that begin as such."""
    rules = [bool(RULE.match(line.strip())) for line in lines if line.lstrip().startswith("|")]
    return sum(bool(ITEM.match(line)) for line in lines), sum(rules), len(rules) - sum(rules)


def differences(text: str) -> list[str]:
    """What GitHub takes otherwise than written, and lines that it and the site's parser take for different things."""
    wrong: list[str] = ODD.findall("\n".join(without(text, *CODE)))
    html, lines = cmarkgfm.github_flavored_markdown_to_html(text), without(text, *CODE, *FORMULAS)
    found = html.count("<li>"), html.count("<table>"), html.count("<tr>")
    return wrong if found == written(lines) else [*wrong, f"items, tables and rows: {found}, not {written(lines)}"]


@each_page
def test_lists_and_tables_are_the_same_on_github_and_on_the_site(page: Path) -> None:
    assert differences(read(page)) == []


ALIKE = """A line.

- an item
  goes on
    - a further one
- another

| a | b |
|---|---|
| 1 | 2 |

```sh
- no item
```
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A line\n- an item\n", True),
        ("A line.\n\n- an item\n  - a further one\n", True),
        ("A line.\n\n- an item\n\n  its paragraph\n", True),
        ("A line.\n| a | b |\n|---|---|\n", True),
        ("$$a\n- b$$\n", True),
        (ALIKE, False),
    ],
)
def test_what_parsers_take_differently_is_found(text: str, found: bool) -> None:
    assert bool(differences(text)) == found
    assert found or written(without(text, *CODE)) == (3, 1, 2)
