"""TVG's figures: one line for each mechanism and unit, in panels of data set and metric."""

from __future__ import annotations

import math
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tensorldp.errors import InputError
from tensorldp.figures.curves import factors
from tensorldp.figures.standing import mark_standing
from tensorldp.figures.style import label, order, own_appearance, use_style
from tensorldp.registration.kinds import NO_PRIVACY

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
    chosen["where"] = [
        "\n".join(filter(None, [d, ", ".join(f[k] for k in PANELS if k in f)]))
        for d, f in zip(chosen["dataset"], split, strict=True)
    ]
    return chosen


def _placed(rows: pd.DataFrame, axis: Axis) -> pd.DataFrame:
    """The rows that have a place on the axis, with it in the column `at`."""
    placed = rows.assign(at=rows["epsilon"] if axis == "nominal" else rows["guarantee_epsilon"])
    found: pd.DataFrame = placed[np.isfinite(placed["at"]) & (placed["at"] >= SMALLEST)]
    return found


def _draw(ax: Axes, part: pd.DataFrame, axis: Axis, log: bool) -> None:
    for name in order(set(part["mechanism"])):
        for unit in sorted(set(part[part["mechanism"] == name]["unit"])):
            rows = part[(part["mechanism"] == name) & (part["unit"] == unit)]
            look = own_appearance(name)
            colour = look["color"]
            text = NAMES.get((str(rows["study"].iloc[0]), name), label(name)) + (f", {UNIT[unit]}" if unit else "")
            if name == NO_PRIVACY:
                if not log:
                    ax.axhline(rows["value"].mean(), color=colour, linewidth=1.0, linestyle=(0, (4, 2)), label=text)
                continue
            placed = _placed(rows, axis)
            summary = placed.groupby("at")["value"].agg(["mean", "min", "max"])
            record = unit == "record"
            ax.plot(
                summary.index,
                summary["mean"],
                color=colour,
                marker=look["marker"],
                markersize=SIZES.get(name, 4.5),
                linewidth=1.3,
                linestyle=(0, (3, 1.5)) if record else "-",
                label=text,
                markerfacecolor="white" if record else colour,
                markeredgecolor=colour,
                markeredgewidth=0.8,
            )
            ax.fill_between(
                summary.index.to_numpy(),
                summary["min"].to_numpy(),
                summary["max"].to_numpy(),
                color=colour,
                alpha=0.15,
                linewidth=0,
            )
            mark_standing(ax, placed, at="at", colour=colour, marker=look["marker"])


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
    """A panel for each data set, model and metric, with one legend; bands reach over the seeds.

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
    places = sorted(set(rows["where"]))
    panels = [
        (place, metric)
        for metric in shown
        for place in places
        if ((rows["where"] == place) & (rows["metric"] == metric)).any()
    ]
    columns = min(3, len(panels))
    height = math.ceil(len(panels) / columns)
    figure, axes = plt.subplots(
        height, columns, figsize=(4.3 * columns + 2.4, 3.4 * height + 0.4), squeeze=False, layout="constrained"
    )
    for ax, (place, metric) in zip(axes.flat, panels, strict=False):
        part = rows[(rows["where"] == place) & (rows["metric"] == metric)]
        _draw(ax, part, axis, log)
        bound = limits[(limits["where"] == place) & (limits["mechanism"] != NO_PRIVACY)]
        for (name, _), found in bound.groupby(["mechanism", "unit"]):
            curve = _placed(found, axis).groupby("at")["value"].mean()
            if axis == "nominal":
                ax.plot(curve.index, curve, color=own_appearance(str(name))["color"], linewidth=1.0, linestyle=":")
        if axis == "guaranteed" and len(bound):
            curve = _placed(bound, axis).groupby("at")["value"].max()
            ax.plot(curve.index, curve, color="#555555", linewidth=1.2, linestyle=":")
        ax.set_xscale("log")
        if log:
            ax.set_yscale("log")
        else:
            ax.set_ylim(-0.02, 1.02)
        ax.set_title(place, fontsize=9)
        ax.set_ylabel(METRICS.get(metric, metric), fontsize=9)
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    unit = " or ".join(sorted(set(rows["guarantee_unit"])))
    figure.supxlabel(AXIS_LABELS[axis].format(unit=unit), fontsize=10)
    if title:
        figure.suptitle(title, fontsize=11)
    handles = {text: handle for ax in axes.flat for handle, text in zip(*ax.get_legend_handles_labels(), strict=True)}
    if ceiling and len(limits):
        handles["no classifier can exceed this"] = Line2D([], [], color="#555555", linestyle=":")
    figure.legend(list(handles.values()), list(handles), loc="outside right center", frameon=False, fontsize=8.5)
    return figure
