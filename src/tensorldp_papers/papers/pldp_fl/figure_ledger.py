"""What PLDP-FL's clients have spent."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tensorldp_papers.papers.pldp_fl.figures import COLOURS, GREY, MARKERS, over_rounds, pldp_rows, summary, usual
from tensorldp_papers.plots.own_data import head
from tensorldp_papers.plots.style import use_style


def client_table(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per variant, seed and client: `uploads`, `epsilon` (whole model, whole run), `per_weight`, `nominal`."""
    found = rows[rows["metric"].isin(["client_uploads", "client_epsilon", "client_per_weight"])]
    found = found.assign(client=found["client"].astype(int), what=found["metric"].str.removeprefix("client_"))
    table = found.pivot_table(index=["variant", "eps", "tau", "seed", "client"], columns="what", values="value")
    table = table.reset_index()
    return table.assign(nominal=table["per_weight"] / table["uploads"])


def draw_ledger(metrics: pd.DataFrame, title: str = "") -> Figure:
    """What clients have spent: per client against its nominal epsilon, and over the rounds."""
    use_style()
    rows = pldp_rows(metrics, "pldp_fl")
    rows = rows[
        (rows["mechanism"] == "pdpm") & (rows["budget"] == "") & (rows["tau"] == "t1") & (rows["centre"] == "zero")
    ]
    rows = usual(rows)
    rows = rows[rows["dataset"] == sorted(set(rows["dataset"]))[0]]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.4, 4.0), layout="constrained")
    table = client_table(rows[rows["seed"] == rows["seed"].min()])
    for mode, colour, marker in zip(("e1", "e2", "e3"), COLOURS, MARKERS, strict=False):
        part = table[table["eps"] == mode]
        left.scatter(
            part["nominal"],
            part["epsilon"],
            s=22,
            color=colour,
            marker=marker,
            alpha=0.6,
            linewidths=0,
            label=f"{mode}: its whole model, δ = 1e-5",
        )
        left.scatter(
            part["nominal"],
            part["per_weight"],
            s=16,
            facecolors="none",
            edgecolors=colour,
            marker=marker,
            linewidths=0.8,
            label=f"{mode}: one weight, pure",
        )
        grown = {word: over_rounds(rows[rows["eps"] == mode], f"spent_{word}") for word in ("least", "median", "most")}
        lines = {word: summary(found, "round") for word, found in grown.items()}
        right.plot(
            lines["median"]["round"],
            lines["median"]["mean"],
            color=colour,
            marker=marker,
            markersize=4.5,
            markeredgecolor="white",
            label=f"{mode}: median client",
        )
        right.fill_between(
            lines["median"]["round"],
            lines["least"]["mean"],
            lines["most"]["mean"],
            color=colour,
            alpha=0.15,
            linewidth=0,
        )
    at = np.array([0.1, 1.0])
    left.plot(at, at, color=GREY, linestyle=(0, (4, 2)), linewidth=1.2, label="what the paper calls the budget")
    left.set(
        xscale="log",
        yscale="log",
        xlabel="the client's ε in the paper (nats per weight and upload)",
        ylabel="ε that the client has spent in the run (nats)",
    )
    left.set_xticks([0.1, 0.2, 0.5, 1.0], ["0.1", "0.2", "0.5", "1"])
    left.minorticks_off()
    right.xaxis.set_major_locator(MaxNLocator(integer=True))
    right.set(yscale="log", xlabel="round", ylabel="ε of the whole model so far, δ = 1e-5 (nats)")
    right.legend(frameon=False, fontsize=8, title="bands: least to most", title_fontsize=8)
    left.set_ylim(bottom=2e-3)
    left.legend(frameon=False, fontsize=7.5, loc="lower right", ncols=2, columnspacing=1.0)
    head(figure, title, rows["dataset"])
    return figure
