"""Axes of figures: decades of epsilon with plain numbers, shares from 0 to 1, sizes with a tick at each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, NullLocator

from tensorldp_papers.plots.sheets import SMALLEST, text_width
from tensorldp_papers.plots.words import axis_number

SMALLEST_EPSILON = 0.1  # where axes of epsilon begin at the earliest
SMALL_EPSILON = 10.0  # an epsilon that still means something


def epsilons(axes: Axes | Sequence[Axes], values: Iterable[float], title: str) -> None:
    """Draws a horizontal axis of epsilons: `decades`, which has the same arguments, from 0.1 at the earliest."""
    shown = [float(v) for v in values if SMALLEST_EPSILON <= v < math.inf]
    decades(axes, shown, title)


def decades(axes: Axes | Sequence[Axes], values: Iterable[float], title: str, *, vertical: bool = False) -> None:
    """Draws a logarithmic axis over some values, with numbers at powers of ten, the same in all panels.

    On an axis of fewer than two decades 2 and 5 have numbers too; where there is no room, every second power or fewer.

    Args:
        axes: panels that are to be compared.
        values: all that they show on this axis; those that are not positive and finite are left out.
        title: of the axis, with its unit.
        vertical: whether it is the vertical axis.
    """
    shown = [float(v) for v in values if 0 < v < math.inf] or [0.1, 1000.0]
    low, high = min(shown) / 1.35, max(shown) * 1.35
    if high / low < 12:
        low, high = low / 1.5, high * 1.5
    span = math.log10(high / low)
    steps = (1.0, 2.0, 5.0) if span < 2 else (1.0,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [s * 10.0**p for p in powers for s in steps if low <= s * 10.0**p <= high]
    for ax in [axes] if isinstance(axes, Axes) else axes:
        axis, setting = (ax.yaxis, ax.set_ylim) if vertical else (ax.xaxis, ax.set_xlim)
        (ax.set_yscale if vertical else ax.set_xscale)("log")
        setting(low, high)
        room = 0.8 * 72 * (ax.get_position().height if vertical else ax.get_position().width)
        room *= ax.figure.get_size_inches()[int(vertical)]  # type: ignore[union-attr]
        every = 1
        while every < len(ticks) and _length(ticks[::every], vertical) > room:
            every += 1
        numbered = ticks[_first(ticks, every) :: every]
        axis.set_major_locator(FixedLocator(numbered))
        axis.set_major_formatter(FixedFormatter([axis_number(v) for v in numbered]))
        axis.set_minor_locator(NullLocator())
        (ax.set_ylabel if vertical else ax.set_xlabel)(title)


def _first(ticks: Sequence[float], every: int) -> int:
    """Returns where to begin so that 1 has a number, if it is among the ticks."""
    return next((i % every for i, v in enumerate(ticks) if math.isclose(v, 1.0)), 0)


def _length(ticks: Sequence[float], vertical: bool) -> float:
    """Computes what numbers take up, in points."""
    return sum(2 * SMALLEST if vertical else text_width(axis_number(v), SMALLEST) + 10 for v in ticks)


def shares(axes: Axes | Sequence[Axes], title: str) -> None:
    """Draws a vertical axis from 0 to 1."""
    for ax in [axes] if isinstance(axes, Axes) else axes:
        ax.set_ylim(-0.02, 1.04)
        ax.yaxis.set_major_locator(FixedLocator([0, 0.2, 0.4, 0.6, 0.8, 1.0]))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.1f}"))
        ax.set_ylabel(title)


def sizes(ax: Axes, values: Iterable[float], title: str) -> None:
    """Draws a logarithmic horizontal axis with a tick at each value and no others."""
    at = sorted(set(values))
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(at))
    ax.xaxis.set_major_formatter(FixedFormatter([axis_number(v) for v in at]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel(title)
