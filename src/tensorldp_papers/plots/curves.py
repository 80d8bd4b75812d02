"""Accuracy against epsilon: as the sources print it, and against what the whole record is guaranteed."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tensorldp.errors import InputError, described
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp_papers.plots.own_data import head
from tensorldp_papers.plots.panels import (
    by_family,
    decade_ticks,
    epsilon_ticks,
    family_words,
    finish_columns,
    footnote,
    panel_title,
    say_single,
)
from tensorldp_papers.plots.printed_points import printed_marks
from tensorldp_papers.plots.standing import WORDS, mark_standing, with_standing
from tensorldp_papers.plots.style import appearance, label, order, use_style
from tensorldp_papers.report.text import factor_words
from tensorldp_papers.run.table import SERIES, read_rows

Axis = Literal["nominal", "guaranteed", "pure"]

AXIS_LABELS = {
    "nominal": "nominal ε, as the source writes it (nats; per element for TLDP)",
    "guaranteed": "guaranteed ε of the whole {unit} at δ = 1e-5 (nats)",
    "pure": "guaranteed pure ε of the whole {unit}, atoms removed (nats)",
}
CONTEXT = "Grey: the mechanisms of the panels beside, on the same data set."
METRIC_LABELS = {
    "weighted_f1": "weighted F1 on clean test records",
    "accuracy": "accuracy on clean test records",
    "weighted_f1_perturbed_test": "weighted F1 on perturbed test records",
    "accuracy_perturbed_test": "accuracy on perturbed test records",
}
MOST_ROWS = 8  # of panels, one for each data set, model and arm, before data sets stand side by side
PANEL_FACTORS = ("backbone", "model", "where", "range")


def read_metrics(path: Path) -> pd.DataFrame:
    """The metrics table, with the rows of the table of series and the standings of guarantees that lie beside it.

    Raises:
        InputError: if a file is missing or is no Parquet table.
    """
    try:
        return with_standing(read_rows(path), path)
    except (OSError, ValueError) as error:
        raise InputError(f"the metrics table {path} cannot be read: {described(error)}") from None


def factors(variant: str) -> dict[str, str]:
    """`key=value,...` as a dictionary; `base` is empty."""
    return {} if variant == "base" else dict(pair.split("=", 1) for pair in variant.split(","))


def study_rows(metrics: pd.DataFrame, study: str, metric: str) -> pd.DataFrame:
    """The rows of one study and metric, with the panel and the line that each belongs to.

    Raises:
        InputError: if there are none.
    """
    rows = metrics[(metrics["study"] == study) & (metrics["metric"] == metric)].copy()
    if rows.empty:
        raise InputError(f"the metrics table has no rows of study {study} with metric {metric}")
    split = rows["variant"].map(factors)
    rows["panel"] = [
        ", ".join([d, *(factor_words(k, f[k]) for k in PANEL_FACTORS if k in f)])
        for d, f in zip(rows["dataset"], split, strict=True)
    ]
    rows["line"] = [
        " ".join([m, *(f"{k}={v}" for k, v in sorted(f.items()) if k not in PANEL_FACTORS)])
        for m, f in zip(rows["mechanism"], split, strict=True)
    ]
    return rows


def position(rows: pd.DataFrame, axis: Axis) -> pd.Series:
    """Where each row stands on the chosen epsilon axis; infinite where it has no finite place."""
    return rows[{"nominal": "epsilon", "guaranteed": "guarantee_epsilon", "pure": "guarantee_pure_epsilon"}[axis]]


def draw_line(ax: Axes, rows: pd.DataFrame, axis: Axis, name: str) -> None:
    """One mechanism: the mean over seeds and the band from the lowest to the highest seed."""
    rows = rows.assign(at=position(rows, axis))
    look = appearance(name)
    if name == NO_PRIVACY:
        ax.axhline(
            rows["value"].mean(),
            color=str(look["color"]),
            linewidth=1.0,
            linestyle=(0, (4, 2)),
            label=label(name),
            zorder=1,
        )
        return
    finite = rows[np.isfinite(rows["at"])]
    if finite.empty:
        return
    summary = finite.groupby("at")["value"].agg(["mean", "min", "max"]).reset_index()
    dashes = look["dashes"]
    ax.plot(
        summary["at"],
        summary["mean"],
        color=str(look["color"]),
        marker=str(look["marker"]),
        markersize=4.5,
        markeredgecolor="white",
        markeredgewidth=0.5,
        linewidth=1.4,
        label=label(name),
        linestyle=(0, dashes) if dashes else "-",
    )
    say_single(ax, summary["at"], summary["mean"], str(look["color"]))
    mark_standing(ax, rows, at="at", colour=str(look["color"]), marker=str(look["marker"]))
    ax.fill_between(summary["at"], summary["min"], summary["max"], color=str(look["color"]), alpha=0.15, linewidth=0)


def draw_context(ax: Axes, rows: pd.DataFrame, axis: Axis) -> None:
    """The means of other mechanisms as grey lines without a name, to compare a panel's own with."""
    rows = rows.assign(at=position(rows, axis))
    rows = rows[np.isfinite(rows["at"])]
    for _, line in rows.groupby("line"):
        means = line.groupby("at")["value"].mean()
        ax.plot(means.index, means, color="0.78", linewidth=1.0, label="_other", zorder=0.5)


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


def draw_study(
    metrics: pd.DataFrame, study: str, *, axis: Axis = "nominal", metric: str = "weighted_f1", title: str = ""
) -> Figure:
    """A study on one epsilon axis: a row of panels for each data set and model, families of mechanisms side by side.

    No panel has more than `MOST_BANDS` bands. Where these are all, the data sets and models stand side by side. The
    data sets do where there would be more than `MOST_ROWS` rows.

    Raises:
        InputError: if the table has no such rows.
    """
    use_style()
    rows = study_rows(metrics, study, metric)
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
    figure, axes = plt.subplots(
        height,
        columns,
        figsize=(max(4.2 * columns, 6.0), 2.9 * height + 1.2),
        squeeze=False,
        sharey=True,
        sharex=True,
        layout="constrained",
    )
    at = position(rows, axis)
    finite = at[np.isfinite(at) & (at > 0)]
    notes: list[str] = []
    shown: list[tuple[Axes, tuple[str, list[str]]]] = []
    for ax, cell in itertools.zip_longest(axes.flat, cells):
        ax.set_visible(bool(cell))
        shown += [(ax, cell)] if cell else []
    for ax, (panel, group) in shown:
        part = rows[(rows["panel"] == panel) & rows["line"].isin([*group, NO_PRIVACY])]
        if set(part["line"]) <= {NO_PRIVACY} and group:
            ax.set_visible(False)
            continue
        others = rows[(rows["panel"] == panel) & ~rows["line"].isin([*group, NO_PRIVACY])]
        if len(others):
            draw_context(ax, others, axis)
            notes.append(CONTEXT)
        for name in order(set(part["line"])):
            draw_line(ax, part[part["line"] == name], axis, name)
        if not np.isfinite(position(part, axis)).any():
            ax.text(0.5, 0.5, "no mechanism drawn here\nhas a finite ε", transform=ax.transAxes, ha="center")
        if axis == "nominal":
            notes += _draw_printed(ax, study, str(part["dataset"].iloc[0]), metric, group)
        ax.set_ylim(-0.02, 1.02)
        ax.set_xscale("log")
        if finite.empty:
            ax.set_xlim(0.1, 1000.0)  # a log axis without a point has no limits of its own
    for ax, (panel, group) in shown:
        which = f": {family_words(group)}" if len(groups) > 1 else ""
        panel_title(ax, panel + which)
        if axis == "nominal":
            epsilon_ticks(ax, set(finite))
        else:
            decade_ticks(ax)
    wanted = [*(label(name) for name in order(set(rows["line"]))), *WORDS.values()]
    finish_columns(axes, wanted, AXIS_LABELS[axis].format(unit=str(rows["guarantee_unit"].iloc[0])))
    figure.supylabel(METRIC_LABELS[metric], fontsize=10)
    head(figure, title, rows["dataset"])
    footnote(figure, "\n".join(dict.fromkeys(notes)))
    return figure


def _draw_printed(ax: Axes, study: str, dataset: str, metric: str, group: list[str]) -> list[str]:
    """What the paper prints of a data set, beside the mechanisms it is of; the sentences that say so."""
    points, levels = printed_marks(study, dataset, metric)
    own = any(name.startswith("tldp") for name in group)
    points = points if own else []
    levels = [found for found in levels if (found.who == "TLDP") == own]
    style: dict[str, Any] = {"color": "#000000", "markerfacecolor": "none", "linestyle": "none", "markersize": 9}
    if points:
        at, value = [p.epsilon for p in points], [p.value for p in points]
        ax.plot(at, value, marker="*", label="printed by the paper", zorder=5, **style)
    for found in levels:
        edge = ax.get_yaxis_transform()  # the paper gives no epsilon
        ax.plot([0.985], [found.value], marker="<", label="printed, without an ε", transform=edge, zorder=5, **style)
    said = [(p.place, p.sentence) for p in points] + [(p.place, p.sentence) for p in levels]
    return [f"Printed in {place}: “{sentence}”" for place, sentence in said]


def study_data(metrics: pd.DataFrame, study: str) -> pd.DataFrame:
    """What a study's figures show, as a table: mean, lowest and highest over seeds of every metric and cell."""
    rows = metrics[metrics["study"] == study]
    keys = [
        "dataset",
        "variant",
        "mechanism",
        "epsilon",
        "guarantee_epsilon",
        "guarantee_pure_epsilon",
        "guarantee_atom",
        "guarantee_unit",
        "guarantee_exact",
        "metric",
        *(key for key in SERIES if key in rows and rows[key].notna().any()),
    ]
    return rows.groupby(keys, dropna=False)["value"].agg(["mean", "min", "max", "count"]).reset_index()
