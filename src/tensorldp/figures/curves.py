"""Accuracy against epsilon: as the sources print it, and against what the whole record is guaranteed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tensorldp.errors import InputError
from tensorldp.figures.standing import WORDS, mark_standing, with_standing
from tensorldp.figures.style import appearance, label, order, use_style
from tensorldp.registration.kinds import NO_PRIVACY
from tensorldp.studies.table import SERIES, read_rows

Axis = Literal["nominal", "guaranteed", "pure"]

AXIS_LABELS = {
    "nominal": "nominal ε, as the source writes it (nats; per element for TLDP)",
    "guaranteed": "guaranteed ε of the whole {unit} at δ = 1e-5 (nats)",
    "pure": "guaranteed pure ε of the whole {unit}, atoms removed (nats)",
}
METRIC_LABELS = {
    "weighted_f1": "weighted F1 on clean test records",
    "accuracy": "accuracy on clean test records",
    "weighted_f1_perturbed_test": "weighted F1 on perturbed test records",
    "accuracy_perturbed_test": "accuracy on perturbed test records",
}
PANEL_FACTORS = ("backbone", "model", "where", "range")


def read_metrics(path: Path) -> pd.DataFrame:
    """The metrics table, with the rows of the table of series and the standings of guarantees that lie beside it.

    Raises:
        InputError: if a file is missing or is no Parquet table.
    """
    try:
        return with_standing(read_rows(path), path)
    except (OSError, ValueError) as error:
        raise InputError(f"the metrics table {path} cannot be read: {str(error).splitlines()[0]}") from None


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
        "\n".join([d, ", ".join(f"{k}: {f[k]}" for k in PANEL_FACTORS if k in f)])
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
    mark_standing(ax, rows, at="at", colour=str(look["color"]), marker=str(look["marker"]))
    ax.fill_between(summary["at"], summary["min"], summary["max"], color=str(look["color"]), alpha=0.15, linewidth=0)


def draw_study(
    metrics: pd.DataFrame, study: str, *, axis: Axis = "nominal", metric: str = "weighted_f1", title: str = ""
) -> Figure:
    """All panels of a study (data set x model) on one epsilon axis, with one legend.

    Raises:
        InputError: if the table has no such rows.
    """
    use_style()
    rows = study_rows(metrics, study, metric)
    printed = rows[rows["mechanism"].str.startswith("tldp") & np.isfinite(rows["epsilon"])]["epsilon"]
    if axis == "nominal" and len(printed):  # honest mechanisms also run at the true epsilons, far to the right
        rows = rows[(rows["epsilon"] <= printed.max()) | np.isinf(rows["epsilon"])]
    panels = list(dict.fromkeys(rows.sort_values(["dataset", "variant"])["panel"]))
    columns = min(3, len(panels))
    height = math.ceil(len(panels) / columns)
    figure, axes = plt.subplots(
        height,
        columns,
        figsize=(4.4 * columns + 2.3, 3.3 * height + 0.4),
        squeeze=False,
        sharey=True,
        layout="constrained",
    )
    for ax, panel in zip(axes.flat, panels, strict=False):
        part = rows[rows["panel"] == panel]
        for name in order(set(part["line"])):
            draw_line(ax, part[part["line"] == name], axis, name)
        if not np.isfinite(position(part, axis)).any():
            ax.set_xlim(0.1, 1000.0)  # a log axis without a point has no limits of its own
            ax.text(0.5, 0.5, "no mechanism drawn here\nhas a finite ε", transform=ax.transAxes, ha="center")
        ax.set_xscale("log")
        ax.set_ylim(-0.02, 1.02)
        ax.set_title(panel, fontsize=9)
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    unit = str(rows["guarantee_unit"].iloc[0])
    figure.supxlabel(AXIS_LABELS[axis].format(unit=unit), fontsize=10)
    figure.supylabel(METRIC_LABELS[metric], fontsize=10)
    if title:
        figure.suptitle(title, fontsize=11)
    handles = {text: handle for ax in axes.flat for handle, text in zip(*ax.get_legend_handles_labels(), strict=True)}
    wanted = [*(label(name) for name in order(set(rows["line"]))), *WORDS.values()]
    figure.legend(
        [handles[text] for text in wanted if text in handles],
        [t for t in wanted if t in handles],
        loc="outside right center",
        frameon=False,
        fontsize=8.5,
    )
    return figure


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
