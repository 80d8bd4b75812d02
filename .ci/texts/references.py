"""What cites what: BibTeX entries, citations such as [balle2018], and sections of pages."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
BIB = ROOT / "docs" / "references.bib"
CITATION = re.compile(r"\[([a-z]+(?:19|20)\d\d[a-z]?)\]")
FOLDERS = ("src", "workflow", "tests", "docs", "notebooks", "benchmarks")
SUFFIXES = {".py", ".md", ".yaml", ".smk", ".ipynb", ".html"}


def entries(text: str) -> dict[str, dict[str, str]]:
    """The entries of a BibTeX file, {key: {field: value}}, with the braces of a value counted.

    Raises:
        ValueError: if the text is no sequence of comments and well-formed entries with distinct keys.
    """
    found: dict[str, dict[str, str]] = {}
    place = 0
    text = re.sub(r"^%.*\n", "", text, flags=re.MULTILINE)
    while text[place:].strip():
        head = re.compile(r"\s*@(\w+)\{(\w+),\s*").match(text, place)
        if head is None:
            raise ValueError(f"no entry starts at {text[place : place + 60]!r}")
        key, place = head[2], head.end()
        if key in found:
            raise ValueError(f"two entries have the key {key}")
        fields = {"type": head[1]}
        while text[place] != "}":
            field = re.compile(r"(\w+) = \{").match(text, place)
            if field is None:
                raise ValueError(f"{key}: no field starts at {text[place : place + 60]!r}")
            place, depth = field.end(), 1
            start = place
            while depth:
                depth += {"{": 1, "}": -1}.get(text[place], 0)
                place += 1
            if field[1] in fields:
                raise ValueError(f"{key} has two fields {field[1]}")
            fields[field[1]] = text[start : place - 1]
            rest = re.compile(r",?\s*").match(text, place)
            assert rest is not None
            place = rest.end()
        found[key], place = fields, place + 1
    return found


def plain(value: str) -> str:
    """A field without TeX: its braces go, and accents lose their commands and their letters' marks."""
    return re.sub(r"\\['`^\"~]", "", value).replace("\\i", "i").replace("{", "").replace("}", "")


def texts() -> dict[Path, str]:
    """The text of every file of the repository that may cite."""
    paths = [ROOT / "README.md", *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
    return {path: path.read_text() for path in paths if path.suffix in SUFFIXES}


def citations(found: dict[Path, str]) -> dict[str, set[Path]]:
    """The keys that are cited, and where."""
    cited: dict[str, set[Path]] = {}
    for path, text in found.items():
        for key in CITATION.findall(text):
            cited.setdefault(key, set()).add(path)
    return cited


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page, and those set by hand."""
    text = page.read_text()
    heads = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in heads}
