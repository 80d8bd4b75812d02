"""What a membership attack finds, beside the bound of the guarantee."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import beta

from tensorldp.figures.attack_sweeps import attack_rows
from tensorldp.figures.style import appearance, label, order, use_style


def draw_membership(metrics: pd.DataFrame, rate: str = "0.1") -> Figure:
    """True positive rate of the loss threshold by mechanism and epsilon, with 95 % intervals, beside the bound.

    Intervals are those of [clopper1934] for the members of all seeds together.
    """
    use_style()
    table = _membership_table(metrics, rate)
    figure, ax = plt.subplots(figsize=(9.0, 3.9), layout="constrained")
    at = np.arange(len(table))
    colours = [str(appearance(name)["color"]) for name in table["mechanism"]]
    for shift, kind, marker, text in (
        (-0.14, "", "o", "records with their labels"),
        (0.14, "canary_", "D", "canaries with random labels"),
    ):
        count = table["members"] / 2
        hits = (table[f"{kind}tpr"] * count).round()
        low, high = beta.ppf(0.025, hits, count - hits + 1), beta.ppf(0.975, hits + 1, count - hits)
        ax.vlines(at + shift, np.nan_to_num(low), np.nan_to_num(high, nan=1.0), color=colours, linewidth=2)
        ax.scatter(at + shift, table[f"{kind}tpr"], color=colours, zorder=3, s=30, marker=marker, label=text)
    ax.scatter(at, table["bound"], marker="_", s=260, color="#000000", label="most that the guarantee allows", zorder=3)
    ax.axhline(float(rate), color="#999999", linestyle=":", linewidth=1.0, label="guessing")
    ax.set_xticks(
        at,
        [
            f"{label(name)}\n" + ("" if np.isinf(epsilon) else f"nominal ε {epsilon:g}")
            for name, epsilon in zip(table["mechanism"], table["epsilon"], strict=True)
        ],
        fontsize=7.5,
        rotation=35,
        ha="right",
    )
    ax.set_ylim(-0.02, 1.05)
    ax.set_ylabel(f"true positive rate at {float(rate):.0%} false positives")
    ax.set_title("Loss-threshold membership attack on models trained on released pictures; 95 % intervals", fontsize=10)
    ax.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
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
