"""PLDP-FL's figures: accuracy over rounds, by guarantee and by share of clients, error of a mean, what is spent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tensorldp.mechanism_table import MECHANISMS, NO_PRIVACY
from tensorldp_papers.plots.lines import (
    draw_band,
    draw_chance,
    draw_level,
    draw_printed,
    mark_standing,
    say_empty,
)
from tensorldp_papers.plots.means import over_seeds, study_rows
from tensorldp_papers.plots.panels import decade_ticks, drawn, finish_columns, grid, head, legend_below, panel_title
from tensorldp_papers.plots.printed import PrintedPoint, printed_points
from tensorldp_papers.plots.style import ARMS, DASHED, DOTTED, GREY, INK, MARKERS, PLAIN, appearance, label, order
from tensorldp_papers.run.cell import variant_factors

MODE_WORDS = {
    "e1": "ε: 0.1, 0.2",
    "e2": "ε: 0.1 to 1",
    "e3": "ε: 0.9, 1",
    "same": "one ε for all",
    "t1": "τ₁: widths 0.2, 0.4",
    "t2": "τ₂: widths 0.2 to 2",
    "t3": "τ₃: widths 1.8, 2",
}
CENTRES = {"zero": "around 0", "global": "around the weights sent"}
CENTRE_LINES: dict[str, Any] = {"zero": DOTTED, "global": "-"}
PER_VALUE = "ε of every participant, per value (nats)"
ERROR = "relative error of the mean (1 = as large as it)"


def apart(names: set[str]) -> list[tuple[str, str, str]]:
    """Names in the legend's order, with colours and markers that tell them apart, but for one from outside."""
    package = [name for name in order(names) if name not in MECHANISMS or MECHANISMS.module(name) is not None]
    looks = dict(zip(package, zip(ARMS, MARKERS, strict=False), strict=False))
    for name in names - set(looks):
        looks[name] = (appearance(name)["color"], appearance(name)["marker"])
    return [(name, *looks[name]) for name in order(names)]


def pldp_rows(metrics: pd.DataFrame, study: str) -> pd.DataFrame:
    """The rows of a study with its factors as columns; a factor that a cell lacks is empty text.

    A cell with safe ranges that does not name their centre has `zero`.

    Raises:
        InputError: if there are none.
    """
    rows = study_rows(metrics, study)
    split = rows["variant"].map(variant_factors)
    for key in ("eps", "tau", "budget", "participation", "model", "split", "limit"):
        rows[key] = [factors.get(key, "") for factors in split]
    rows["centre"] = [factors.get("centre", "zero" if "tau" in factors else "") for factors in split]
    return rows


def usual(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the study's own share of clients, split and number of records."""
    return rows[(rows["participation"] == "") & (rows["split"] == "") & (rows["limit"] == "")]


def over_rounds(rows: pd.DataFrame, stem: str = "accuracy") -> pd.DataFrame:
    """Rows of the metric `<stem>_by_round`."""
    series = rows[rows["metric"] == f"{stem}_by_round"]
    return series.assign(round=series["round"].astype(float))


def draw_rounds(metrics: pd.DataFrame, title: str = "") -> Figure:
    """Figures 4, 5 and 6: accuracy over rounds, one row of panels for each data set, a line style for each centre.

    Figure 6 has a panel for each centre, so that no panel has more than `MOST_BANDS` bands.
    """
    rows = pldp_rows(metrics, "pldp_fl")
    rows = rows[rows["budget"] == ""]
    more = rows[rows["limit"] != ""]
    rows = usual(rows)
    datasets = sorted(set(rows["dataset"]))
    compared = (rows["eps"] == "e2") & (rows["tau"] == "2.0")
    centres = [centre for centre in ("zero", "global", "") if (rows[compared]["centre"] == centre).any()]
    columns = 3 + len(centres)
    figure, axes = grid(len(datasets), columns, (3.4 * columns, 3.0 * len(datasets) + 1.2), sharey=True, sharex=True)
    for line, dataset in zip(axes, datasets, strict=True):
        here = over_rounds(rows[rows["dataset"] == dataset])
        free = over_seeds(here[here["mechanism"] == NO_PRIVACY], "round")
        other = over_rounds(more[more["dataset"] == dataset])
        for ax, mode in zip(line, ("e1", "e2", "e3", *centres), strict=True):
            ax.plot(free["round"], free["mean"], color=GREY, linestyle=DASHED, linewidth=1.2, label="no privacy")
            draw_chance(ax)
            comparison = mode in centres
            if comparison:
                part = here[compared.reindex(here.index) & (here["centre"] == mode)]
                for name, colour, marker in apart(set(part["mechanism"])):
                    _by_centre(ax, part[part["mechanism"] == name], colour, marker, label(name))
                text = f"{dataset}: e2 on ranges of width 2" + (f" {CENTRES[mode]}" if mode else "")
            else:
                for tau, colour, marker in zip(("t1", "t2", "t3"), ARMS, MARKERS, strict=False):
                    part = here[(here["mechanism"] == "pdpm") & (here["eps"] == mode) & (here["tau"] == tau)]
                    _by_centre(ax, part, colour, marker, MODE_WORDS[tau])
                    _with_more_records(ax, other[(other["eps"] == mode) & (other["tau"] == tau)], colour, tau)
                text = f"{dataset}: PDPM, {mode} ({MODE_WORDS[mode]})"
            panel = "comparison" if comparison else mode
            for point in printed_points("pldp_fl", dataset):
                if point.panel == panel and (not comparison or point.method in set(part["mechanism"])):
                    _printed(ax, point, here["round"].max())
            ax.set_ylim(-0.02, 1.02)
            ax.set_xticks(sorted(set(here["round"])) if here["round"].nunique() <= 8 else ax.get_xticks())
            panel_title(ax, text, 46)
    finish_columns(axes, (), "round", 1)
    head(figure, title, rows["dataset"], ylabel="accuracy on the test records")
    return figure


def _by_centre(ax: Axes, part: pd.DataFrame, colour: str, marker: str, text: str) -> None:
    for centre, words in CENTRES.items():
        rows = part[part["centre"] == centre]
        if len(rows):
            line, named = CENTRE_LINES[centre], f"{text}, {words}"
            draw_band(ax, over_seeds(rows, "round"), "round", colour=colour, text=named, marker=marker, linestyle=line)


def _with_more_records(ax: Axes, part: pd.DataFrame, colour: str, tau: str) -> None:
    """Thin lines of cells with another number of records than the study's."""
    for (limit, centre), rows in part.groupby(["limit", "centre"]):
        means = over_seeds(rows, "round")
        text = f"{MODE_WORDS[tau]}, {CENTRES[str(centre)]}, {int(str(limit)):,} training records"
        line = CENTRE_LINES[str(centre)]
        ax.plot(means["round"], means["mean"], color=colour, linestyle=line, linewidth=0.8, label=text)


def _printed(ax: Axes, point: PrintedPoint, last: float) -> None:
    """A star at what the paper prints; at the last round of a run that has fewer."""
    at = min(point.round, last)
    whose = f"{label(point.method).split(' (')[0]}: " if point.panel == "comparison" else ""
    draw_printed(ax, at, point.value, "_printed", marker="*", markerfacecolor=INK)
    ax.annotate(
        f"{whose}{100 * point.value:.1f} % printed, round {point.round}",
        (at, point.value),
        xytext=(-4, -11),
        textcoords="offset points",
        ha="right",
        fontsize=7.5,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.8},
    )


KINDS = (  # budget, centre, words, marker (empty: the mechanism's own), how it is filled
    ("", "zero", "per weight, ranges around 0", "", "full"),
    ("", "global", "per weight, around the weights sent", "", "left"),
    ("", "", "in its own unit", "", "full"),  # a mechanism without safe ranges, such as a plug-in
    ("model", "", "per model", "o", "full"),
    ("run", "", "per run", "D", "full"),
)


def draw_guaranteed(metrics: pd.DataFrame, title: str = "") -> Figure:
    """Final accuracy against the guarantee of the largest client's whole model over the whole run.

    Marks are filled where epsilon is of a weight (half where the range is around the weights sent), else open.
    """
    rows = pldp_rows(metrics, "pldp_fl")
    rows = usual(rows[rows["metric"] == "accuracy"])
    datasets = sorted(set(rows["dataset"]))
    figure, axes = grid(len(datasets), 2, (9.6, 3.4 * len(datasets) + 1.6), sharex=True, sharey=True)
    cells = [(dataset, whole) for dataset in datasets for whole in (False, True)]
    for ax, (dataset, whole) in zip(axes.flat, cells, strict=True):
        here = rows[rows["dataset"] == dataset]
        draw_level(ax, here[here["mechanism"] == NO_PRIVACY]["value"], "no privacy", linewidth=1.2)
        draw_chance(ax)
        private = here[np.isfinite(here["guarantee_epsilon"]) & (here["mechanism"] != NO_PRIVACY)]
        for budget, centre, words, shape, fill in KINDS:
            if (budget != "") != whole:
                continue
            kind = private[(private["budget"] == budget) & (private["centre"] == centre)]
            for name in order(set(kind["mechanism"])):
                part = kind[kind["mechanism"] == name]
                table = over_seeds(part, ["guarantee_epsilon", "variant"])
                look = appearance(name)
                ax.errorbar(
                    table["guarantee_epsilon"],
                    table["mean"],
                    yerr=[table["mean"] - table["min"], table["max"] - table["mean"]],
                    color=look["color"],
                    marker=shape or look["marker"],
                    fillstyle=fill,
                    linewidth=1.0,
                    linestyle="-" if budget == "model" else "",
                    markersize=6,
                    capsize=2,
                    markerfacecolor=look["color"] if budget == "" else "white",
                    markerfacecoloralt="white",
                    label=f"{label(name)}, ε {words}",
                )
                mark_standing(ax, part, at="guarantee_epsilon", colour=look["color"], marker=look["marker"], size=6)
        ax.set(xscale="log", ylim=(-0.02, 1.02))
        panel_title(ax, f"{dataset}: ε set for {'a whole model or run' if whole else 'each weight or value'}")
    decade_ticks(axes[0][0])
    finish_columns(axes, (), "guaranteed ε of the largest client's whole model, whole run, at δ = 1e-5 (nats)", 1)
    head(figure, title, rows["dataset"], ylabel="accuracy on the test records")
    return figure


def draw_errors(metrics: pd.DataFrame, title: str = "") -> Figure:
    """Figure 2: relative error against epsilon by modes of safe ranges, and against the range by modes of epsilon."""
    rows = pldp_rows(metrics, "pldp_synthetic")
    rows = rows[rows["mechanism"] == "pdpm"]
    figure, ((left, right),) = grid(1, 2, (9.2, 3.8), sharey=True)
    for mode, colour, marker in zip(("t1", "t2", "t3"), ARMS, MARKERS, strict=False):
        part = rows[(rows["eps"] == "same") & (rows["tau"] == mode)]
        _errors(left, part, "epsilon", colour, marker, MODE_WORDS[mode])
    for mode, colour, marker in zip(("e1", "e2", "e3"), ARMS, MARKERS, strict=False):
        part = rows[rows["eps"] == mode]
        _errors(right, part.assign(width=part["tau"].astype(float)), "width", colour, marker, MODE_WORDS[mode])
    left.set(yscale="log", xlabel=PER_VALUE, ylabel=ERROR)
    right.set(xlabel="width of every participant's safe range")
    for ax in (left, right):
        ax.legend(fontsize=8.5)
    head(figure, title, rows["dataset"])
    return figure


def draw_error_mechanisms(metrics: pd.DataFrame, title: str = "") -> Figure:
    """The same error of all mechanisms on ranges of width 2, one epsilon for all."""
    rows = pldp_rows(metrics, "pldp_synthetic")
    rows = rows[(rows["eps"] == "same") & (rows["tau"] == "2.0")]
    figure, ((ax,),) = grid(1, 1, (5.6, 3.8))
    for name, colour, marker in apart(set(rows["mechanism"])):
        _errors(ax, rows[rows["mechanism"] == name], "epsilon", colour, marker, label(name))
    ax.set(yscale="log", xlabel=PER_VALUE, ylabel=ERROR)
    ax.legend(fontsize=8.5)
    head(figure, title, rows["dataset"])
    return figure


def _errors(ax: Axes, rows: pd.DataFrame, at: str, colour: str, marker: str, text: str) -> None:
    """Measured errors as points with their band, and the closed form through them."""
    expected = over_seeds(rows[rows["metric"] == "expected_relative_error"], at)
    ax.plot(expected[at], expected["mean"], color=colour, linewidth=1.2)
    measured = over_seeds(rows[rows["metric"] == "relative_error"], at)
    draw_band(ax, measured, at, colour=colour, text=text, marker=marker, linestyle="", markersize=5, band=0.2)


def client_table(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per variant, seed and client: `uploads`, `epsilon` (whole model, whole run), `per_weight`, `nominal`."""
    rows = rows[rows["metric"].isin(["client_uploads", "client_epsilon", "client_per_weight"])]
    rows = rows.assign(client=rows["client"].astype(int), what=rows["metric"].str.removeprefix("client_"))
    table = rows.pivot_table(index=["variant", "eps", "tau", "seed", "client"], columns="what", values="value")
    table = table.reset_index()
    return table.assign(nominal=table["per_weight"] / table["uploads"])


def draw_ledger(metrics: pd.DataFrame, title: str = "") -> Figure:
    """What clients have spent: per client against its nominal epsilon, and over the rounds."""
    rows = pldp_rows(metrics, "pldp_fl")
    rows = usual(rows[(rows["mechanism"] == "pdpm") & (rows["budget"] == "") & (rows["tau"] == "t1")])
    rows = rows[rows["centre"] == "zero"]
    rows = rows[rows["dataset"] == sorted(set(rows["dataset"]))[0]]
    figure, ((left, right),) = grid(1, 2, (10.4, 4.0))
    table = client_table(rows[rows["seed"] == rows["seed"].min()])
    for mode, colour, marker in zip(("e1", "e2", "e3"), ARMS, MARKERS, strict=False):
        part = table[table["eps"] == mode]
        filled: dict[str, Any] = {"s": 22, "color": colour, "alpha": 0.6, "linewidths": 0}
        hollow: dict[str, Any] = {"s": 16, "facecolors": "none", "edgecolors": colour, "linewidths": 0.8}
        for column, words, style in (
            ("epsilon", "its whole model, δ = 1e-5", filled),
            ("per_weight", "one weight, pure", hollow),
        ):
            left.scatter(part["nominal"], part[column], marker=marker, label=f"{mode}: {words}", **style)
        spent = rows[rows["eps"] == mode]
        least, median, most = (
            over_seeds(over_rounds(spent, f"spent_{word}"), "round") for word in ("least", "median", "most")
        )
        spread = median.assign(min=least["mean"], max=most["mean"])
        style = {**PLAIN, "marker": marker, "markersize": 4.5, "markeredgecolor": "white"}
        draw_band(right, spread, "round", colour=colour, text=f"{mode}: median client", **style)
    at = np.array([0.1, 1.0])
    left.plot(at, at, color=GREY, linestyle=DASHED, linewidth=1.2, label="what the paper calls the budget")
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
    right.legend(fontsize=8, title="bands: least to most", title_fontsize=8)
    left.set_ylim(bottom=2e-3)
    left.legend(fontsize=7.5, loc="lower right", ncols=2, columnspacing=1.0)
    head(figure, title, rows["dataset"])
    return figure


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
    rows = _by_share(pldp_rows(metrics, "pldp_fl"))
    datasets = sorted(set(rows["dataset"]))
    count = max(len(datasets), 1)
    figure, ((left, *others),) = grid(1, 1 + count, (4.6 * (1 + count), 4.4))
    if rows.empty:
        for ax in (left, *others):
            say_empty(ax, "not run at this scale", GREY)
    for dataset, right in zip(datasets, others, strict=False):
        for name, centre, line in ((NO_PRIVACY, "", DASHED), *(("pdpm", *pair) for pair in CENTRE_LINES.items())):
            part = rows[(rows["mechanism"] == name) & (rows["dataset"] == dataset) & (rows["centre"] == centre)]
            if part.empty:
                continue
            look = appearance(name)
            text = f"{dataset}: {label(name)}" + (f" e3, t1 {CENTRES[centre]}" if centre else "")
            for ax, metric in ((left, "uploaded_megabytes"), (right, "accuracy")):
                means = over_seeds(part[part["metric"] == metric], "share")
                style = {**PLAIN, "linewidth": 1.4, "marker": look["marker"], "linestyle": line}
                draw_band(ax, means, "share", colour=look["color"], text=text, **style)
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
