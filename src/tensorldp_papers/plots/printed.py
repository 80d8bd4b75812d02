"""What the papers print of their scores in words or tables: open marks in figures, with the sentences themselves.

Each room, `papers/<room>/printed.yaml`, has what its paper prints; `quoting/printed.py` makes a table of the same file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tensorldp_papers.room_folders import room_files
from tensorldp_papers.rooms import paper, rooms
from tensorldp_papers.strict import read_yaml


@dataclass(frozen=True)
class PrintedPoint:
    """One score of a paper.

    Attributes:
        paper: its short name.
        study, dataset, metric: what computes the score here.
        value: accuracy, or F1 where the paper prints that.
        place: where in the paper.
        sentence: what it says there; empty where no figure quotes it.
        method: whose score it is, by the paper's word or a registry key; the paper's own where it does not say.
        epsilon: as the paper prints it; NaN of a score without one, where curves end or stay.
        round: after which it stands, and `panel` the figure's panel with it; 0 and empty where there are none.
    """

    paper: str
    study: str
    dataset: str
    metric: str
    value: float
    place: str
    sentence: str
    method: str
    epsilon: float = math.nan
    round: int = 0
    panel: str = ""

    @property
    def proposed(self) -> bool:
        """Returns whether it is a test score that the paper prints of what it proposes, at an epsilon."""
        tested = self.metric in ("accuracy", "weighted_f1")
        return self.method == self.paper and tested and not math.isnan(self.epsilon)


def _tables() -> Iterator[dict[str, Any]]:
    found = room_files("printed.yaml")
    yield from (_read(found[room.module]) for room in rooms() if room.module in found)


@cache
def _read(file: Path) -> dict[str, Any]:
    table: dict[str, Any] = read_yaml(file, "the printed numbers")
    return table


def _all_points() -> Iterator[PrintedPoint]:
    for table in _tables():
        short = paper(table["source"]).short
        for number in table["numbers"]:
            shared = {"place": number["place"], "sentence": number.get("sentence", ""), "method": short}
            for point in number.get("points", ()):
                epsilon = float(point.get("epsilon", math.nan))
                yield PrintedPoint(short, **{**shared, **point, "epsilon": epsilon})


@cache
def printed_points(study: str = "", dataset: str = "", metric: str = "") -> tuple[PrintedPoint, ...]:
    """Returns the scores that papers print, of all studies, data sets and metrics or of those that are named."""
    wanted = (study, dataset, metric)
    return tuple(
        point
        for point in _all_points()
        if all(want in ("", has) for want, has in zip(wanted, (point.study, point.dataset, point.metric), strict=True))
    )


def printed_sentences() -> dict[str, tuple[str, str]]:
    """Returns by study the place and the sentence of a paper that states no score of a figure as a number."""
    return {
        study: (quoted["place"], quoted["sentence"])
        for table in _tables()
        for study, quoted in table.get("sentences", {}).items()
    }
