"""What a membership attack finds, beside the bound of the guarantee."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import beta

from tensorldp_papers.papers.lecture.figures.sweeps import attack_rows
from tensorldp_papers.plots.panels import drawn, legend_below, number_text
from tensorldp_papers.plots.style import appearance, label, order, use_style


def draw_membership(metrics: pd.DataFrame, rate: str = "0.1") -> Figure:
    """True positive rate of the loss threshold by mechanism and epsilon, with 95 % intervals, beside the bound.

    Intervals are those of [clopper1934] for the members of all seeds together.
    """
    use_style()
    table = _membership_table(metrics, rate)
    figure, ax = plt.subplots(figsize=(8.0, 0.26 * len(table) + 1.9), layout="constrained")
    at = np.arange(len(table))
    colours = [str(appearance(name)["color"]) for name in table["mechanism"]]
    for shift, kind, marker, text in (
        (-0.16, "", "o", "records with their labels"),
        (0.16, "canary_", "D", "canaries with random labels"),
    ):
        count = table["members"] / 2
        hits = (table[f"{kind}tpr"] * count).round()
        low, high = beta.ppf(0.025, hits, count - hits + 1), beta.ppf(0.975, hits + 1, count - hits)
        ax.hlines(at + shift, np.nan_to_num(low), np.nan_to_num(high, nan=1.0), color=colours, linewidth=1.6)
        ax.scatter(table[f"{kind}tpr"], at + shift, color=colours, zorder=3, s=20, marker=marker, label=text)
    ax.scatter(table["bound"], at, marker="|", s=130, color="#000000", label="most that the guarantee allows", zorder=3)
    ax.axvline(float(rate), color="#999999", linestyle=":", linewidth=1.0, label="guessing")
    ax.set_yticks(
        at,
        [
            label(name) + ("" if np.isinf(epsilon) else f", nominal ε {number_text(epsilon)}")
            for name, epsilon in zip(table["mechanism"], table["epsilon"], strict=True)
        ],
        fontsize=8,
    )
    ax.invert_yaxis()
    ax.set_xlim(-0.02, 1.05)
    ax.set_xlabel(f"true positive rate at {float(rate):.0%} false positives")
    ax.set_title("Loss-threshold membership attack on models trained on released pictures; 95 % intervals", fontsize=10)
    legend_below(ax, drawn([ax]), 2, gap=38.0, width=420.0)
    return figure


def _membership_table(metrics: pd.DataFrame, rate: str) -> pd.DataFrame:
    keys = ["mechanism", "epsilon"]
    parts = {
        "tpr": f"tpr_at_fpr_{rate}",
        "canary_tpr": f"canary_tpr_at_fpr_{rate}",
        "bound": f"tpr_bound_at_fpr_{rate}",
    }
    table = pd.DataFrame(
        {
            name: attack_rows(metrics, "membership", metric).groupby(keys)["value"].mean()
            for name, metric in parts.items()
        }
    )
    table["members"] = attack_rows(metrics, "membership", "members").groupby(keys)["value"].sum()
    table = table.reset_index()
    names = order(set(table["mechanism"]))
    table["rank"] = [names.index(name) for name in table["mechanism"]]
    return table.sort_values(["rank", "epsilon"], ignore_index=True)
