"""The pages are short, their sentences too, and lists, tables and paragraphs are whole for GitHub and for the site."""

from __future__ import annotations

import importlib.util
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cmarkgfm
import pytest
from keys import KEY
from markdown_it import MarkdownIt
from markdown_it.token import Token
from words import (
    AVERAGE,
    LEFT_OUT,
    MOST_ALL,
    MOST_WORDS,
    README_WORDS,
    ROOT,
    Page,
    page,
    pages,
    sentences,
    without_code,
)

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAME = [path.relative_to(ROOT).as_posix() for path in PAGES]
MOST_NAME = 12  # words of an item that is a name and no sentence
EXTENSIONS = ("attr_list", "tables", "sane_lists", "md_in_html")  # of mkdocs.yml
LOWER_NAMES = ("scikit-learn", "dp-accounting")
GITHUB = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
ITEM = re.compile(r"^( *)(?:[-*+]|\d+[.)]) +\S")
RULE = re.compile(r"^\|?[ :|-]+\|[ :|-]*$")
WHOLE = re.compile(r"[.!?:)”\"’…]$")


@dataclass(frozen=True)
class Text:
    """A paragraph of a page, or that of an item.

    Attributes:
        line: its first, counted from 1.
        text: what a reader reads.
        raw: its Markdown.
        item: whether it begins an item.
        before, after: the kind of the token on either side of it, or "formula".
    """

    line: int
    text: str
    raw: str
    item: bool
    before: str
    after: str


# how long pages and sentences are


@cache
def counted() -> dict[str, Page]:
    return {found.name: found for found in pages()}


@pytest.mark.parametrize("path", PAGES, ids=NAME)
def test_a_key_is_always_code(path: Path) -> None:
    text = re.sub(r"`[^`]*`", " ", without_code(path.read_text()))
    assert not KEY.findall(text)


def test_all_pages_are_short() -> None:
    assert sum(found.words for found in counted().values()) <= MOST_ALL


def test_the_readme_is_short_up_to_where_to_go_on(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text()
    heading = re.search(r"^#+ Where to go on", text, re.MULTILINE)
    assert heading is not None
    (tmp_path / "README.md").write_text(text[: heading.start()])
    assert page(tmp_path / "README.md", tmp_path).words <= README_WORDS


@pytest.mark.parametrize("name", NAME)
def test_sentences_are_short(name: str) -> None:
    found = counted()[name]
    long = [s for s, words in zip(found.sentences, found.lengths, strict=True) if words > MOST_WORDS]
    assert long == []
    assert found.average < AVERAGE


def test_sentences_are_told_apart() -> None:
    text = "# Title\n\nOne has $a b c$ here. Two, e.g. This, is `one two`!\n\n"
    text += "- Three is\n  one.\n- Four.\n\n| a | b |\n|---|---|\n"
    assert sentences(text) == ["One has formula here.", "Two, e.g. This, is code!", "Three is one."]


# paragraphs and items


def texts(markdown: str) -> list[Text]:
    """Paragraphs and items of a page, in its order."""
    tokens = GITHUB.parse(markdown)
    found = []
    for place, token in enumerate(tokens):
        if token.type != "inline" or tokens[place - 1].type != "paragraph_open":
            continue
        before, after = kind(tokens, place - 2, -1), kind(tokens, place + 2, 1)
        item = tokens[place - 2].type == "list_item_open"
        assert token.map is not None
        found.append(Text(token.map[0] + 1, read(token), token.content, item, before, after))
    return found


def kind(tokens: list[Token], place: int, step: int) -> str:
    """The kind of a token, or "formula" for a paragraph that begins or ends with one; empty at the page's ends."""
    if not 0 <= place < len(tokens):
        return ""
    token = tokens[place]
    inner = tokens[place + step] if token.type in {"paragraph_open", "paragraph_close"} else None
    if inner is not None and (inner.content.startswith("$$") if step > 0 else inner.content.endswith(("$$", "$$."))):
        return "formula"
    return token.type


def read(token: Token) -> str:
    """The text of a paragraph, an image being none."""
    parts = [child.content if child.type != "softbreak" else " " for child in token.children or []]
    shown = zip(parts, token.children or [], strict=True)
    return "".join(part for part, child in shown if child.type not in {"image", "html_inline"}).strip()


def fragments(markdown: str) -> list[str]:
    """The paragraphs and items that begin or end in the middle of a sentence."""
    found = texts(markdown)
    names = {text.line for items in lists(markdown) for text in items if only_names(items)}
    wrong = []
    for place, text in enumerate(found):
        if not text.text or text.raw.startswith("$$") or text.line in names:
            continue
        ahead = [other for other in found[:place] if not other.item][-1:]
        within = text.before == "formula" or (text.item and bool(ahead) and ahead[0].text.endswith(":"))
        more = text.item and text.text.endswith((";", ",")) and found[place + 1 :] and found[place + 1].item
        whole = WHOLE.search(text.text) or more or text.after in {"formula", "table_open"} or text.raw.endswith("$$")
        if (re.match("[a-z]", text.raw) and not within and not text.raw.startswith(LOWER_NAMES)) or not whole:
            wrong.append(f"line {text.line}: {text.text[:60]} ... {text.text[-40:]}")
    return wrong


def lists(markdown: str) -> Iterator[list[Text]]:
    """The items of each list that has no list around it."""
    found, level, lines = texts(markdown), 0, []
    for token in GITHUB.parse(markdown):
        if token.type.endswith("_list_open"):
            level += 1
            if level == 1 and token.map is not None:
                lines.append(token.map)
        elif token.type.endswith("_list_close"):
            level -= 1
    for first, last in lines:
        yield [text for text in found if first < text.line <= last]


def only_names(items: list[Text]) -> bool:
    """Whether a list has names alone: none ends as a sentence does, and all are short."""
    return all(text.item and len(text.text.split()) <= MOST_NAME and text.text[-1:] not in ".!?;," for text in items)


@pytest.mark.parametrize("path", PAGES, ids=NAME)
def test_no_paragraph_or_item_is_a_fragment(path: Path) -> None:
    assert fragments(path.read_text()) == []


@pytest.mark.parametrize(
    "text",
    [
        "A whole one.\n\nand its end.",
        "It begins and\n\nEnds.",
        "Five of them:\n\n- one is 5;\n- two is\n",
        "It has\n\n0.5 of them.",
        "Five.\n\n- one begins small. And is no name.\n",
        "See [the page](page.md)\n",
    ],
)
def test_fragments_are_found(text: str) -> None:
    assert len(fragments(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "# a title\n\nA whole one (with a bracket).\n\n![a picture](a.svg)\n",
        "Names:\n\n- one\n- two of them\n\nA formula is\n\n$$a$$\n\nand goes on.",
        "Three things are there:\n\n- one thing;\n- another, [linked](a.md).\n",
        "A caption\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
        "`code` is first.\n\n```python\nlower = 1\n```\n",
    ],
)
def test_whole_ones_are_left_alone(text: str) -> None:
    assert fragments(text) == []


# lists and tables


def without(text: str, *, formulas: bool) -> list[str]:
    """A page's lines without blocks of code, in place of each line an empty one, and perhaps without formulas."""
    for pattern in LEFT_OUT[:2] + (LEFT_OUT[2:4] if formulas else ()):
        text = pattern.sub(lambda found: "\n" * found[0].count("\n"), text)
    return text.splitlines()


def written(text: str) -> dict[str, int]:
    """Items and rows that the source means to have: lines that begin as such."""
    lines = without(text, formulas=True)
    rows = [line for line in lines if line.lstrip().startswith("|")]
    return {
        "items": sum(bool(ITEM.match(line)) for line in lines),
        "tables": sum(bool(RULE.match(line.strip())) for line in rows),
        "rows": sum(not RULE.match(line.strip()) for line in rows),
    }


def on_github(text: str) -> dict[str, int]:
    """Those that GitHub's parser finds."""
    html = cmarkgfm.github_flavored_markdown_to_html(text)
    return {what: html.count(f"<{tag}") for what, tag in {"items": "li>", "tables": "table>", "rows": "tr>"}.items()}


def on_the_site(text: str) -> dict[str, int]:
    """Those that the site's parser finds, with its extensions that change lists and tables."""
    import markdown  # type: ignore[import-untyped, import-not-found, unused-ignore]

    shown = "\n".join(without(text, formulas=True))
    html = markdown.markdown(shown, extensions=[f"markdown.extensions.{name}" for name in EXTENSIONS])
    return {what: html.count(f"<{tag}") for what, tag in {"items": "li>", "tables": "table>", "rows": "tr>"}.items()}


def odd_lines(text: str) -> list[str]:
    """Lines that the two parsers take for different things."""
    lines = without(text, formulas=False)
    wrong, inside = [], False  # inside: a list, up to a line at the margin after an empty one
    for number, (before, line) in enumerate(itertools.pairwise(["", *lines]), 1):
        item, margin = ITEM.match(line), len(line) - len(line.lstrip())
        if line and not margin and not item and not before:
            inside = False
        first_of_table = line.startswith("|") and not before.startswith("|")
        if item and not inside and before:
            wrong.append(f"line {number}: a list without an empty line before it")
        elif item and margin % 4:
            wrong.append(f"line {number}: an item that is not four spaces further in")
        elif first_of_table and before:
            wrong.append(f"line {number}: a table without an empty line before it")
        elif line and inside and not before and margin % 4:
            wrong.append(f"line {number}: a paragraph of an item that is not four spaces further in")
        inside = inside or bool(item)
    return wrong


@pytest.mark.parametrize("path", PAGES, ids=NAME)
def test_lists_and_tables_are_the_same_on_github_and_on_the_site(path: Path) -> None:
    text = path.read_text()
    assert on_github(text) == written(text)
    assert odd_lines(text) == []
    if importlib.util.find_spec("markdown"):
        assert on_the_site(text) == written(text)


@pytest.mark.parametrize(
    "text",
    [
        "A line\n- an item\n",
        "A line.\n\n- an item\n  - a further one\n",
        "A line.\n\n- an item\n\n  its paragraph\n",
        "A line.\n| a | b |\n|---|---|\n",
        "$$a\n- b$$\n",
    ],
)
def test_what_parsers_take_differently_is_found(text: str) -> None:
    assert odd_lines(text) or on_github(text) != written(text)


def test_what_parsers_take_alike_is_left_alone() -> None:
    text = "A line.\n\n- an item\n  goes on\n    - a further one\n- another\n\n"
    text += "| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\n- no item\n```\n"
    assert odd_lines(text) == []
    assert on_github(text) == written(text) == {"items": 3, "tables": 1, "rows": 2}
