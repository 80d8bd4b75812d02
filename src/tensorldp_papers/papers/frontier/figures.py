"""Accuracy against the true epsilon of a record, and of a client's whole run: what it buys."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp.privacy import accuracy_ceiling
from tensorldp_papers.plots.lines import draw_level, draw_printed, mark_standing, shade
from tensorldp_papers.plots.means import finite, read_metrics, study_rows, true_epsilon
from tensorldp_papers.plots.panels import grid, side_legend
from tensorldp_papers.plots.printed import printed_points
from tensorldp_papers.plots.style import (
    BLUE,
    CEILING,
    DOTTED,
    GREEN,
    PAPER_COLOURS,
    PUBLIC,
    QUIET,
    SHORT_DASHED,
    appearance,
    label,
    order,
)
from tensorldp_papers.run.cell import variant_factors

STUDY, FEDERATED = "frontier", "pldp_fl"
RANGE = (0.08, 2e6)  # of every panel: where the papers' mechanisms truly lie
# what each paper proposes, in the study of it that shows it at its best, with the metric that it prints
PAPERS = (
    ("TLDP", "tldp_type1", "tldp-g", "weighted_f1"),
    ("LATENT", "latent", "latent", "accuracy"),
    ("TVG", "tvg_testing", "idn", "accuracy_perturbed_test"),
    ("PLDP-FL", FEDERATED, "pdpm", "accuracy"),
)
DATASETS = ("mnist", "fashion_mnist", "cifar10", "imdb")  # panels from left to right
COLUMNS = ["dataset", "line", "mechanism", "at", "value", "low", "high", "seeds"]


def line_name(mechanism: str, variant: str) -> str:
    """A mechanism, and what is released or learnt otherwise than in the main arm."""
    factors = {key: value for key, value in variant_factors(variant).items() if key != "backbone"}
    return " ".join([mechanism, *(f"{key}={value}" for key, value in sorted(factors.items()))])


def _named(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(line=[line_name(m, v) for m, v in zip(rows["mechanism"], rows["variant"], strict=True)])


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean, lowest and highest value of each data set, line, mechanism and `at`, over the seeds."""
    grouped = rows.groupby(["dataset", "line", "mechanism", "at"], dropna=False)
    table = grouped["value"].agg(value="mean", low="min", high="max", seeds="count")
    if "standing" in rows:
        table["standing"] = grouped["standing"].first()
    return table.reset_index()


def frontier_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """Mean, lowest and highest value of each line, data set and true epsilon of the study.

    Raises:
        InputError: if the table has no rows of the study.
    """
    rows = study_rows(metrics[metrics["metric"].isin(["accuracy", "accuracy_perturbed_test"])], STUDY)
    return summary(_named(rows).assign(at=true_epsilon(rows)))


def paper_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """The papers' mechanisms as their studies measured them, at their true epsilons; the best variant at each."""
    parts = [pd.DataFrame(columns=COLUMNS)]
    for paper, study, mechanism, metric in PAPERS:
        rows = metrics[
            (metrics["study"] == study) & (metrics["mechanism"] == mechanism) & (metrics["metric"] == metric)
        ]
        if len(rows):
            table = summary(rows.assign(at=true_epsilon(rows), line=rows["variant"]))
            best = table.sort_values("value").groupby(["dataset", "at"], as_index=False).last()
            parts.append(best.assign(line=paper))
    return pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)


def ordered(datasets: pd.Series) -> list[str]:
    """Each once, those of the papers first."""
    names = [str(name) for name in datasets.unique()]
    return sorted(names, key=lambda name: (DATASETS.index(name) if name in DATASETS else len(DATASETS), name))


def shuffled_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """As `frontier_rows`, at the central epsilon (delta 1e-6) behind a trusted shuffler, where there is one."""
    rows = metrics[metrics["study"] == STUDY]
    key = ["dataset", "variant", "mechanism", "epsilon", "seed"]
    central = rows[rows["metric"] == "shuffled_epsilon"][[*key, "value"]].rename(columns={"value": "at"})
    return summary(_named(rows[rows["metric"] == "accuracy"].merge(central, on=key)))


def draw_shuffled(metrics: pd.DataFrame) -> Figure:
    """Accuracy against the central epsilon that a trusted shuffler adds: another trust model, so another figure."""
    rows = shuffled_rows(metrics)
    datasets = ordered(rows["dataset"]) or [""]
    figure, axes = _row(len(datasets), 3.4, 3.4)
    for ax, dataset in zip(axes[0], datasets, strict=True):
        here = rows[rows["dataset"] == dataset]
        for line, text, marker in (
            ("privunit", "labels public, mixed within a label", "o"),
            ("privunit private=record", "labels private, all mixed", "s"),
        ):
            draw_line(ax, here[here["line"] == line], text, color=BLUE, marker=marker)
        _finish(ax, dataset, "central ε at δ = 1e-6, trusted shuffler (nats)")
    axes[0][0].set_ylabel("accuracy on test records")
    if axes[0][0].get_legend_handles_labels()[0]:
        axes[0][0].legend(fontsize=7)
    return figure


def frontier_table(metrics: pd.DataFrame) -> pd.DataFrame:
    """Data set x true epsilon: PrivUnit's pipeline with public and private labels, beside its controls.

    Means over seeds. PrivUnit was chosen for its error, which is optimal up to a constant, not for these numbers.
    """
    table = []
    for dataset, rows in frontier_rows(metrics).groupby("dataset"):

        def at(line: str, epsilon: float, rows: pd.DataFrame = rows) -> float:
            close = np.isclose(rows["at"], epsilon, rtol=1e-3) | (rows["at"] == epsilon)
            values = rows[(rows["line"] == line) & close]["value"]
            return float(values.iloc[0]) if len(values) else math.nan

        epsilons = sorted(rows[(rows["line"] == "privunit") & np.isfinite(rows["at"])]["at"].round(6).unique())
        for epsilon in epsilons:
            table.append(
                {
                    "dataset": dataset,
                    "epsilon": epsilon,
                    "labels_public": at("privunit", epsilon),
                    "labels_private": at("privunit private=record", epsilon),
                    "no_privacy": at(NO_PRIVACY, math.inf),
                    "no_privacy_logistic": at("none learner=logistic", math.inf),
                    "public_only": at("none control=public", 0.0),
                    "labels_shuffled": at("privunit control=shuffled", epsilon),
                }
            )
    return pd.DataFrame(table)


def reference_metrics(metrics: Path) -> pd.DataFrame:
    """The kept metrics beside a metrics table, or the table itself where it is the kept one or there is none."""
    places = (folder / "reference" / metrics.name for folder in metrics.parents[:3])  # of a run, or of its study
    return read_metrics(next((kept for kept in places if kept.exists()), metrics))


def _row(count: int, width: float, height: float, sharey: bool = True) -> tuple[Figure, NDArray[Any]]:
    """A row of panels, one for each data set."""
    return grid(1, count, (1.0 + width * count, height), sharey=sharey)


def _finish(ax: Axes, dataset: str, xlabel: str) -> None:
    ax.set_xscale("log")
    ax.set_ylim(0.0, 1.02)
    ax.set_title(dataset)
    ax.set_xlabel(xlabel)


def draw_line(ax: Axes, rows: pd.DataFrame, text: str, **style: Any) -> None:
    """A line of a summary with the range of its seeds, its points alone with `linewidth=0`; no infinite epsilons."""
    rows = finite(rows).sort_values("at")
    if rows.empty:
        return
    style = {"linewidth": 1.3, "markersize": 4.0, "markeredgecolor": "white", "markeredgewidth": 0.4, **style}
    ax.plot(rows["at"], rows["value"], label=text, **style)
    if style["linewidth"]:
        shade(ax, rows["at"], rows["low"], rows["high"], style["color"], 0.12)
    else:
        ax.vlines(rows["at"], rows["low"], rows["high"], color=style["color"], alpha=0.5, linewidth=1.0)
    mark_standing(ax, rows, at="at", colour=style["color"], marker=style["marker"])


def draw_frontier(metrics: pd.DataFrame, reference: pd.DataFrame) -> Figure:
    """One panel a data set: the frontier, the baselines, the papers where they truly lie and where they print to be.

    Args:
        metrics: the table with the study's rows.
        reference: the table with the papers' studies.

    Raises:
        InputError: if the first has no rows of the study.
    """
    rows, papers = frontier_rows(metrics), paper_rows(reference)
    datasets = ordered(rows["dataset"])
    figure, axes = _row(len(datasets), 3.6, 4.1)
    for ax, dataset in zip(axes[0], datasets, strict=True):
        _panel(ax, rows[rows["dataset"] == dataset], papers[papers["dataset"] == dataset], dataset)
    axes[0][0].set_ylabel("accuracy on test records")
    side_legend(figure, axes, loc="outside lower center", ncols=4, fontsize=7)
    return figure


def _draw_public(ax: Axes, rows: pd.DataFrame, text: str) -> None:
    """A grey dotted line at what public data alone give, where rows of `frontier_rows` have it."""
    public = rows[rows["line"] == "none control=public"]["value"]
    draw_level(ax, public, text, PUBLIC, linestyle=(0, (1, 2)))


def _panel(ax: Axes, rows: pd.DataFrame, papers: pd.DataFrame, dataset: str) -> None:
    def of(line: str) -> pd.DataFrame:
        return rows[rows["line"] == line]

    draw_level(ax, of(NO_PRIVACY)["value"], "no privacy")
    free = of("none learner=logistic")["value"]
    draw_level(ax, free, "no privacy, logistic regression", linewidth=0.8, linestyle=(0, (6, 2, 1, 2)))
    _draw_public(ax, rows, "public data alone (without labels: clusters named by test labels)")
    draw_line(ax, of("privunit"), "PrivUnit on a public representation", color=BLUE, marker="o", linewidth=2.2)
    private = of("privunit private=record")
    draw_line(ax, private, "the same, label private too", color=BLUE, marker="s", linestyle=SHORT_DASHED)
    for name in order(set(finite(rows)["line"])):
        if " " not in name and name not in ("privunit", NO_PRIVACY):
            look = appearance(name)
            thin = {"linewidth": 0.8, "markersize": 3.0, "alpha": 0.75}
            draw_line(ax, of(name), f"{label(name)}, same pipeline", color=look["color"], marker=look["marker"], **thin)
    tests: dict[str, Any] = {"color": GREEN, "linestyle": DOTTED}
    answers = finite(of("k-rr private=answer"))
    draw_line(ax, answers, "private test records: k-RR of the answer", marker="v", **tests)
    draw_line(ax, of("privunit private=test"), "private test records: PrivUnit", marker="^", **tests)
    if len(answers):
        fine = np.geomspace(*RANGE, 200)
        bound = [accuracy_ceiling(float(e), 10) for e in fine]
        ax.plot(fine, bound, color=CEILING, linewidth=0.8, linestyle=":", label="ceiling for private test records")
    for paper, study, _, metric in PAPERS:
        colour = PAPER_COLOURS[paper]
        here = papers[papers["line"] == paper]
        width = 0.0 if study == FEDERATED else 1.0  # each of its points has settings of its own
        draw_line(ax, here, f"{paper}, at its true epsilon", color=colour, marker="D", linewidth=width)
        printed = [point for point in printed_points(study, dataset, metric) if point.proposed]
        if printed:
            at, value = [point.epsilon for point in printed], [point.value for point in printed]
            style = {"color": colour, "marker": "D", "markersize": 6, "zorder": 2}
            draw_printed(ax, at, value, f"{paper}, as printed", **style)
    _finish(ax, dataset, "true ε of one record (nats)")
    ax.set_xlim(*RANGE)
    if papers.empty:
        note = "no paper's mechanism has been run\nas its paper has it on these records"
        ax.text(0.97, 0.05, note, transform=ax.transAxes, ha="right", fontsize=7, color=QUIET)


CLIENTS = (  # line, legend, marker, dashes
    ("privunit private=client", "PrivUnit, one upload of a linear model", "o", "-"),
    ("privunit private=client rounds=5", "PrivUnit, five uploads of it", "s", SHORT_DASHED),
    ("pdpm private=client", "PDPM, one upload of it", "^", DOTTED),
)
NETWORKS = (("privunit", "PrivUnit on a whole network (PLDP-FL's training)"), ("pdpm", "PDPM on each weight (PLDP-FL)"))


def network_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """PLDP-FL's runs at the guarantee of the weakest client's whole run, the best variant at each."""
    rows = metrics[
        (metrics["study"] == FEDERATED)
        & (metrics["metric"] == "accuracy")
        & metrics["mechanism"].isin([name for name, _ in NETWORKS])
    ]
    table = summary(rows.assign(at=true_epsilon(rows), line=rows["variant"]))
    return table.sort_values("value").groupby(["dataset", "mechanism", "at"], as_index=False).last()


def draw_clients(metrics: pd.DataFrame, reference: pd.DataFrame) -> Figure:
    """One panel a data set; PLDP-FL's runs are the run's own, or else the kept ones.

    Args:
        metrics: the table with the study's rows.
        reference: the table with PLDP-FL's study.

    Raises:
        InputError: if the first has no rows of the study `frontier`.
    """
    rows = frontier_rows(metrics)
    clients = rows[rows["line"].str.contains("private=client")]
    networks = network_rows(metrics if (metrics["study"] == FEDERATED).any() else reference)
    datasets = ordered(clients["dataset"]) or [""]
    figure, axes = _row(len(datasets), 5.0, 3.9, sharey=False)
    for ax, dataset in zip(axes[0], datasets, strict=True):
        here = clients[clients["dataset"] == dataset]
        draw_level(ax, here[here["mechanism"] == NO_PRIVACY]["value"], "no privacy, one upload")
        _draw_public(ax, rows[rows["dataset"] == dataset], "public digits alone")
        for line, text, marker, dashes in CLIENTS:
            colour = appearance("pdpm")["color"] if line.startswith("pdpm") else BLUE
            draw_line(ax, here[here["line"] == line], text, color=colour, marker=marker, linestyle=dashes)
        for name, text in NETWORKS:
            points = networks[(networks["dataset"] == dataset) & (networks["mechanism"] == name)]
            draw_line(ax, points, text, color=appearance(name)["color"], marker="D", linewidth=0.0)
        _finish(ax, dataset, "pure ε of a client, whole run (nats)")
        if finite(here).empty:
            ax.set_xlim(0.1, 1e6)
        if ax.get_legend_handles_labels()[0]:
            ax.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2)
    axes[0][0].set_ylabel("accuracy on test records")
    return figure
