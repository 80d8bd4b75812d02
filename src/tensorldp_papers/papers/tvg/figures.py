"""TVG's figures: one line for each mechanism and unit, in panels of data set, metric, unit and family."""

from __future__ import annotations

import math
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tensorldp.errors import InputError
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp_papers.plots.curves import factors
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
from tensorldp_papers.plots.printed_points import TVG_SENTENCES
from tensorldp_papers.plots.standing import mark_standing
from tensorldp_papers.plots.style import label, order, own_appearance, use_style

Axis = Literal["nominal", "guaranteed"]
AXIS_LABELS = {
    "nominal": "nominal ε, as the source writes it (nats)",
    "guaranteed": "guaranteed ε of the whole {unit} at δ = 1e-5 (nats)",
}
METRICS = {
    "rss_noisy": "RSS, eigenvalues of the estimate",
    "rss_true": "RSS, eigenvalues of the true covariance",
    "accuracy": "accuracy on clean test records",
    "auc": "AUC on clean test records",
    "accuracy_perturbed_test": "accuracy on private test features",
}
NAMES = {
    ("tvg_sgd", "gaussian"): "Gaussian, moments accountant",
    ("tvg_sgd", "gaussian-analytic"): "DP-SGD, l2 clipping",
}
UNIT = {"batch": "noise for a batch", "record": "noise for a record"}
SUBSPACE = {"": "", "identity": ", W = E"}
PANELS = ("model", "backbone")
SIZES = {"gaussian-per-element": 8.0, "udn": 6.0}  # larger where lines of equal noise lie on each other
SMALLEST = 1e-5  # no point is drawn at a guarantee below this


def _lines(rows: pd.DataFrame, study: str, shown: list[str]) -> pd.DataFrame:
    clean = rows[(rows["mechanism"] == NO_PRIVACY) & (rows["metric"] == "accuracy")]
    rows = pd.concat([rows, clean.assign(metric="accuracy_perturbed_test")])  # what there would be without noise
    chosen = rows[(rows["study"] == study) & rows["metric"].isin(shown)].copy()
    if chosen.empty:
        raise InputError(f"the metrics table has no rows of study {study} with metric {' or '.join(shown)}")
    split = [factors(variant) for variant in chosen["variant"]]
    chosen["unit"] = [f.get("unit", "") for f in split]
    chosen["subspace"] = [f.get("subspace", "") for f in split]
    chosen["where"] = [
        ", ".join([d, *(f[k].replace("_", " ") for k in PANELS if k in f)])
        for d, f in zip(chosen["dataset"], split, strict=True)
    ]
    return chosen


def _placed(rows: pd.DataFrame, axis: Axis) -> pd.DataFrame:
    """The rows that have a place on the axis, with it in the column `at`."""
    placed = rows.assign(at=rows["epsilon"] if axis == "nominal" else rows["guarantee_epsilon"])
    found: pd.DataFrame = placed[np.isfinite(placed["at"]) & (placed["at"] >= SMALLEST)]
    return found


def _draw(ax: Axes, part: pd.DataFrame, axis: Axis, log: bool) -> None:
    for name, unit, subspace in _order(part):
        rows = part[(part["mechanism"] == name) & (part["unit"] == unit) & (part["subspace"] == subspace)]
        look = own_appearance(name)
        colour = look["color"]
        text = _label(str(rows["study"].iloc[0]), name, subspace)
        if name == NO_PRIVACY:
            if not log:
                ax.axhline(rows["value"].mean(), color=colour, linewidth=1.0, linestyle=(0, (4, 2)), label=text)
            continue
        placed = _placed(rows, axis)
        summary = placed.groupby("at")["value"].agg(["mean", "min", "max"])
        if summary.empty:
            continue
        record = unit == "record"
        ax.plot(
            summary.index,
            summary["mean"],
            color=colour,
            marker=look["marker"],
            markersize=SIZES.get(name, 4.5),
            linewidth=1.3,
            linestyle=(0, (1, 1)) if subspace else (0, (3, 1.5)) if record else "-",
            label=text,
            markeredgecolor=colour,
            markeredgewidth=0.8,
        )
        say_single(ax, summary.index, summary["mean"], colour)
        ax.fill_between(
            summary.index.to_numpy(),
            summary["min"].to_numpy(),
            summary["max"].to_numpy(),
            color=colour,
            alpha=0.15,
            linewidth=0,
        )
        mark_standing(ax, placed, at="at", colour=colour, marker=look["marker"])


def _order(rows: pd.DataFrame) -> list[tuple[str, str, str]]:
    """The mechanisms, units and subspaces of some rows, in the legend's order."""
    found = {(str(m), str(u), str(s)) for m, u, s in rows[["mechanism", "unit", "subspace"]].to_numpy()}
    return [line for name in order({m for m, _, _ in found}) for line in sorted(found) if line[0] == name]


def _label(study: str, name: str, subspace: str = "") -> str:
    return NAMES.get((study, name), label(name)) + SUBSPACE.get(subspace, subspace)


def _draw_ceiling(ax: Axes, limits: pd.DataFrame, axis: Axis, unit: str) -> None:
    """What no classifier can exceed: of each mechanism at its nominal epsilon, or at a guaranteed one."""
    bound = limits[limits["mechanism"] != NO_PRIVACY]
    of = f" ({unit})" if unit else ""
    if axis == "nominal":
        for name, found in bound.groupby("mechanism"):
            curve = _placed(found, axis).groupby("at")["value"].mean()
            first = name == bound["mechanism"].min()
            ax.plot(
                curve.index,
                curve,
                color=own_appearance(str(name))["color"],
                linewidth=1.0,
                linestyle=":",
                label=f"ceiling of each{of}" if first else None,
            )
    elif len(bound):
        curve = _placed(bound, axis).groupby("at")["value"].max()
        ax.plot(curve.index, curve, color="#555555", linewidth=1.2, linestyle=":", label=f"ceiling{of}")


def draw_tvg(
    metrics: pd.DataFrame,
    study: str,
    shown: list[str],
    *,
    axis: Axis = "nominal",
    log: bool = False,
    ceiling: bool = False,
    title: str = "",
) -> Figure:
    """A row of panels for each data set, model and metric, side by side the units and families of mechanisms.

    Bands reach over the seeds; no panel has more than `MOST_BANDS` of them.

    Args:
        metrics: the metrics table.
        study: the rows of this study are drawn.
        shown: metrics, one row of panels each.
        axis: which epsilon the horizontal axis shows.
        log: a logarithmic value axis, on which "none" is not drawn.
        ceiling: draw the rows of the metric `accuracy_ceiling` as dotted lines: what no classifier can exceed.
        title: of the figure.

    Raises:
        InputError: if the table has no such rows.
    """
    use_style()
    rows = _lines(metrics, study, shown)
    limits = _lines(metrics, study, ["accuracy_ceiling"]) if ceiling else rows.iloc[:0]
    panels = [
        (place, metric)
        for metric in shown
        for place in sorted(set(rows["where"]))
        if ((rows["where"] == place) & (rows["metric"] == metric)).any()
    ]
    private = rows[rows["mechanism"] != NO_PRIVACY]
    groups = [
        (unit, group)
        for unit in sorted(set(private["unit"])) or [""]
        for group in by_family(set(private[private["unit"] == unit]["mechanism"])) or [[]]
    ]
    cells = [(place, metric, unit, group) for place, metric in panels for unit, group in groups]
    columns = len(groups) if len(groups) > 1 else min(3, len(panels))
    height = math.ceil(len(cells) / columns)
    figure, axes = plt.subplots(
        height,
        columns,
        figsize=(max(4.2 * columns, 6.0), 3.0 * height + 1.3),
        squeeze=False,
        sharex=len(groups) > 1,
        sharey="row" if len(groups) > 1 else False,
        layout="constrained",
    )
    for ax, (place, metric, unit, group) in zip(axes.flat, cells, strict=False):
        here = rows[(rows["where"] == place) & (rows["metric"] == metric)]
        own = here["mechanism"].isin(group) & (here["unit"] == unit)
        if group and not own.any():
            ax.set_visible(False)
            continue
        _draw(ax, here[own | (here["mechanism"] == NO_PRIVACY)], axis, log)
        bound = limits[(limits["where"] == place) & limits["mechanism"].isin(group) & (limits["unit"] == unit)]
        _draw_ceiling(ax, bound, axis, unit)
        ax.set_xscale("log")
        if log:
            ax.set_yscale("log")
        else:
            ax.set_ylim(-0.02, 1.02)
        ax.set_ylabel(METRICS.get(metric, metric), fontsize=9)
        ax.label_outer() if len(groups) > 1 else None
    for ax, (place, metric, unit, group) in zip(axes.flat, cells, strict=False):
        which = [UNIT[unit]] if unit else []
        if len([found for found, _ in groups if found == unit]) > 1:
            which.append(family_words(group))
        panel_title(ax, ": ".join([place, ", ".join(which)]) if which else place)
        here = rows[(rows["metric"] == metric) & (rows["where"] == place)]
        at = _placed(rows if len(groups) > 1 else here, axis)["at"]
        if axis == "nominal":
            epsilon_ticks(ax, set(at))
        elif len(at):
            decade_ticks(ax)
    for ax in axes.flat[len(cells) :]:
        ax.set_visible(False)
    of_whom = " or ".join(sorted(set(rows["guarantee_unit"])))
    finish_columns(
        axes,
        [_label(study, name, subspace) for name, _, subspace in _order(rows)],
        AXIS_LABELS[axis].format(unit=of_whom),
    )
    head(figure, title, rows["dataset"])
    notes = ["Dotted ceilings: no classifier has a higher expected accuracy at that guarantee."] if len(limits) else []
    if axis == "nominal" and study in TVG_SENTENCES:
        said = "TVG prints no score of this figure as a number. In {} it says: “{}”"
        notes.append(said.format(*TVG_SENTENCES[study]))
    footnote(figure, "\n".join(notes))
    return figure
