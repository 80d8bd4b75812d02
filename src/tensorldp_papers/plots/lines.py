"""What a panel draws: a line with its band, levels, ceilings, marks of what is printed and of guarantees' standings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from tensorldp_papers.plots.means import finite, over_seeds
from tensorldp_papers.plots.style import BAND, DASHED, GREY, LINE, OPEN, OTHERS, RED
from tensorldp_papers.plots.words import STANDINGS
from tensorldp_papers.run.audit_table import NOT_AUDITED, REFUTED


def draw_band(
    ax: Axes,
    table: pd.DataFrame,
    at: str,
    *,
    colour: str,
    text: str,
    middle: str = "mean",
    band: float = BAND,
    **style: Any,
) -> None:
    """A line of means, or medians, with a band from the lowest to the highest seed.

    Args:
        ax: where to draw.
        table: of `over_seeds`.
        at: its column of the horizontal axis.
        colour: of the line and the band.
        text: in the legend.
        middle: the column of the line.
        band: how opaque the band is.
        style: of the line, otherwise than in `LINE`.
    """
    ax.plot(table[at], table[middle], color=colour, label=text, **{**LINE, **style})
    shade(ax, table[at], table["min"], table["max"], colour, band)


def draw_mechanism(ax: Axes, rows: pd.DataFrame, *, colour: str, marker: str, text: str, **style: Any) -> None:
    """A mechanism at the finite places `at` of its rows: means and their band, a lone point named, standings marked."""
    rows = finite(rows)
    if len(rows):
        means = over_seeds(rows, "at")
        draw_band(ax, means, "at", colour=colour, text=text, marker=marker, **style)
        say_single(ax, means["at"], means["mean"], colour)
        mark_standing(ax, rows, at="at", colour=colour, marker=marker)


def shade(
    ax: Axes, x: ArrayLike, low: ArrayLike | float, high: ArrayLike | float, colour: str, alpha: float = BAND
) -> None:
    """An area without an edge: a band, or what is above a ceiling."""
    ax.fill_between(np.asarray(x), np.asarray(low), np.asarray(high), color=colour, alpha=alpha, linewidth=0)


def draw_level(ax: Axes, values: pd.Series, text: str, colour: str = GREY, **style: Any) -> None:
    """A dashed line across the panel at the mean of some values, if there are any."""
    if len(values):
        ax.axhline(values.mean(), color=colour, label=text, **{"linewidth": 1.0, "linestyle": DASHED, **style})


def draw_chance(ax: Axes, chance: float = 0.1) -> None:
    """A dotted line at the accuracy of guessing, which says so at its end."""
    ax.axhline(chance, color=GREY, linewidth=0.8, linestyle=":")
    ax.annotate(
        "chance",
        (1.0, chance),
        xycoords=("axes fraction", "data"),
        xytext=(-2, 2),
        textcoords="offset points",
        ha="right",
        fontsize=7,
        color=GREY,
        zorder=4,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.3},
    )


def draw_context(ax: Axes, rows: pd.DataFrame) -> None:
    """The means of other lines at their place `at`, grey and without a name, to compare a panel's own with."""
    for _, line in finite(rows).groupby("line"):
        means = line.groupby("at")["value"].mean()
        ax.plot(means.index, means, color=OTHERS, linewidth=1.0, label="_other", zorder=0.5)


def draw_printed(ax: Axes, x: ArrayLike, y: ArrayLike, text: str, **style: Any) -> None:
    """Open marks of what a paper prints."""
    ax.plot(np.atleast_1d(x), np.atleast_1d(y), label=text, **{**OPEN, **style})


def mark_standing(ax: Axes, rows: pd.DataFrame, *, at: str, colour: str, marker: str, size: float = 4.5) -> None:
    """Draw over a line: hollow points where no audit has tried the guarantee, crosses where it is refuted.

    Args:
        ax: where the line is.
        rows: those of the line, with columns `at`, `value` and `standing`; the mean over seeds is marked, of
            each `variant` if there is such a column.
        at: the column of the horizontal axis.
        colour: of the line.
        marker: of its points.
        size: of its points.
    """
    if "standing" not in rows:
        return
    rows = finite(rows, at)
    for standing, style in (
        (NOT_AUDITED, {"color": colour, "marker": marker, "markerfacecolor": "white", "markersize": size + 1.0}),
        (REFUTED, {"color": RED, "marker": "x", "markersize": size + 4.0, "markeredgewidth": 1.8}),
    ):
        means = rows[rows["standing"] == standing].groupby([at, *({"variant"} & set(rows))])["value"].mean()
        if len(means):
            line: Any = (0, (1, 1.5)) if standing == REFUTED else "none"
            places = means.index.get_level_values(0)
            ax.plot(places, means, linewidth=2.2, linestyle=line, zorder=3.5, label=STANDINGS[standing], **style)  # type: ignore[arg-type]


def say_single(ax: Axes, x: ArrayLike, y: ArrayLike, colour: str) -> None:
    """Words beside the point of a line that has no other."""
    if np.size(x) == 1:
        place = (float(np.asarray(x)[0]), float(np.asarray(y)[0]))
        ax.annotate("one ε", place, xytext=(5, 3), textcoords="offset points", fontsize=7, color=colour)


def say_empty(ax: Axes, text: str, colour: str | None = None) -> None:
    """Words in the middle of a panel without rows."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", color=colour)
