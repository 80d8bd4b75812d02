"""Marks in Markdown: `<!-- q: name arguments -->0.578<!-- /q -->`, invisible where the page is shown.

A mark may span cells of a table row; its text is then the values, joined by " | ".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pandas as pd

from tensorldp.errors import InputError
from tensorldp.mechanism_table import NO_PRIVACY

OPEN = ("undecided", "not run at this scale")
CELL = ["variant", "mechanism", "epsilon"]


def with_block(text: str, name: str, block: str) -> str:
    """A page with the lines between `<!-- name: begin -->` and `<!-- name: end -->` replaced.

    Raises:
        InputError: if the page does not have both marks once, in this order.
    """
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    parts = re.split(f"({re.escape(begin)}|{re.escape(end)})", text)
    if parts[1::2] != [begin, end]:
        raise InputError(f"the page must have {begin} and then {end}, once each")
    return f"{parts[0]}{begin}\n\n{block}\n\n{end}{parts[4]}"


def kept_table(metrics: pd.DataFrame) -> str:
    """Markdown: of each study, data set and scale, how many cells are kept with how many seeds.

    Args:
        metrics: the kept rows.
    """
    lines = [
        "| study | data | scale | cells and their seeds | mechanisms | networks compute in |",
        "|---|---|---|---|---|---|",
    ]
    for (study, dataset, scale), rows in metrics.groupby(["study", "dataset", "scale"], observed=True):
        seeds = rows.groupby(CELL, observed=True, dropna=False)["seed"].nunique().value_counts().sort_index()
        counts = ", ".join(f"{cells:,} of {count} seed{'s' * (count != 1)}" for count, cells in seeds.items())
        names = sorted(set(rows["mechanism"].astype(str)) - {NO_PRIVACY})
        precisions = ", ".join(sorted(rows["precision"].astype(str).unique()))
        lines.append(f"| `{study}` | {dataset} | {scale} | {counts} | {len(names)} | {precisions} |")
    return "\n".join(lines)


def open_table(claims: pd.DataFrame) -> str:
    """Markdown: the claims without a verdict, and what would give them one.

    Args:
        claims: the kept table of claims.
    """
    rows = claims[claims["verdict"].isin(OPEN)]
    lines = [f"{len(rows)} of {len(claims)} claims.", "", "| claim | verdict | what it would take |", "|---|---|---|"]
    for _, row in rows.iterrows():
        need = row["wanted"] if isinstance(row["wanted"], str) else row["observed"]
        short = re.split(r"; and \d+ more|, after which|; computed reason|; with ", str(need))[0]
        lines.append(f"| {row['id']}: {row['claim']} | {row['verdict']} | {short} |".replace("\n", " "))
    return "\n".join(lines)


MARK = re.compile(r"<!-- q: (?P<id>[^\n]+?) -->(?P<text>[^\n]*?)<!-- /q -->")
NUMBER = re.compile(r"(?<![\w.,^])[0-9][0-9,]*(?:\.[0-9]+)?(?:e-?[0-9]+)?(?![\w])")
NOT_PROSE = (
    re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL),
    re.compile(r"`[^`\n]*`"),
    re.compile(r"\]\([^)]*\)"),
    re.compile(r"<!--.*?-->", re.DOTALL),
)


@dataclass(frozen=True)
class Drift:
    """A marked text that differs from the value of its id."""

    id: str
    line: int
    written: str
    computed: str


def check_marks(text: str, page: str) -> None:
    """Refuse a page in which a mark is opened and not closed on its line, or the reverse.

    Raises:
        InputError: naming the page and the line.
    """
    for number, line in enumerate(text.splitlines(), 1):
        rest = MARK.sub("", line)
        if "<!-- q:" in rest or "<!-- /q" in rest:
            raise InputError(f"{page}, line {number}: a mark must be <!-- q: id -->text<!-- /q --> on one line")


def drifts(text: str, value: Callable[[str], str]) -> list[Drift]:
    """The marked texts that differ from `value(id)`, in the order of the page."""
    differing = []
    for mark in MARK.finditer(text):
        computed = value(mark["id"])
        if mark["text"] != computed:
            line = text.count("\n", 0, mark.start()) + 1
            differing.append(Drift(mark["id"], line, mark["text"], computed))
    return differing


def rewritten(text: str, value: Callable[[str], str]) -> str:
    """The page with each marked text replaced by `value(id)`."""
    return MARK.sub(lambda mark: f"<!-- q: {mark['id']} -->{value(mark['id'])}<!-- /q -->", text)


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
            raise InputError(f"no heading {heading!r}: remove it from the list of what needs no mark")
    return text


def unmarked(text: str, allowed: Iterable[str]) -> list[str]:
    """The numbers with a decimal point or above 100 that stand neither in a mark nor in a phrase of `allowed`.

    Code, the targets of links and comments are left out.

    Raises:
        InputError: if a phrase of `allowed` is not in the page.
    """
    text = MARK.sub("", text)
    for pattern in NOT_PROSE:
        text = pattern.sub(" ", text)
    text = re.sub(r"\s+", " ", text)
    phrases = list(allowed)
    for phrase in phrases:
        if phrase not in text:
            raise InputError(f"no prose has the phrase {phrase!r}: remove it from the list of what needs no mark")
    for phrase in sorted(phrases, key=len, reverse=True):
        start = r"(?<![\w.,])" if phrase[0].isalnum() else ""  # not the end of another number
        text = re.sub(rf"{start}{re.escape(phrase)}(?!\w)", " ", text)
    numbers = (match[0].rstrip(",") for match in NUMBER.finditer(text))
    return [number for number in numbers if "." in number or float(number.replace(",", "")) > 100]
