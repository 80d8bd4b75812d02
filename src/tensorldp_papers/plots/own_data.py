"""A user's own data in figures and on pages: nobody is to take them for what a paper shows."""

from __future__ import annotations

from collections.abc import Iterable

from matplotlib.figure import Figure

from tensorldp_papers.citations import PAPERS
from tensorldp_papers.data.catalogue import ENTRIES
from tensorldp_papers.run.method_plan import SYNTHETIC

KNOWN = {SYNTHETIC, *(entry.name for entry in ENTRIES)}


def own_data(datasets: Iterable[str], source: str) -> list[str]:
    """Those of the data sets that do not come with this package, sorted; none where the study is no known paper's.

    Args:
        datasets: those that a study has.
        source: the key of its paper.
    """
    return sorted(set(map(str, datasets)) - KNOWN) if source in PAPERS else []


def titled(title: str, datasets: Iterable[str]) -> str:
    """A title, which says so if it names a paper and what is drawn is, wholly or in part, a user's own."""
    drawn = set(map(str, datasets))
    own = own_data(drawn, next((key for key, paper in PAPERS.items() if title.startswith(paper.short)), ""))
    if own and drawn == set(own):
        return f"Your data, as in {title}"
    return f"{title}\n{', '.join(own)}: your own data, by the same method" if own else title


def origin(figure: str, stated: str, datasets: Iterable[str], source: str) -> str:
    """A sentence on what of its source a study draws, and whether of a user's own data.

    Args:
        figure: of the source; empty where no source has it.
        stated: where the study's numbers come from, in words.
        datasets: those that are drawn.
        source: the key of the study's paper.
    """
    drawn = set(map(str, datasets))
    own = own_data(drawn, source)
    if not figure:
        return f"In no source's figures ({stated})."
    if own and drawn == set(own):
        return f"Your data, {', '.join(own)}, by the method of {figure} of the source ({stated}), which lacks them."
    return f"{figure} of the source ({stated})" + (f", and by its method your data, {', '.join(own)}." if own else ".")


def head(figure: Figure, title: str, datasets: Iterable[str]) -> None:
    """Set a figure's title, if it has one; see `titled`."""
    if title:
        figure.suptitle(titled(title, datasets), fontsize=11)
