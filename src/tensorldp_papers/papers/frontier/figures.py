"""Accuracy against the true epsilon of a record, and of a client's whole run: what it buys."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tensorldp.errors import InputError
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp.privacy import accuracy_ceiling
from tensorldp_papers.plots.curves import factors, read_metrics
from tensorldp_papers.plots.printed_points import PRINTED
from tensorldp_papers.plots.standing import mark_standing
from tensorldp_papers.plots.style import appearance, label, order, use_style

STUDY, FEDERATED = "frontier", "pldp_fl"
RANGE = (0.08, 2e6)  # of every panel: where the papers' mechanisms truly lie
CHANCE = 0.1  # of ten equally likely classes
# what each paper proposes, in the study of it that shows it at its best, with the metric that it prints
PAPERS = (
    ("TLDP", "tldp_type1", "tldp-g", "weighted_f1", "#D55E00"),
    ("LATENT", "latent", "latent", "accuracy", "#7A3E9D"),
    ("TVG", "tvg_testing", "idn", "accuracy_perturbed_test", "#8C6D1F"),
    ("PLDP-FL", FEDERATED, "pdpm", "accuracy", "#C2185B"),
)
DATASETS = ("mnist", "fashion_mnist", "cifar10", "imdb")  # panels from left to right
COLUMNS = ["dataset", "line", "mechanism", "at", "value", "low", "high", "seeds"]


def true_epsilon(rows: pd.DataFrame) -> pd.Series:
    """The pure guarantee, atoms removed, or where there is none that at delta 1e-5."""
    return rows["guarantee_pure_epsilon"].where(np.isfinite(rows["guarantee_pure_epsilon"]), rows["guarantee_epsilon"])


def line_name(mechanism: str, variant: str) -> str:
    """A mechanism, and what is released or learnt otherwise than in the main arm."""
    found = {key: value for key, value in factors(variant).items() if key != "backbone"}
    return " ".join([mechanism, *(f"{key}={value}" for key, value in sorted(found.items()))])


def frontier_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """Mean, lowest and highest value of each line, data set and true epsilon of the study.

    Raises:
        InputError: if the table has no rows of the study.
    """
    rows = metrics[(metrics["study"] == STUDY) & metrics["metric"].isin(["accuracy", "accuracy_perturbed_test"])].copy()
    if rows.empty:
        raise InputError(f"the metrics table has no rows of study {STUDY}")
    rows["line"] = [line_name(m, v) for m, v in zip(rows["mechanism"], rows["variant"], strict=True)]
    return summary(rows.assign(at=true_epsilon(rows)))


def paper_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """The papers' mechanisms as their studies measured them, at their true epsilons; the best variant at each."""
    parts = [pd.DataFrame(columns=COLUMNS)]
    for paper, study, mechanism, metric, _ in PAPERS:
        rows = metrics[
            (metrics["study"] == study) & (metrics["mechanism"] == mechanism) & (metrics["metric"] == metric)
        ].copy()
        if len(rows):
            rows = rows.assign(at=true_epsilon(rows), line=rows["variant"])
            best = summary(rows).sort_values("value").groupby(["dataset", "at"], as_index=False).last()
            parts.append(best.assign(line=paper))
    return pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)


def ordered(datasets: pd.Series) -> list[str]:
    """Each once, those of the papers first."""
    found = [str(name) for name in datasets.unique()]
    return sorted(found, key=lambda name: (DATASETS.index(name) if name in DATASETS else len(DATASETS), name))


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean, lowest and highest value of each data set, line, mechanism and `at`, over the seeds."""
    grouped = rows.groupby(["dataset", "line", "mechanism", "at"], dropna=False)["value"]
    found = grouped.agg(value="mean", low="min", high="max", seeds="count")
    if "standing" in rows:
        found["standing"] = rows.groupby(grouped.keys, dropna=False)["standing"].first()
        return found.reset_index()[[*COLUMNS, "standing"]]
    return found.reset_index()[COLUMNS]


def shuffled_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """As `frontier_rows`, at the central epsilon (delta 1e-6) behind a trusted shuffler, where there is one."""
    own = metrics[metrics["study"] == STUDY]
    key = ["dataset", "variant", "mechanism", "epsilon", "seed"]
    central = own[own["metric"] == "shuffled_epsilon"][[*key, "value"]].rename(columns={"value": "at"})
    rows = own[own["metric"] == "accuracy"].merge(central, on=key)
    rows["line"] = [line_name(m, v) for m, v in zip(rows["mechanism"], rows["variant"], strict=True)]
    return summary(rows)


def draw_shuffled(metrics: pd.DataFrame) -> Figure:
    """Accuracy against the central epsilon that a trusted shuffler adds: another trust model, so another figure."""
    use_style()
    rows = shuffled_rows(metrics)
    datasets = ordered(rows["dataset"]) or [""]
    figure, axes = plt.subplots(
        1, len(datasets), figsize=(1.0 + 3.4 * len(datasets), 3.4), sharey=True, squeeze=False, layout="constrained"
    )
    for ax, dataset in zip(axes[0], datasets, strict=True):
        here = rows[rows["dataset"] == dataset]
        for line, text, marker in (
            ("privunit", "labels public, mixed within a label", "o"),
            ("privunit private=record", "labels private, all mixed", "s"),
        ):
            draw_line(ax, here[here["line"] == line], text, color="#0072B2", marker=marker)
        ax.set_xscale("log")
        ax.set_ylim(0.0, 1.02)
        ax.set_title(dataset)
        ax.set_xlabel("central ε at δ = 1e-6, trusted shuffler (nats)")
    axes[0][0].set_ylabel("accuracy on test records")
    if axes[0][0].get_legend_handles_labels()[0]:
        axes[0][0].legend(frameon=False, fontsize=7)
    return figure


def frontier_table(metrics: pd.DataFrame) -> pd.DataFrame:
    """Data set x true epsilon: PrivUnit's pipeline with public and private labels, beside its controls.

    Means over seeds. PrivUnit was chosen for its error, which is optimal up to a constant, not for these numbers.
    """
    rows = frontier_rows(metrics)
    out = []
    for dataset, own in rows.groupby("dataset"):

        def at(line: str, epsilon: float, own: pd.DataFrame = own) -> float:
            found = own[(own["line"] == line) & (np.isclose(own["at"], epsilon, rtol=1e-3) | (own["at"] == epsilon))]
            return float(found["value"].iloc[0]) if len(found) else math.nan

        grid = sorted(own[(own["line"] == "privunit") & np.isfinite(own["at"])]["at"].round(6).unique())
        for epsilon in grid:
            out.append(
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
    return pd.DataFrame(out)


def reference_metrics(metrics: Path) -> pd.DataFrame:
    """The kept metrics beside a metrics table, or the table itself where it is the kept one or there is none."""
    places = (folder / "reference" / metrics.name for folder in metrics.parents[:3])  # of a run, or of its study
    return read_metrics(next((kept for kept in places if kept.exists()), metrics))


def draw_line(ax: Axes, rows: pd.DataFrame, text: str, **style: object) -> None:
    """A line of a summary with the range of its seeds, its points alone with `linewidth=0`; no infinite epsilons."""
    rows = rows[np.isfinite(rows["at"].astype(float))].sort_values("at")  # a summary of no rows has no type
    if rows.empty:
        return
    settings = {"linewidth": 1.3, "markersize": 4.0, "markeredgecolor": "white", "markeredgewidth": 0.4, **style}
    ax.plot(rows["at"], rows["value"], label=text, **settings)  # type: ignore[arg-type]
    colour = str(style["color"])
    if settings["linewidth"]:
        ax.fill_between(rows["at"], rows["low"], rows["high"], color=colour, alpha=0.12, linewidth=0)
    else:
        ax.vlines(rows["at"], rows["low"], rows["high"], color=colour, alpha=0.5, linewidth=1.0)
    mark_standing(ax, rows, at="at", colour=colour, marker=str(settings.get("marker", "o")))


def draw_frontier(metrics: pd.DataFrame, reference: pd.DataFrame) -> Figure:
    """One panel a data set: the frontier, the baselines, the papers where they truly lie and where they print to be.

    Args:
        metrics: the table with the study's rows.
        reference: the table with the papers' studies.

    Raises:
        InputError: if the first has no rows of the study.
    """
    use_style()
    rows, papers = frontier_rows(metrics), paper_rows(reference)
    datasets = ordered(rows["dataset"])
    figure, axes = plt.subplots(
        1, len(datasets), figsize=(1.0 + 3.6 * len(datasets), 4.1), sharey=True, squeeze=False, layout="constrained"
    )
    for ax, dataset in zip(axes[0], datasets, strict=True):
        _panel(ax, rows[rows["dataset"] == dataset], papers[papers["dataset"] == dataset], str(dataset))
    axes[0][0].set_ylabel("accuracy on test records")
    handles: dict[str, Artist] = {}
    for ax in axes[0]:
        for handle, text in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(text, handle)
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=4, frameon=False, fontsize=7)
    return figure


NAMED = "public data alone (without labels: clusters named by test labels)"


def draw_public(ax: Axes, rows: pd.DataFrame, text: str = NAMED) -> None:
    """A grey dotted line at what public data alone give, where rows of `frontier_rows` have it."""
    only = rows[rows["line"] == "none control=public"]["value"]
    if len(only):
        ax.axhline(only.mean(), color="#AAAAAA", linewidth=1.0, linestyle=(0, (1, 2)), label=text)


def _panel(ax: Axes, rows: pd.DataFrame, papers: pd.DataFrame, dataset: str) -> None:
    clean = rows[(rows["line"] == NO_PRIVACY)]["value"]
    if len(clean):
        ax.axhline(clean.mean(), color="#555555", linewidth=1.0, linestyle=(0, (4, 2)), label="no privacy")
    free = rows[rows["line"] == "none learner=logistic"]["value"]
    if len(free):
        dashes = (0, (6, 2, 1, 2))
        ax.axhline(
            free.mean(), color="#555555", linewidth=0.8, linestyle=dashes, label="no privacy, logistic regression"
        )
    draw_public(ax, rows)
    finite = rows[np.isfinite(rows["at"])]
    best = finite[finite["line"] == "privunit"]
    draw_line(ax, best, "PrivUnit on a public representation", color="#0072B2", marker="o", linewidth=2.2)
    private = finite[finite["line"] == "privunit private=record"]
    draw_line(ax, private, "the same, label private too", color="#0072B2", marker="s", linestyle=(0, (4, 1.5)))
    others = [name for name in order(set(finite["line"])) if " " not in name and name not in ("privunit", NO_PRIVACY)]
    for name in others:
        look = appearance(name)
        style = {"color": look["color"], "marker": look["marker"], "linewidth": 0.8, "markersize": 3.0, "alpha": 0.75}
        draw_line(ax, finite[finite["line"] == name], f"{label(name)}, same pipeline", **style)
    answers = finite[finite["line"] == "k-rr private=answer"]
    draw_line(
        ax, answers, "private test records: k-RR of the answer", color="#009E73", marker="v", linestyle=(0, (1, 1))
    )
    tested = finite[finite["line"] == "privunit private=test"]
    draw_line(ax, tested, "private test records: PrivUnit", color="#009E73", marker="^", linestyle=(0, (1, 1)))
    if len(answers):
        at = np.geomspace(*RANGE, 200)
        bound = [accuracy_ceiling(float(e), 10) for e in at]
        ax.plot(at, bound, color="#222222", linewidth=0.8, linestyle=":", label="ceiling for private test records")
    for paper, study, _, _, colour in PAPERS:
        here = papers[papers["line"] == paper]
        width = 0.0 if study == FEDERATED else 1.0  # each of its points has settings of its own
        draw_line(ax, here, f"{paper}, at its true epsilon", color=colour, marker="D", linewidth=width)
        printed = [point for point in PRINTED if (point.study, point.dataset) == (study, dataset)]
        if printed:
            ax.plot(
                [point.epsilon for point in printed],
                [point.value for point in printed],
                color=colour,
                marker="D",
                markersize=6,
                markerfacecolor="none",
                linestyle="none",
                label=f"{paper}, as printed",
            )
    ax.set_xscale("log")
    ax.set_xlim(*RANGE)
    if papers.empty:
        note = "no paper's mechanism has been run\nas its paper has it on these records"
        ax.text(0.97, 0.05, note, transform=ax.transAxes, ha="right", fontsize=7, color="#777777")
    ax.set_ylim(0.0, 1.02)
    ax.set_title(dataset)
    ax.set_xlabel("true ε of one record (nats)")


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
