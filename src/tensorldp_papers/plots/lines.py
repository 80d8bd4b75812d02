"""What a panel draws: a mechanism's line with the range of its seeds, levels across it, marks of what papers print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from tensorldp_papers.plots.means import finite, over_seeds
from tensorldp_papers.plots.printed import printed_points
from tensorldp_papers.plots.style import BAND, INK, QUIET, look

DASHED = (0, (4, 2.5))  # references alone are dashed
PRINTED_STAR: dict[str, Any] = {"marker": "*", "markersize": 11, "markerfacecolor": "none", "markeredgecolor": INK}
PRINTED_STAR |= {"markeredgewidth": 1.2, "linestyle": "none", "color": INK, "zorder": 5}
WIDEST_GAP = 30.0  # times an epsilon: across more no line is drawn
MOST_LINES = 5  # in colour, in one panel


def draw_mechanism(
    ax: Axes,
    rows: pd.DataFrame,
    name: str,
    *,
    at: str = "at",
    text: str | None = None,
    marker: str | None = None,
    widest: float = WIDEST_GAP,
) -> None:
    """Draws a mechanism at the finite places of its rows: means, and a band from the lowest to the highest seed.

    One seed is drawn as marks alone.

    Args:
        ax: where to draw.
        rows: columns `at`, `seed` and `value`.
        name: of the mechanism, which has the colour and the marker; or what `look` gives the colour of references.
        at: the column of the horizontal axis.
        text: the line's name, the mechanism's own if None; one that begins with "_" is not written.
        marker: another than the mechanism's.
        widest: times an epsilon; a line is drawn across no more.
    """
    rows = finite(rows, at)
    if rows.empty:
        return
    means = with_gaps(over_seeds(rows, at), at, widest)
    seen = look(name)
    alone = rows["seed"].nunique() == 1
    ax.plot(
        means[at],
        means["mean"],
        color=seen.colour,
        marker=marker or seen.marker,
        label=seen.label if text is None else text,
        linestyle="None" if alone else "-",
    )
    if not alone:
        shade(ax, means[at], means["min"], means["max"], seen.colour)


def with_gaps(means: pd.DataFrame, at: str, widest: float = WIDEST_GAP) -> pd.DataFrame:
    """Returns means with an empty row wherever nothing was run over more than `widest` times a place."""
    places = means[at].to_numpy(dtype=float)
    wide = np.flatnonzero((places[:-1] > 0) & (places[1:] > widest * places[:-1]))
    empty = pd.DataFrame({at: np.sqrt(places[wide] * places[wide + 1])}, index=wide + 0.5)
    return pd.concat([means, empty]).sort_index() if len(wide) else means


def shade(
    ax: Axes, x: ArrayLike, low: ArrayLike | float, high: ArrayLike | float, colour: str, alpha: float = BAND
) -> None:
    """Shades an area without an edge: a band, or what is above a ceiling."""
    ax.fill_between(np.asarray(x), np.asarray(low), np.asarray(high), color=colour, alpha=alpha, linewidth=0)


def draw_level(ax: Axes, values: pd.Series | Sequence[float] | float, text: str) -> None:
    """Draws a dashed line across the panel at the mean of some values, if there are any, with its name."""
    if np.size(values):
        ax.axhline(float(np.mean(values)), color=QUIET, linewidth=1.1, linestyle=DASHED, label=text, zorder=1)


def draw_bound(ax: Axes, x: ArrayLike, y: ArrayLike, text: str) -> None:
    """Draws a dashed curve of what is computed and not measured: a ceiling, a bound, a law."""
    ax.plot(np.asarray(x), np.asarray(y), color=QUIET, linewidth=1.1, linestyle=DASHED, label=text, zorder=1)


def draw_printed(ax: Axes, x: ArrayLike, y: ArrayLike, text: str = "printed", **style: Any) -> None:
    """Draws open stars at what a paper prints."""
    ax.plot(np.atleast_1d(x), np.atleast_1d(y), label=text, **{**PRINTED_STAR, **style})


def draw_proposed(ax: Axes, study: str, dataset: str, metric: str, text: str) -> None:
    """Draws open stars at the test scores that a paper prints of what it proposes, if it prints any."""
    points = [point for point in printed_points(study, dataset, metric) if point.proposed]
    if points:
        draw_printed(ax, [p.epsilon for p in points], [p.value for p in points], text)


def say_empty(ax: Axes, text: str) -> None:
    """Writes words in the middle of a panel without rows."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", color=QUIET)
