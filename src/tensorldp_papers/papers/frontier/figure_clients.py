"""Accuracy against a client's guarantee over the whole run: few uploads over a public representation, and PLDP-FL's."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from tensorldp.kinds import NO_PRIVACY
from tensorldp_papers.papers.frontier.figures import (
    FEDERATED,
    draw_line,
    draw_public,
    frontier_rows,
    ordered,
    summary,
    true_epsilon,
)
from tensorldp_papers.plots.style import appearance, use_style

OWN = (  # line, legend, marker, dashes
    ("privunit private=client", "PrivUnit, one upload of a linear model", "o", "-"),
    ("privunit private=client rounds=5", "PrivUnit, five uploads of it", "s", (0, (4, 1.5))),
    ("pdpm private=client", "PDPM, one upload of it", "^", (0, (1, 1))),
)
NETWORKS = (("privunit", "PrivUnit on a whole network (PLDP-FL's training)"), ("pdpm", "PDPM on each weight (PLDP-FL)"))


def network_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """PLDP-FL's runs at the guarantee of the weakest client's whole run, the best variant at each."""
    rows = metrics[
        (metrics["study"] == FEDERATED)
        & (metrics["metric"] == "accuracy")
        & metrics["mechanism"].isin([name for name, _ in NETWORKS])
    ]
    found = summary(rows.assign(at=true_epsilon(rows), line=rows["variant"]))
    return found.sort_values("value").groupby(["dataset", "mechanism", "at"], as_index=False).last()


def draw_clients(metrics: pd.DataFrame, reference: pd.DataFrame) -> Figure:
    """One panel a data set; PLDP-FL's runs are the run's own, or else the kept ones.

    Args:
        metrics: the table with the study's rows.
        reference: the table with PLDP-FL's study.

    Raises:
        InputError: if the first has no rows of the study `frontier`.
    """
    use_style()
    rows = frontier_rows(metrics)
    own = rows[rows["line"].str.contains("private=client")]
    networks = network_rows(metrics if (metrics["study"] == FEDERATED).any() else reference)
    datasets = ordered(own["dataset"]) or [""]
    figure, axes = plt.subplots(
        1, len(datasets), figsize=(1.0 + 5.0 * len(datasets), 3.9), squeeze=False, layout="constrained"
    )
    for ax, dataset in zip(axes[0], datasets, strict=True):
        here = own[own["dataset"] == dataset]
        clean = here[here["mechanism"] == NO_PRIVACY]["value"]
        if len(clean):
            ax.axhline(
                clean.mean(), color="#555555", linewidth=1.0, linestyle=(0, (4, 2)), label="no privacy, one upload"
            )
        draw_public(ax, rows[rows["dataset"] == dataset], "public digits alone")
        for line, text, marker, dashes in OWN:
            colour = appearance(line.split()[0])["color"] if line.startswith("pdpm") else "#0072B2"
            draw_line(ax, here[here["line"] == line], text, color=colour, marker=marker, linestyle=dashes)
        for name, text in NETWORKS:
            found = networks[(networks["dataset"] == dataset) & (networks["mechanism"] == name)]
            draw_line(ax, found, text, color=appearance(name)["color"], marker="D", linewidth=0.0)
        ax.set_xscale("log")
        ax.set_ylim(0.0, 1.02)
        ax.set_title(str(dataset))
        ax.set_xlabel("pure ε of a client, whole run (nats)")
        if not np.isfinite(here["at"]).any():
            ax.set_xlim(0.1, 1e6)
        if ax.get_legend_handles_labels()[0]:
            ax.legend(frameon=False, fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2)
    axes[0][0].set_ylabel("accuracy on test records")
    return figure
