"""PLDP-FL's Figure 3: communication and accuracy by the share of clients in a round."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from tensorldp.kinds import NO_PRIVACY
from tensorldp_papers.papers.pldp_fl.figures import CENTRE_LINES, CENTRES, pldp_rows, say_empty, summary
from tensorldp_papers.plots.own_data import head
from tensorldp_papers.plots.panels import drawn, legend_below, panel_title
from tensorldp_papers.plots.style import appearance, label, use_style


def _by_share(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of Figure 3 with the share of clients in a round as a column; none if the table has a single share.

    The study's own share is no factor: its cells are those that the other figures show. Where these ran for more rounds
    than the others, which their uploads tell, they are left out.
    """
    free = (rows["mechanism"] == NO_PRIVACY) & (rows["eps"] == "") & (rows["tau"] == "")
    private = (rows["mechanism"] == "pdpm") & (rows["eps"] == "e3") & (rows["tau"] == "t1")
    rows = rows[(free | private) & (rows["budget"] == "") & (rows["split"] == "") & (rows["limit"] == "")]
    shares = rows[rows["metric"] == "participation"].groupby("variant")["value"].first()
    rows = rows.assign(share=rows["variant"].map(shares)).dropna(subset=["share"])
    sent = rows[rows["metric"] == "uploaded_megabytes"]
    whole = (sent["value"] / sent["share"]).groupby([sent["dataset"], sent["variant"]]).max()
    longer = whole.index[whole > 1.001 * whole.groupby(level=0).transform("min")]
    rows = rows[~pd.MultiIndex.from_frame(rows[["dataset", "variant"]]).isin(longer)]
    return rows if rows["share"].nunique() > 1 else rows[:0]


def draw_participation(metrics: pd.DataFrame, title: str = "") -> Figure:
    """Figure 3 against the share of clients: communication, the same for both centres, and each data set's accuracy."""
    use_style()
    rows = pldp_rows(metrics, "pldp_fl")
    rows = _by_share(rows)
    datasets = sorted(set(rows["dataset"]))
    count = max(len(datasets), 1)
    figure, (left, *others) = plt.subplots(1, 1 + count, figsize=(4.6 * (1 + count), 4.4), layout="constrained")
    if rows.empty:
        for ax in (left, *others):
            say_empty(ax)
    for dataset, right in zip(datasets, others, strict=False):
        for name, centre, line in (
            (NO_PRIVACY, "", (0, (4, 2))),
            *(("pdpm", *style) for style in CENTRE_LINES.items()),
        ):
            part = rows[(rows["mechanism"] == name) & (rows["dataset"] == dataset) & (rows["centre"] == centre)]
            if part.empty:
                continue
            look = appearance(name)
            text = f"{dataset}: {label(name)}" + (f" e3, t1 {CENTRES[centre]}" if centre else "")
            for ax, metric in ((left, "uploaded_megabytes"), (right, "accuracy")):
                table = summary(part[part["metric"] == metric], "share")
                ax.plot(
                    table["share"],
                    table["mean"],
                    color=str(look["color"]),
                    marker=str(look["marker"]),
                    linestyle=line,
                    linewidth=1.4,
                    label=text,
                )
                ax.fill_between(
                    table["share"], table["min"], table["max"], color=str(look["color"]), alpha=0.15, linewidth=0
                )
    left.set(xlabel="share of clients in a round", ylabel="uploaded in the run (MB, 32 bits a weight)")
    for right in others:
        right.set(xlabel="share of clients in a round", ylabel="accuracy on the test records", ylim=(-0.02, 1.02))
    shares = sorted(set(rows["share"])) if not rows.empty else []
    for ax in (left, *others):
        ax.set_xlim(0.0, 1.05)
        if shares:
            ax.set_xticks(shares, [f"{share:g}" for share in shares])
        panel_title(ax, "")
        legend_below(ax, drawn([ax]), 1, 38.0)
    left.set_ylim(bottom=0.0, top=None if not rows.empty else 1.0)
    head(figure, title, rows["dataset"])
    return figure
