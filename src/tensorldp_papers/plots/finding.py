"""A sentence on what a run found: a room may have some, and the report begins with them."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from tensorldp_papers.plots.names import in_order
from tensorldp_papers.plots.words import short_number

PRINTED_EPSILON = 1.0  # the printed epsilon that the sentences speak of, or the next that a study ran


@dataclass(frozen=True)
class Finding:
    """A sentence, and where on the page its number is shown.

    Attributes:
        before, number, after: the sentence.
        place: an id of the page.
        words: what is there.
    """

    before: str
    number: str
    after: str
    place: str
    words: str

    @property
    def text(self) -> str:
        """Returns the whole sentence."""
        return f"{self.before}{self.number}{self.after}"


def epsilon_words(epsilon: float) -> str:
    """Returns a printed epsilon in a sentence."""
    return "one" if epsilon == 1.0 else short_number(epsilon)


def first_dataset(rows: pd.DataFrame) -> str:
    """Returns the data set that a sentence is about: MNIST, or the first one."""
    names = in_order(rows["dataset"])
    return "mnist" if "mnist" in names else names[0]
