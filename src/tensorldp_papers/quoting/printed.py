"""The numbers that the sources print about their results, with ours and the verdicts.

The numbers are in `papers/<room>/printed.yaml`, where figures find those that they draw (`plots/printed.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from pydantic import Field, model_validator

from tensorldp.errors import unknown
from tensorldp_papers.claims.statements import mean_interval
from tensorldp_papers.quoting.values import Entry, Quotes, written
from tensorldp_papers.rooms import papers
from tensorldp_papers.strict import Closed


class Ours(Entry):
    """A number of ours: as in docs/quotes.yaml, with what it describes and its unit."""

    of: str
    unit: str = ""


class PrintedNumber(Closed):
    """A number that a source prints.

    Attributes:
        place, what: where it is printed, and what it describes.
        printed: as printed.
        sentence: what the source says there, if figures quote it.
        points: what figures draw from it: the attributes of a `PrintedPoint`.
        ours: what was computed here for it; empty where `without` says why there is nothing.
        differs: how our settings differ.
        claims: ids of the claims that have the verdict.
    """

    place: str
    what: str
    printed: str
    sentence: str = ""
    points: tuple[dict[str, str | float], ...] = ()
    ours: tuple[Ours, ...] = ()
    without: str = ""
    differs: str = ""
    claims: tuple[str, ...]

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if bool(self.ours) == bool(self.without):
            raise ValueError("either ours, or without")
        return self


class Said(Closed):
    """What a source says about a figure for which it states no number."""

    place: str
    sentence: str


class Printed(Closed):
    """A file `printed.yaml`, of a source, the key of a paper; `sentences` are by study."""

    source: str
    sentences: dict[str, Said] = Field(default_factory=dict)
    numbers: tuple[PrintedNumber, ...]

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.source not in papers():
            raise ValueError(f"source must be one of {', '.join(papers())}")
        return self


def printed_table(numbers: Iterable[PrintedNumber], quotes: Quotes) -> str:
    """Writes what a source prints, our numbers, half widths and verdicts as a Markdown table.

    Raises:
        InputError: if the kept results lack a row or a claim that an entry names.
    """
    head = ["| where | what | printed | ours | verdict |", "|---|---|---|---|---|"]
    return "\n".join([*head, *(_line(number, quotes) for number in numbers)])


def _line(number: PrintedNumber, quotes: Quotes) -> str:
    values = [_value(one, quotes) for one in number.ours]
    counts = {count for _, count in values}
    shared = len(counts) == 1 and len(values) > 1 and counts != {0}
    told = [text if shared or not count else f"{text}, {_seeds(count)}" for text, count in values]
    ours = "; ".join(f"{one.of}: {text}" for one, text in zip(number.ours, told, strict=True)) or number.without
    notes = [f"{_seeds(counts.pop())} each"] if shared else []
    notes += [number.differs] if number.differs else []
    if notes:
        ours += f" ({'; '.join(notes)})"
    verdicts = "; ".join(_verdict(claim, quotes) for claim in number.claims)
    cells = (number.place, number.what, number.printed, ours, verdicts)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _seeds(count: int) -> str:
    return "one seed" if count == 1 else f"{count} seeds"


def _value(one: Ours, quotes: Quotes) -> tuple[str, int]:
    """Returns a number, the half width of its interval over seeds, and how many seeds; 0 if a claim gave it."""

    def number(value: float) -> str:
        return written(value * one.scale, one.format)

    unit = f" {one.unit}" if one.unit else ""
    if one.metric is None:
        return number(quotes.stated(one.of, one)) + unit, 0
    seeds = quotes.rows(one.of, one).sort_values("seed")[one.column]
    mean = mean_interval(seeds.tolist())
    if mean.count == 1:
        return f"{number(mean.mean)}{unit}", 1
    return f"{number(mean.mean)} ± {number(mean.high - mean.mean)}{unit}", mean.count


def _verdict(claim: str, quotes: Quotes) -> str:
    if claim not in quotes.claims.index:
        raise unknown("claim", claim, quotes.claims.index)
    return f"{claim} {quotes.claims['verdict'][claim]}"
