"""Accuracy against epsilon: as the sources print it, and against what the whole record is guaranteed."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp_papers.plots.lines import draw_context, draw_level, draw_mechanism, draw_printed, say_empty
from tensorldp_papers.plots.means import Axis, finite, placed, study_rows
from tensorldp_papers.plots.panels import (
    by_family,
    decade_ticks,
    epsilon_ticks,
    finish_columns,
    footnote,
    grid,
    head,
    panel_title,
)
from tensorldp_papers.plots.printed import printed_points
from tensorldp_papers.plots.style import appearance, label, order
from tensorldp_papers.plots.words import METRICS, STANDINGS, epsilon_label, factor_words, family_words
from tensorldp_papers.run.cell import variant_factors

CONTEXT = "Grey: the mechanisms of the panels beside, on the same data set."
MOST_ROWS = 8  # of panels, one for each data set, model and arm, before data sets stand side by side
PANEL_FACTORS = ("backbone", "model", "where", "range")


def draw_study(
    metrics: pd.DataFrame, study: str, *, axis: Axis = "nominal", metric: str = "weighted_f1", title: str = ""
) -> Figure:
    """A study on one epsilon axis: a row of panels for each data set and model, families of mechanisms side by side.

    No panel has more than `MOST_BANDS` bands. Where these are all, the data sets and models stand side by side. The
    data sets do where there would be more than `MOST_ROWS` rows.

    Raises:
        InputError: if the table has no such rows.
    """
    rows = placed(_lines_and_panels(study_rows(metrics, study, metric)), axis)
    printed = rows[rows["mechanism"].str.startswith("tldp") & np.isfinite(rows["epsilon"])]
    if axis == "nominal" and len(printed):  # honest mechanisms also run at the true epsilons, far to the right
        largest = rows["dataset"].map(printed.groupby("dataset")["epsilon"].max()).fillna(printed["epsilon"].max())
        rows = rows[(rows["epsilon"] <= largest) | np.isinf(rows["epsilon"])]
    rows = rows.assign(other_range=rows["variant"].str.contains("range="))  # after the study's own
    panels = list(dict.fromkeys(rows.sort_values(["dataset", "other_range", "variant"])["panel"]))
    private = set(rows[rows["line"] != NO_PRIVACY]["panel"])  # a network without any mechanism would be an empty row
    panels = [panel for panel in panels if panel in private] or panels
    groups = by_family(set(rows["line"]) - {NO_PRIVACY}) or [[]]
    cells, columns = _cells(panels, groups, rows.groupby("panel")["dataset"].first())
    height = math.ceil(len(cells) / columns)
    size = (max(4.2 * columns, 6.0), 2.9 * height + 1.2)
    figure, axes = grid(height, columns, size, sharey=True, sharex=True)
    run_at = rows["at"][np.isfinite(rows["at"]) & (rows["at"] > 0)]
    notes: list[str] = []
    shown: list[tuple[Axes, tuple[str, list[str]]]] = []
    for ax, cell in itertools.zip_longest(axes.flat, cells):
        ax.set_visible(bool(cell))
        shown += [(ax, cell)] if cell else []
    for ax, (panel, group) in shown:
        here = rows[rows["panel"] == panel]
        drawn_here = here["line"].isin([*group, NO_PRIVACY])
        part, others = here[drawn_here], here[~drawn_here]
        if set(part["line"]) <= {NO_PRIVACY} and group:
            ax.set_visible(False)
            continue
        if len(others):
            draw_context(ax, others)
            notes.append(CONTEXT)
        for name in order(set(part["line"])):
            _draw_line(ax, part[part["line"] == name], name)
        if finite(part).empty:
            say_empty(ax, "no mechanism drawn here\nhas a finite ε")
        if axis == "nominal":
            notes += _draw_printed(ax, study, str(part["dataset"].iloc[0]), metric, group)
        ax.set_ylim(-0.02, 1.02)
        ax.set_xscale("log")
        if run_at.empty:
            ax.set_xlim(0.1, 1000.0)  # a log axis without a point has no limits of its own
    for ax, (panel, group) in shown:
        which = f": {family_words(group)}" if len(groups) > 1 else ""
        panel_title(ax, panel + which)
        if axis == "nominal":
            epsilon_ticks(ax, set(run_at))
        else:
            decade_ticks(ax)
    unit = str(rows["guarantee_unit"].iloc[0])
    finish_columns(
        axes,
        [*(label(name) for name in order(set(rows["line"]))), *STANDINGS.values()],
        epsilon_label(axis, unit, note="; per element for TLDP", without=", atoms removed"),
    )
    head(figure, title, rows["dataset"], ylabel=METRICS[metric][0])
    footnote(figure, "\n".join(dict.fromkeys(notes)))
    return figure


def _lines_and_panels(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the panel and the line that each belongs to."""
    split = rows["variant"].map(variant_factors)
    rows["panel"] = [
        ", ".join([d, *(factor_words(k, f[k]) for k in PANEL_FACTORS if k in f)])
        for d, f in zip(rows["dataset"], split, strict=True)
    ]
    rows["line"] = [
        " ".join([m, *(f"{k}={v}" for k, v in sorted(f.items()) if k not in PANEL_FACTORS)])
        for m, f in zip(rows["mechanism"], split, strict=True)
    ]
    return rows


def _cells(
    panels: list[str], groups: list[list[str]], datasets: pd.Series
) -> tuple[list[tuple[str, list[str]] | None], int]:
    """What stands in each place of a grid, row by row, and its columns; None where nothing does."""
    if len(groups) == 1:
        return [(panel, groups[0]) for panel in panels], min(3, len(panels))
    blocks = [panels]
    if len(panels) > MOST_ROWS:
        blocks = [[p for p in panels if datasets[p] == name] for name in dict.fromkeys(datasets[panels])]
    places = [
        (block[row], group) if row < len(block) else None
        for row in range(max(map(len, blocks)))
        for block in blocks
        for group in groups
    ]
    return places, len(blocks) * len(groups)


def _draw_line(ax: Axes, rows: pd.DataFrame, name: str) -> None:
    look = appearance(name)
    if name == NO_PRIVACY:
        draw_level(ax, rows["value"], label(name), look["color"], zorder=1)
    else:
        line = (0, look["dashes"]) if look["dashes"] else "-"
        draw_mechanism(ax, rows, colour=look["color"], marker=look["marker"], text=label(name), linestyle=line)


def _draw_printed(ax: Axes, study: str, dataset: str, metric: str, group: list[str]) -> list[str]:
    """What the paper prints of a data set, beside the mechanisms it is of; the sentences that say so."""
    tldp = any(name.startswith("tldp") for name in group)
    printed = [p for p in printed_points(study, dataset, metric) if (p.method == p.paper) == tldp]
    points = [p for p in printed if p.proposed]
    if points:
        draw_printed(ax, [p.epsilon for p in points], [p.value for p in points], "printed by the paper", marker="*")
    edge = ax.get_yaxis_transform()
    levels = [p for p in printed if math.isnan(p.epsilon)]
    for level in levels:
        draw_printed(ax, 0.985, level.value, "printed, without an ε", marker="<", transform=edge)
    return [f"Printed in {p.place}: “{p.sentence}”" for p in (*points, *levels)]
