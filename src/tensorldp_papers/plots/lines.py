"""What a panel draws: a mechanism's line with the range of its seeds, levels across it, marks of what papers print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from tensorldp_papers.plots.means import chance, finite
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
    """Draws a mechanism's line in its colour, as `draw_seeds` does.

    Args:
        ax: where to draw.
        rows: columns `at` and `value`, a row for each seed.
        name: of the mechanism, which has the colour and the marker; or what `look` gives the colour of references.
        at: the column of the horizontal axis.
        text: the line's name, the mechanism's own if None; one that begins with "_" is not written.
        marker: another than the mechanism's.
        widest: times an epsilon; a line is drawn across no more.
    """
    seen = look(name)
    draw_seeds(
        ax,
        rows,
        at,
        seen.label if text is None else text,
        colour=seen.colour,
        marker=marker or seen.marker,
        widest=widest,
    )


def draw_seeds(
    ax: Axes,
    rows: pd.DataFrame,
    at: str,
    text: str,
    *,
    colour: str = INK,
    marker: str = "o",
    widest: float = WIDEST_GAP,
    middle: Literal["mean", "median"] = "mean",
) -> None:
    """Draws the middle of seeds at each finite place, with a band from the lowest to the highest, by seaborn.

    Places that are more than `widest` times apart are not joined. Places of which none is joined have bars, no band.

    Raises:
        ValueError: if the vertical axis is logarithmic by now: seaborn would average logarithms.
    """
    if ax.get_yscale() != "linear":
        raise ValueError("draw seeds before the vertical axis is made logarithmic")
    rows = finite(rows[[at, "value"]], at).astype(float)
    if rows.empty:
        return
    rows = rows.assign(part=_parts(rows[at], widest))
    parts, is_joined = rows["part"].nunique(), rows.groupby("part")[at].nunique().max() > 1
    coloured: dict[str, Any] = {"hue": "part", "palette": [colour] * parts} if parts > 1 else {"color": colour}
    named, drawn = (ax.get_xlabel(), ax.get_ylabel()), len(ax.lines)
    sns.lineplot(
        rows,
        x=at,
        y="value",
        estimator=middle,
        errorbar=_ends,
        err_style="band" if is_joined else "bars",
        err_kws={"alpha": BAND, "linewidth": 0} if is_joined else {"elinewidth": 1.0},
        marker=marker,
        markeredgewidth=0,
        markersize=mpl.rcParams["lines.markersize"],
        linewidth=mpl.rcParams["lines.linewidth"],
        legend=False,
        ax=ax,
        **coloured,
    )
    ax.set(xlabel=named[0], ylabel=named[1])  # seaborn writes names of columns
    for line in ax.lines[drawn:]:
        line.set_label(text)


def _ends(values: Any) -> tuple[float, float]:
    """Returns the lowest and the highest value, and no range that lies off a mean which is rounded."""
    mean = float(values.mean())
    return min(float(values.min()), mean), max(float(values.max()), mean)


def _parts(places: pd.Series, widest: float) -> pd.Series:
    """Numbers the parts of a line between which nothing was run over more than `widest` times a place."""
    at = np.unique(places)
    wide = (at[:-1] > 0) & (at[1:] > widest * at[:-1])
    return places.map(dict(zip(at, np.concatenate([[0], wide.cumsum()]), strict=True)))


def shade(
    ax: Axes, x: ArrayLike, low: ArrayLike | float, high: ArrayLike | float, colour: str, alpha: float = BAND
) -> None:
    """Shades an area without an edge: a band, or what is above a ceiling."""
    ax.fill_between(np.asarray(x), np.asarray(low), np.asarray(high), color=colour, alpha=alpha, linewidth=0)


def draw_level(ax: Axes, values: pd.Series | Sequence[float] | float, text: str) -> None:
    """Draws a dashed line across the panel at the mean of some values, if there are any, with its name."""
    if np.size(values):
        ax.axhline(float(np.mean(values)), color=QUIET, linewidth=1.1, linestyle=DASHED, label=text, zorder=1)


def draw_chance(ax: Axes, rows: pd.DataFrame) -> None:
    """Draws the level of answering always with the largest class, if the rows know it; see `chance`."""
    draw_level(ax, chance(rows).dropna(), "chance")


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
