"""Accuracy against the true epsilon of a record, and of a client's whole run: what it buys.

Each drawing is of the metrics table, and raises InputError where the table has no rows of its study.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp_papers.plots.axes import SMALL_EPSILON, decades, epsilons, shares
from tensorldp_papers.plots.comparing import RANGE_SEEDS, Point, is_ahead
from tensorldp_papers.plots.finding import PRINTED_EPSILON, Finding, epsilon_words, first_dataset
from tensorldp_papers.plots.lines import DASHED, draw_level, draw_proposed, shade, with_gaps
from tensorldp_papers.plots.means import finite, read_metrics, study_rows, true_epsilon
from tensorldp_papers.plots.names import dataset_name, in_order, line_name, study_name
from tensorldp_papers.plots.sheets import SMALLEST, TEXT, finish, narrow, panels
from tensorldp_papers.plots.style import PALE, QUIET, label, look, order
from tensorldp_papers.plots.words import listed, percent, short_number

STUDY, FEDERATED = "frontier", "pldp_fl"
RANGE = (0.1, 1e6)  # of every panel: where the papers' mechanisms truly lie
SAME_ACCURACY = 0.01  # of an accuracy that counts as the same
# what each paper proposes, in the study that shows it at its best, with the metric that the paper prints
PAPERS = (
    ("TLDP", "tldp_type1", "tldp-g", "weighted_f1"),
    ("LATENT", "latent", "latent", "accuracy"),
    ("TVG", "tvg_testing", "idn", "accuracy_perturbed_test"),
    ("PLDP-FL", FEDERATED, "pdpm", "accuracy"),
)
PUBLIC_LABELS = {  # what labels public records of each data set
    "digits": "digits of fonts",
    "mnist": "digits of fonts and of other writers",
    "fashion_mnist": "ImageNet's classes for clothes",
    "cifar10": "ImageNet's classes for vehicles and animals",
    "imdb": "words of praise and blame",
}
COLUMNS = ["dataset", "line", "mechanism", "at", "value", "low", "high", "seeds"]


def _named(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows with their line: the mechanism, and what is released or learnt differently from the main arm."""
    lines = [line_name(m, v, ("backbone",)) for m, v in zip(rows["mechanism"], rows["variant"], strict=True)]
    return rows.assign(line=lines)


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Computes mean, lowest and highest value of each data set, line, mechanism and `at`, over the seeds."""
    grouped = rows.groupby(["dataset", "line", "mechanism", "at"], dropna=False)
    table = grouped["value"].agg(value="mean", low="min", high="max", seeds="count")
    if "standing" in rows:
        table["standing"] = grouped["standing"].first()
    return table.reset_index()


def frontier_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """Computes mean, lowest and highest value of each line, data set and true epsilon of the study."""
    rows = study_rows(metrics[metrics["metric"].isin(["accuracy", "accuracy_perturbed_test"])], STUDY)
    return summary(_named(rows).assign(at=true_epsilon(rows)))


def paper_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """Returns the papers' mechanisms as their studies measured them, at their true epsilons; the best variant at each.

    Without a utility subspace TVG's mechanism is not at its best, and its true epsilons lie beside those with one.
    """
    parts = [pd.DataFrame(columns=COLUMNS)]
    metrics = metrics[~metrics["variant"].str.contains("subspace=")]
    for paper, study, mechanism, metric in PAPERS:
        rows = metrics[
            (metrics["study"] == study) & (metrics["mechanism"] == mechanism) & (metrics["metric"] == metric)
        ]
        if len(rows):
            parts.append(_best(rows).assign(line=paper))
    return pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)


def _best(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the best variant of each mechanism at each true epsilon, as in `summary`."""
    table = summary(rows.assign(at=true_epsilon(rows), line=rows["variant"]))
    return table.sort_values("value").groupby(["dataset", "mechanism", "at"], as_index=False).last()


def shuffled_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """Computes what `frontier_rows` does at the central epsilon (delta 1e-6) behind a shuffler, with `local`."""
    rows = metrics[metrics["study"] == STUDY]
    key = ["dataset", "variant", "mechanism", "epsilon", "seed"]
    central = rows[rows["metric"] == "shuffled_epsilon"][[*key, "value"]].rename(columns={"value": "at"})
    both = _named(rows[rows["metric"] == "accuracy"].merge(central, on=key))
    local = both.groupby(["dataset", "line", "mechanism", "at"])["epsilon"].first().rename("local")
    return summary(both).merge(local, on=["dataset", "line", "mechanism", "at"])


def frontier_table(metrics: pd.DataFrame) -> pd.DataFrame:
    """Tabulates data set x true epsilon: PrivUnit's pipeline with public and private labels, beside its controls.

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
                    "with_prior": at("privunit learner=prior", epsilon),
                    "with_prior_labels_private": at("privunit learner=prior private=record", epsilon),
                    "no_privacy": at(NO_PRIVACY, math.inf),
                    "no_privacy_logistic": at("none learner=logistic", math.inf),
                    "public_only": at("none control=public", 0.0),
                    "labels_shuffled": at("privunit control=shuffled", epsilon),
                }
            )
    return pd.DataFrame(table)


def reference_metrics(metrics: Path) -> pd.DataFrame:
    """Returns the kept metrics beside a metrics table, or the table itself if it is the kept one or there is none."""
    places = (folder / "reference" / metrics.name for folder in metrics.parents[:3])  # of a run, or of its study
    return read_metrics(next((kept for kept in places if kept.exists()), metrics))


def draw_line(
    ax: Axes, rows: pd.DataFrame, mechanism: str, text: str, *, marker: str = "", joined: bool = True
) -> None:
    """Draws a line of a summary with the range of its seeds; no infinite epsilons.

    Args:
        ax: where to draw.
        rows: rows of `summary` for one line.
        mechanism: the mechanism whose colour it has.
        text: the line's name.
        marker: one other than the mechanism's.
        joined: whether the points are one line; otherwise each has settings of its own.
    """
    rows = finite(rows).sort_values("at")
    if rows.empty:
        return
    seen = look(mechanism)
    style: dict[str, Any] = {"color": seen.colour, "marker": marker or seen.marker}
    if joined:
        rows = with_gaps(rows.reset_index(drop=True), "at")
        ax.plot(rows["at"], rows["value"], label=text, **style)
        shade(ax, rows["at"], rows["low"], rows["high"], seen.colour)
    else:
        ax.plot(rows["at"], rows["value"], label=text, linestyle="None", **style)
        ax.vlines(rows["at"], rows["low"], rows["high"], color=seen.colour, alpha=0.5, linewidth=1.0)


def draw_frontier(metrics: pd.DataFrame, reference: pd.DataFrame) -> Figure:
    """Draws one panel a data set: PrivUnit on public features, and the papers' mechanisms where they truly lie.

    `reference` is the metrics table with the papers' studies.
    """
    rows, papers = frontier_rows(metrics), paper_rows(reference)
    datasets = in_order(rows["dataset"])
    figure, axes = panels(len(datasets), columns=2, height=2.9, sharey=True)
    epsilons(axes, RANGE, "true ε of one whole record (nats)")
    shares(axes, "accuracy on test records")
    for ax, dataset in zip(axes, datasets, strict=True):
        here = rows[rows["dataset"] == dataset]
        _draw_small(ax)
        draw_level(ax, here[here["line"] == NO_PRIVACY]["value"], "no privacy")
        draw_level(ax, here[here["line"] == "none control=public"]["value"], "public data alone")
        draw_line(ax, here[here["line"] == "privunit"], "privunit", "PrivUnit, public features")
        draw_line(ax, here[here["line"] == "privunit learner=prior"], "privunit", "_", marker="s")
        for paper, study, mechanism, metric in PAPERS:
            own = papers[(papers["dataset"] == dataset) & (papers["line"] == paper)]
            draw_line(ax, own, mechanism, paper, joined=study != FEDERATED)
            draw_proposed(ax, study, dataset, metric, f"printed by {paper}")
        ax.set_title(dataset_name(dataset))
    note = "Each paper's mechanism as its paper has it, its best setting at each true ε. Bands: lowest to highest seed."
    if (rows["line"] == "privunit learner=prior").any():
        note += " Squares: PrivUnit, and labels that public data give."
    if (rows["line"] == "none control=public").any():
        note += f" Public data alone: {listed([PUBLIC_LABELS[name] for name in datasets if name in PUBLIC_LABELS])}."
    return finish(figure, _answer(rows, papers), datasets=datasets, note=note, source="What a true ε buys")


def _draw_small(ax: Axes) -> None:
    """Draws the band of epsilons up to `SMALL_EPSILON`, which says so."""
    ax.axvspan(ax.get_xlim()[0], SMALL_EPSILON, color=PALE, alpha=0.55, linewidth=0, zorder=0)
    place: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "fontsize": SMALLEST, "color": QUIET}
    ax.text(SMALL_EPSILON * 0.9, 0.015, f"ε up to {SMALL_EPSILON:g}", ha="right", va="bottom", **place)


def _answer(rows: pd.DataFrame, papers: pd.DataFrame) -> str:
    """Returns the title: below which true epsilon papers' mechanisms score less than PrivUnit at a small one.

    Less is a range over seeds below PrivUnit's, and what scores less at a larger epsilon does so at one epsilon. The
    title covers the data sets on which PrivUnit's range is above public data alone.
    """
    needed: dict[str, float] = {}
    for dataset in in_order(rows["dataset"]):
        here = rows[rows["dataset"] == dataset]
        private = (
            here[(here["line"] == "privunit") & (here["at"] <= SMALL_EPSILON * 1.001)].sort_values("value").tail(1)
        )
        public = here[here["line"] == "none control=public"]["high"].max()
        own = finite(papers[papers["dataset"] == dataset])
        if private.empty or int(private["seeds"].iloc[0]) < RANGE_SEEDS:
            continue
        as_well = own[own["high"] >= float(private["low"].iloc[0])]["at"]
        if len(as_well) and not float(private["low"].iloc[0]) <= public:
            needed[dataset_name(dataset)] = float(as_well.min())
    if not needed:
        return "Accuracy at the true ε of one record"
    least = short_number(min(needed.values()))
    what = f"what papers' mechanisms need {least} or more for ({listed([*needed])})"
    return f"ε ≤ {SMALL_EPSILON:g} on public features buys {what}"


def draw_mechanisms(metrics: pd.DataFrame) -> Figure:
    """Draws a dot for each mechanism in the same pipeline, at a true epsilon of 1: one panel a data set.

    Data sets with a single mechanism have no panel if others have more.
    """
    rows = frontier_rows(metrics)
    at = rows[np.isclose(rows["at"].astype(float), 1.0, rtol=0.02) & ~rows["line"].str.contains(" ")]
    counts = at.groupby("dataset")["line"].nunique()
    datasets = in_order(counts[counts > min(1, counts.max() - 1)].index) or in_order(rows["dataset"])
    names = order(set(at["line"]))[::-1]
    figure, axes = panels(len(datasets), columns=3, height=0.3 * max(len(names), 2) + 1.0, sharey=True)
    best: dict[str, str] = {}
    for ax, dataset in zip(axes, datasets, strict=True):
        here = at[at["dataset"] == dataset].set_index("line")
        for i, name in enumerate(names):
            if name in here.index:
                row, seen = here.loc[name], look(name)
                ax.plot([row["low"], row["high"]], [i, i], color=seen.colour, linewidth=4, alpha=0.35)
                ax.plot(row["value"], i, color=seen.colour, marker=seen.marker, markersize=8)
                ax.text(1.04, i, f"{row['value']:.2f}", fontsize=TEXT, va="center", color=seen.colour)
        levels = rows[rows["dataset"] == dataset].groupby("line")["value"].mean()
        for line, text, row_of in (
            (NO_PRIVACY, "no privacy", 0.55),
            ("none control=public", "public data alone", 0.0),
        ):
            if line in levels:
                ax.axvline(levels[line], color=QUIET, linewidth=1.1, linestyle=DASHED, zorder=0)
                left = levels[line] > 0.6
                side: dict[str, Any] = {"va": "bottom", "fontsize": SMALLEST, "color": QUIET}
                place = (levels[line] + (-0.02 if left else 0.02), len(names) - 0.4 + row_of)
                ax.text(*place, text, ha="right" if left else "left", **side)
        found = {str(name): [_point(row)] for name, row in here.iterrows()}
        best |= {dataset_name(dataset): name for name in found if is_ahead(found, name, 0.0)}
        ax.set(xlim=(0, 1.02), ylim=(-0.6, max(len(names), 1) + 0.8), xlabel="accuracy on test records")
        ax.set_xticks([0, 0.25, 0.5, 0.75, 1.0], ["0", "0.25", "0.5", "0.75", "1"])
        ax.set_yticks(range(len(names)), [label(name) for name in names])
        ax.set_title(dataset_name(dataset))
        ax.grid(axis="y", visible=False)
        ax.tick_params(labelleft=ax is axes[0] or narrow())
    title = "The same pipeline at a true ε of 1"
    if len(set(best.values())) == 1:
        title += f": {label(next(iter(best.values())))} is best on {listed([*best])}"
    return finish(figure, title, source="What a true ε buys", datasets=datasets, names=False)


def _point(row: pd.Series) -> Point:
    return Point(row["at"], row["value"], row["low"], row["high"], row["seeds"])


def draw_shuffled(metrics: pd.DataFrame) -> Figure:
    """Draws accuracy against the central epsilon that a trusted shuffler adds: another trust model, another figure."""
    rows = shuffled_rows(metrics)
    datasets = in_order(rows["dataset"]) or [""]
    figure, axes = panels(len(datasets), columns=2, height=2.6, sharey=True)
    decades(axes, rows["at"], "central ε behind a trusted shuffler (nats, δ = 1e-6)")
    shares(axes, "accuracy on test records")
    for ax, dataset in zip(axes, datasets, strict=True):
        here = rows[rows["dataset"] == dataset]
        draw_line(ax, here[here["line"] == "privunit"], "privunit", "labels public")
        draw_line(ax, here[here["line"] == "privunit private=record"], "privunit", "labels private", marker="s")
        ax.set_title(dataset_name(dataset))
    title = "Accuracy at the central ε behind a trusted shuffler"
    if len(rows) and (rows["at"] < rows["local"]).all():
        most = short_number(float((rows["local"] / rows["at"]).max()))
        title = f"Behind a trusted shuffler the same releases have an ε that is smaller by a factor of up to {most}"
    note = "PrivUnit. Where labels are public, only the releases of one label hide among each other."
    return finish(figure, title, source="What a true ε buys", datasets=filter(None, datasets), note=note)


CLIENTS = (  # line, name, marker
    ("privunit private=client", "PrivUnit, one upload", "D"),
    ("privunit private=client rounds=5", "PrivUnit, five uploads", "s"),
    ("pdpm private=client", "PDPM, one upload", "o"),
)
NETWORKS = (("privunit", "PrivUnit, whole network", "^"), ("pdpm", "PDPM, whole network", "v"))


def network_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """Returns PLDP-FL's runs at the guarantee of the weakest client's whole run, the best variant at each."""
    rows = metrics[
        (metrics["study"] == FEDERATED)
        & (metrics["metric"] == "accuracy")
        & metrics["mechanism"].isin([name for name, *_ in NETWORKS])
    ]
    return _best(rows)


def draw_clients(metrics: pd.DataFrame, reference: pd.DataFrame) -> Figure:
    """Draws one panel a data set; PLDP-FL's runs are the run's own, or else the kept ones.

    `reference` is the metrics table with PLDP-FL's study.
    """
    rows = frontier_rows(metrics)
    clients = rows[rows["line"].str.contains("private=client")]
    networks = network_rows(metrics if (metrics["study"] == FEDERATED).any() else reference)
    datasets = in_order(clients["dataset"]) or [""]
    networks = networks[networks["dataset"].isin(datasets)]
    figure, axes = panels(len(datasets), columns=2, height=3.6, sharey=True)
    epsilons(axes, [0.1, *clients["at"], *networks["at"]], "true ε of a client over the whole run (nats, pure)")
    shares(axes, "accuracy on test records")
    for ax, dataset in zip(axes, datasets, strict=True):
        here = clients[clients["dataset"] == dataset]
        _draw_small(ax)
        draw_level(ax, here[here["mechanism"] == NO_PRIVACY]["value"], "no privacy, one upload")
        public = rows[(rows["dataset"] == dataset) & (rows["line"] == "none control=public")]["value"]
        draw_level(ax, public, "public data alone")
        for line, text, marker in CLIENTS:
            draw_line(ax, here[here["line"] == line], line.split(" ")[0], text, marker=marker)
        for name, text, marker in NETWORKS:
            points = networks[(networks["dataset"] == dataset) & (networks["mechanism"] == name)]
            draw_line(ax, points, name, text, marker=marker, joined=False)
        ax.set_title(dataset_name(dataset))
    title = "Accuracy at the true ε of one client"
    once = finite(clients[clients["line"] == CLIENTS[0][0]])
    if len(once) and len(networks):
        best = once.sort_values("value").iloc[-1]
        first = networks[networks["value"] >= networks["value"].max() - SAME_ACCURACY].sort_values("at").iloc[0]
        title = (
            f"One upload of a linear model: {percent(best['value'])} at ε = {short_number(best['at'])}. "
            f"A whole network: {percent(first['value'])} at {short_number(first['at'])}"
        )
    note = (
        "Uploads: a linear model on public features. Whole network: PLDP-FL's own training, the best setting at each ε."
    )
    return finish(figure, title, source="What a true ε buys", datasets=filter(None, datasets), note=note)


def findings(metrics: pd.DataFrame) -> list[Finding]:
    """Returns what the best known randomizer gives at a true epsilon of about 1."""
    rows = metrics[metrics["study"] == STUDY]
    if not (rows["mechanism"] != NO_PRIVACY).any():
        return []
    table = frontier_table(rows)
    table = table[table["labels_public"].notna()] if len(table) else table
    if table.empty:
        return []
    table = table[table["dataset"] == (dataset := first_dataset(table))]
    best = table.iloc[(np.log(table["epsilon"] / PRINTED_EPSILON)).abs().argmin()]
    before = f"At a true ε of {epsilon_words(float(best['epsilon']))}, {label('privunit')} on public features reaches "
    after = f" accuracy on {dataset_name(dataset)}."
    return [Finding(before, percent(best["labels_public"]), after, STUDY, study_name(STUDY))]
