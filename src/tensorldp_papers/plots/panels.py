"""Grids of panels: few bands in each, ticks where something was run, legends of what is drawn, titles and notes."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator
from matplotlib.transforms import ScaledTranslation
from numpy.typing import NDArray

from tensorldp_papers.plots.style import DARK_GREY, FAINT, family, order, use_style
from tensorldp_papers.plots.words import axis_number, titled

MOST_BANDS = 6  # in one panel
COINCIDE = 0.012  # of the axis: the width of a line
NOTE_SIZE = 7.5  # points
POINTS_OF_A_CHARACTER = 5.2  # of a tick label, with room around it


def grid(height: int, width: int, size: tuple[float, float], **options: Any) -> tuple[Figure, NDArray[Any]]:
    """A figure with rows and columns of panels in the look of all figures.

    Args:
        height: rows.
        width: columns.
        size: of the figure in inches, width and height.
        options: of `matplotlib.pyplot.subplots`.
    """
    use_style()
    return plt.subplots(height, width, figsize=size, squeeze=False, layout="constrained", **options)


def by_family(names: set[str]) -> list[list[str]]:
    """Names in the legend's order, in groups of whole families with at most `MOST_BANDS` names each.

    A family with more names than that is cut.
    """
    families: dict[str, list[str]] = {}
    for name in order(names):
        families.setdefault(family(name), []).append(name)
    groups: list[list[str]] = []
    for members in families.values():
        for start in range(0, len(members), MOST_BANDS):
            part = members[start : start + MOST_BANDS]
            if groups and len(groups[-1]) + len(part) <= MOST_BANDS:
                groups[-1] += part
            else:
                groups.append(part)
    return groups


def epsilon_ticks(ax: Axes, values: Iterable[float], width: float = 270.0) -> None:
    """A logarithmic x axis with ticks at the given values alone, and numbers at those that have room for one.

    Args:
        ax: whose x axis.
        values: epsilons that something was run at; those that are not positive and finite are left out.
        width: of the panel in points.
    """
    ax.set_xscale("log")
    at = sorted({float(v) for v in values if 0 < v < math.inf})
    if not at:
        return
    span = max(math.log10(at[-1] / at[0]), 0.3)

    def rank(value: float) -> tuple[bool, bool, float]:
        lead = value / 10.0 ** math.floor(math.log10(value) + 1e-9)
        return (value not in (at[0], at[-1]), not math.isclose(lead, 1.0), value)

    kept: list[float] = []
    for value in sorted(at, key=rank):
        room = [
            abs(math.log10(value / other)) / span * 0.9 * width
            - (_length(value) + _length(other)) / 2 * POINTS_OF_A_CHARACTER
            for other in kept
        ]
        if all(r >= 0 for r in room):
            kept.append(value)
    kept.sort()
    ax.xaxis.set_major_locator(FixedLocator(kept))
    ax.xaxis.set_major_formatter(FixedFormatter([axis_number(v) for v in kept]))
    rest = [v for v in at if v not in kept]
    ax.xaxis.set_minor_locator(FixedLocator(rest) if rest else NullLocator())
    ax.xaxis.set_minor_formatter(NullFormatter())


def _length(value: float) -> int:
    text = axis_number(value)
    return len(text) - 4 if text.startswith("$") else max(len(text), 2)


def decade_ticks(ax: Axes) -> None:
    """A logarithmic x axis for values that were computed: numbers at powers of ten, or closer on a short axis."""
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    short = math.log10(high / low) < 2
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if short else (1.0,), numticks=8))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: axis_number(value)))
    ax.xaxis.set_minor_formatter(NullFormatter())


def log_values(ax: Axes) -> None:
    """A logarithmic y axis with plain numbers on both kinds of ticks."""
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 1.5, 2.0, 3.0, 5.0, 7.0)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))


def log_ticks(ax: Axes, values: Iterable[float]) -> None:
    """A logarithmic x axis with a tick at each value and no others."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(list(values)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}" if v >= 1 else f"{v:g}"))


def coincident(ax: Axes) -> list[list[str]]:
    """Labels of lines that lie on each other: nowhere more than a line's width apart, where both have points.

    Of two lines the shorter one has to have two points or more, all at places of the other. Lines across the whole
    panel are not compared.
    """
    to_panel = ax.transScale + ax.transLimits
    lines: list[tuple[str, dict[float, float]]] = []
    for line in ax.get_lines():
        text, x = str(line.get_label()), np.asarray(line.get_xdata(), dtype=float)
        if text.startswith("_") or len(x) < 2 or line.get_transform() != ax.transData or line.get_linestyle() == "None":
            continue
        y = np.asarray(line.get_ydata(), dtype=float)
        if not ((x > 0).all() and (y > 0).all()) and "log" in (ax.get_xscale(), ax.get_yscale()):
            kept = (x > 0) & ((y > 0) | (ax.get_yscale() != "log"))
            x, y = x[kept], y[kept]
        places = to_panel.transform(np.column_stack([x, y]))
        lines.append((text, {round(float(a), 6): float(b) for a, b in places}))
    groups: list[list[tuple[str, dict[float, float]]]] = []
    for entry in lines:
        for group in groups:
            if all(_same(entry[1], other) for _, other in group):
                group.append(entry)
                break
        else:
            groups.append([entry])
    return [[text for text, _ in group] for group in groups if len(group) > 1]


def _same(first: dict[float, float], second: dict[float, float]) -> bool:
    shared = first.keys() & second.keys()
    whole = min(len(first), len(second))  # lines that share only their beginnings may part later
    return len(shared) >= max(2, whole) and all(abs(first[x] - second[x]) <= COINCIDE for x in shared)


def panel_title(ax: Axes, text: str, width: int = 54) -> None:
    """A title with the panel's lines that coincide, once all lines are drawn."""
    groups = [" and ".join(group) for group in coincident(ax)]
    notes = textwrap.wrap("coincide: " + "; ".join(groups), width) if groups else []
    ax.set_title("\n".join([*textwrap.wrap(text, width), *notes]), fontsize=8.5)


def drawn(axes: Iterable[Axes], wanted: Iterable[str] = ()) -> dict[str, Any]:
    """What panels show, by label and without doubles: first the `wanted` ones in their order, then others."""
    handles: dict[str, Any] = {}
    for ax in axes:
        for handle, text in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(text, handle)
    first = [text for text in wanted if text in handles]
    return {text: handles[text] for text in (*first, *(t for t in handles if t not in first))}


def legend_below(ax: Axes, handles: dict[str, Any], columns: int = 2, gap: float = 34.0, width: float = 300.0) -> None:
    """A legend under a panel, `gap` points below it, in as many `columns` as fit into `width` points."""
    if handles:
        longest = max(len(line) for text in handles for line in text.split("\n"))
        columns = max(1, min(columns, int(width / (4.2 * longest + 34.0))))
        ax.legend(
            list(handles.values()),
            list(handles),
            loc="upper left",
            bbox_to_anchor=(-0.02, 0.0),
            bbox_transform=ax.transAxes + ScaledTranslation(0.0, -gap / 72, ax.figure.dpi_scale_trans),
            borderaxespad=0.0,
            ncols=min(columns, len(handles)),
            frameon=False,
            fontsize=8,
            columnspacing=1.2,
            handlelength=2.6,
        )


def finish_columns(axes: Any, wanted: Sequence[str], xlabel: str, columns: int = 2) -> None:
    """Under the lowest panel of each column: the axis label, tick labels and a legend of what the column shows.

    The first panel of each row has the tick labels of its own axis.
    """
    for row in np.asarray(axes):
        if beginning := [ax for ax in row if ax.get_visible()]:
            beginning[0].tick_params(labelleft=True)
    width = axes.flat[0].figure.get_figwidth() * 72 / np.asarray(axes).shape[1]
    for column in np.asarray(axes).T:
        shown = [ax for ax in column if ax.get_visible()]
        if shown:
            shown[-1].tick_params(labelbottom=True)
            words = textwrap.wrap(xlabel, 66)
            shown[-1].set_xlabel("\n".join(words), fontsize=8.5)
            legend_below(shown[-1], drawn(shown, wanted), columns, 23.0 + 11.0 * len(words), width)


def place_notes(ax: Axes, points: list[tuple[float, float, str]], size: float = 7.0) -> None:
    """A note beside each point, on the first side where it covers no point and no other note.

    The panel's size and limits must be final but for the layout; a note that fits nowhere gets a thin line to a free
    place above.
    """
    scale = 72.0 * np.array(ax.get_window_extent().size) / ax.figure.dpi  # of the panel, in points
    to_panel = ax.transScale + ax.transLimits
    at = to_panel.transform([(x, y) for x, y, _ in points]) * scale if points else np.empty((0, 2))
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in at]
    for (x, y), (data_x, data_y, note) in sorted(zip(at, points, strict=True), key=lambda pair: tuple(pair[0])):
        wide, high = 0.62 * size * len(note) + 1, 1.15 * size
        sides = [(6, -high / 2), (-6 - wide, -high / 2), (-wide / 2, 6), (-wide / 2, -6 - high)]
        far = [(dx, sign * (6 + step * high)) for step in range(1, 12) for sign in (1, -1) for dx in (6, -6 - wide)]
        for dx, dy in (*sides, *far):
            area = (x + dx, y + dy, x + dx + wide, y + dy + high)
            inside = area[0] >= 0 and area[2] <= scale[0] and area[1] >= 0 and area[3] <= scale[1]
            if inside and not any(_overlap(area, other) for other in taken):
                break
        taken.append(area)
        line = {"arrowstyle": "-", "linewidth": 0.4, "color": FAINT} if (dx, dy) not in sides else None
        ax.annotate(
            note,
            (data_x, data_y),
            xytext=(dx, dy),
            textcoords="offset points",
            fontsize=size,
            ha="left",
            va="bottom",
            arrowprops=line,
        )


def _overlap(first: tuple[float, ...], second: tuple[float, ...]) -> bool:
    return first[0] < second[2] and second[0] < first[2] and first[1] < second[3] and second[1] < first[3]


def side_legend(figure: Figure, axes: NDArray[Any], **options: Any) -> None:
    """One legend of what all panels show, outside them, with the options of `Figure.legend`."""
    handles = drawn(axes.flat)
    figure.legend(list(handles.values()), list(handles), **options)


def head(figure: Figure, title: str, datasets: Iterable[str], xlabel: str = "", ylabel: str = "") -> None:
    """Set a figure's title (see `titled`) and the labels of axes that all panels share, those that it has."""
    if xlabel:
        figure.supxlabel(xlabel, fontsize=10)
    if ylabel:
        figure.supylabel(ylabel, fontsize=10)
    if title:
        figure.suptitle(titled(title, datasets), fontsize=11)


def footnote(figure: Figure, text: str) -> None:
    """Words under a figure, in lines as wide as it; not for figures with a legend outside their panels."""
    if text:
        width = int(figure.get_figwidth() * 72 / (NOTE_SIZE * 0.52))
        lines = [line for part in text.split("\n") for line in textwrap.wrap(part, width)]
        figure.text(0.01, -0.01, "\n".join(lines), va="top", fontsize=NOTE_SIZE, color=DARK_GREY)
