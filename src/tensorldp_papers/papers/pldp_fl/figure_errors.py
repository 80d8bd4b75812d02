"""PLDP-FL's Figure 2: the error of a mean under personal budgets."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tensorldp_papers.papers.pldp_fl.figures import COLOURS, MARKERS, MODE_WORDS, apart, pldp_rows, summary
from tensorldp_papers.plots.own_data import head
from tensorldp_papers.plots.style import label, use_style


def _errors(ax: Axes, rows: pd.DataFrame, at: str, colour: str, marker: str, text: str) -> None:
    measured = summary(rows[rows["metric"] == "relative_error"], at)
    expected = summary(rows[rows["metric"] == "expected_relative_error"], at)
    ax.plot(expected[at], expected["mean"], color=colour, linewidth=1.2)
    ax.plot(
        measured[at],
        measured["mean"],
        color=colour,
        marker=marker,
        linestyle="",
        markersize=5,
        markeredgecolor="white",
        markeredgewidth=0.5,
        label=text,
    )
    ax.fill_between(measured[at], measured["min"], measured["max"], color=colour, alpha=0.2, linewidth=0)


def draw_errors(metrics: pd.DataFrame, title: str = "") -> Figure:
    """Figure 2: relative error against epsilon by modes of safe ranges, and against the range by modes of epsilon."""
    use_style()
    rows = pldp_rows(metrics, "pldp_synthetic")
    rows = rows[rows["mechanism"] == "pdpm"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.8), sharey=True, layout="constrained")
    for mode, colour, marker in zip(("t1", "t2", "t3"), COLOURS, MARKERS, strict=False):
        part = rows[(rows["eps"] == "same") & (rows["tau"] == mode)]
        _errors(left, part, "epsilon", colour, marker, MODE_WORDS[mode])
    for mode, colour, marker in zip(("e1", "e2", "e3"), COLOURS, MARKERS, strict=False):
        part = rows[rows["eps"] == mode]
        _errors(right, part.assign(width=part["tau"].astype(float)), "width", colour, marker, MODE_WORDS[mode])
    left.set(
        yscale="log",
        xlabel="ε of every participant, per value (nats)",
        ylabel="relative error of the mean (1 = as large as it)",
    )
    right.set(xlabel="width of every participant's safe range")
    for ax in (left, right):
        ax.legend(frameon=False, fontsize=8.5)
    head(figure, title, rows["dataset"])
    return figure


def draw_error_mechanisms(metrics: pd.DataFrame, title: str = "") -> Figure:
    """The same error of all mechanisms on ranges of width 2, one epsilon for all."""
    use_style()
    rows = pldp_rows(metrics, "pldp_synthetic")
    rows = rows[(rows["eps"] == "same") & (rows["tau"] == "2.0")]
    figure, ax = plt.subplots(figsize=(5.6, 3.8), layout="constrained")
    for name, colour, marker in apart(set(rows["mechanism"])):
        _errors(ax, rows[rows["mechanism"] == name], "epsilon", colour, marker, label(name))
    ax.set(
        yscale="log",
        xlabel="ε of every participant, per value (nats)",
        ylabel="relative error of the mean (1 = as large as it)",
    )
    ax.legend(frameon=False, fontsize=8.5)
    head(figure, title, rows["dataset"])
    return figure
