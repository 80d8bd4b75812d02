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
from tensorldp_papers.plots.comparing import RANGE_SEEDS
from tensorldp_papers.plots.finding import PRINTED_EPSILON, Finding, epsilon_words, first_dataset
from tensorldp_papers.plots.heat import draw_heat
from tensorldp_papers.plots.lines import WIDEST_GAP, draw_chance, draw_level, draw_mechanism, draw_proposed
from tensorldp_papers.plots.means import finite, read_metrics, study_rows, true_epsilon
from tensorldp_papers.plots.names import dataset_name, in_order, line_name, study_name
from tensorldp_papers.plots.sheets import SMALLEST, finish, panels
from tensorldp_papers.plots.style import PALE, QUIET, label
from tensorldp_papers.plots.words import listed, percent, short_number

STUDY, FEDERATED = "frontier", "pldp_fl"
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
SEEDS = "Bands and bars: lowest to highest seed."


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


def frontier_seeds(metrics: pd.DataFrame) -> pd.DataFrame:
    """Returns the study's accuracies with their `line` and true epsilon `at`, a row for each seed."""
    rows = study_rows(metrics[metrics["metric"].isin(["accuracy", "accuracy_perturbed_test"])], STUDY)
    return _named(rows).assign(at=true_epsilon(rows))


def frontier_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """Computes mean, lowest and highest value of each line, data set and true epsilon of the study."""
    return summary(frontier_seeds(metrics))


def paper_seeds(metrics: pd.DataFrame) -> pd.DataFrame:
    """Returns the papers' mechanisms as their studies measured them, at their true epsilons; the best variant at each.

    Without a utility subspace TVG's mechanism is not at its best, and its true epsilons lie beside those with one.
    """
    parts = [metrics[:0].assign(at=math.nan, line="")]
    metrics = metrics[~metrics["variant"].str.contains("subspace=")]
    for paper, study, mechanism, metric in PAPERS:
        rows = metrics[
            (metrics["study"] == study) & (metrics["mechanism"] == mechanism) & (metrics["metric"] == metric)
        ]
        if len(rows):
            parts.append(_best(rows).assign(line=paper))
    return pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)


def paper_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """Computes mean, lowest and highest value of each of these, data set and true epsilon."""
    return summary(paper_seeds(metrics))


def _best(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of the best variant of each mechanism at each true epsilon `at`, which is their line."""
    rows = rows.assign(at=true_epsilon(rows), line=rows["variant"])
    place = ["dataset", "mechanism", "at"]
    best = summary(rows).sort_values("value").groupby(place, as_index=False).last()
    return rows.merge(best[[*place, "line"]], on=[*place, "line"])


def shuffled_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """Returns the study's accuracies with `line` and the central epsilon (delta 1e-6) behind a shuffler as `at`."""
    rows = metrics[metrics["study"] == STUDY]
    key = ["dataset", "variant", "mechanism", "epsilon", "seed"]
    central = rows[rows["metric"] == "shuffled_epsilon"][[*key, "value"]].rename(columns={"value": "at"})
    return _named(rows[rows["metric"] == "accuracy"].merge(central, on=key))


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


def draw_frontier(metrics: pd.DataFrame, reference: pd.DataFrame) -> Figure:
    """Draws one panel a data set: PrivUnit on public features, and the papers' mechanisms where they truly lie.

    `reference` is the metrics table with the papers' studies.
    """
    rows, papers = frontier_seeds(metrics), paper_seeds(reference)
    datasets = in_order(rows["dataset"])
    papers = papers[papers["dataset"].isin(datasets)]
    drawn = pd.concat([rows[rows["line"].isin(["privunit", "privunit learner=prior"])], papers])
    figure, axes = panels(len(datasets), columns=2, height=2.9, sharey=True)
    shares(axes, "accuracy on test records")
    for ax, dataset in zip(axes, datasets, strict=True):
        here = rows[rows["dataset"] == dataset]
        epsilons(
            ax, [SMALL_EPSILON, *finite(drawn[drawn["dataset"] == dataset])["at"]], "true ε of one whole record (nats)"
        )
        _draw_small(ax)
        draw_level(ax, here[here["line"] == NO_PRIVACY]["value"], "no privacy")
        draw_level(ax, here[here["line"] == "none control=public"]["value"], "public data alone")
        draw_chance(ax, here)
        own = here[here["line"] == "privunit"]
        draw_mechanism(ax, own, "privunit", text="PrivUnit" if _is_plain(own) else "PrivUnit, public features")
        draw_mechanism(ax, here[here["line"] == "privunit learner=prior"], "privunit", text="_", marker="s")
        for paper, study, mechanism, metric in PAPERS:
            own = papers[(papers["dataset"] == dataset) & (papers["line"] == paper)]
            draw_mechanism(ax, own, mechanism, text=paper, widest=1.0 if study == FEDERATED else WIDEST_GAP)
            draw_proposed(ax, study, dataset, metric, f"printed by {paper}")
        ax.set_title(dataset_name(dataset))
    notes = ["Each paper's mechanism as its paper has it, its best setting at each true ε."] if len(papers) else []
    notes.append(SEEDS)
    if (rows["line"] == "privunit learner=prior").any():
        notes.append("Squares: PrivUnit, and labels that public data give.")
    if (rows["line"] == "none control=public").any():
        notes.append(f"Public data alone: {listed([PUBLIC_LABELS[n] for n in datasets if n in PUBLIC_LABELS])}.")
    title = _answer(summary(rows), summary(papers))
    return finish(figure, title, datasets=datasets, note=" ".join(notes), source="What a true ε buys")


def _is_plain(rows: pd.DataFrame) -> bool:
    """Returns whether rows are of a table as it is, without features that public data give."""
    return bool(rows["variant"].str.contains("backbone=columns").any())


def _draw_small(ax: Axes) -> None:
    """Draws the band of epsilons up to `SMALL_EPSILON`, which says so where it has room."""
    ax.axvspan(ax.get_xlim()[0], SMALL_EPSILON, color=PALE, alpha=0.55, linewidth=0, zorder=0)
    place: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "fontsize": SMALLEST, "color": QUIET}
    if ax.get_xlim()[0] < SMALL_EPSILON / 5:
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
    """Draws which mechanism needs the least epsilon in the same pipeline, see `draw_heat`."""
    rows = frontier_seeds(metrics)
    public = rows[rows["line"] == "none control=public"].groupby("dataset")["value"].mean()
    rows = rows[~rows["line"].str.contains(" ")]
    levels = [f"{percent(public[name])} on {dataset_name(name)}" for name in in_order(public.index)]
    note = f"Public data alone: {listed(levels)}." if levels else ""
    return draw_heat(rows, "accuracy", "whole record", source="What a true ε buys", note=note)


def draw_shuffled(metrics: pd.DataFrame) -> Figure:
    """Draws accuracy against the central epsilon that a trusted shuffler adds: another trust model, another figure."""
    rows = shuffled_rows(metrics)
    datasets = in_order(rows["dataset"]) or [""]
    figure, axes = panels(len(datasets), columns=2, height=2.6, sharey=True)
    decades(axes, [*rows["at"], *rows["epsilon"]], "ε behind a trusted shuffler (nats, δ = 1e-6), or local ε")
    shares(axes, "accuracy on test records")
    for ax, dataset in zip(axes, datasets, strict=True):
        here = rows[rows["dataset"] == dataset]
        public, private = (here[here["line"] == line] for line in ("privunit", "privunit private=record"))
        draw_mechanism(ax, public, "privunit", text="labels public")
        draw_mechanism(ax, private, "privunit", text="labels private", marker="s")
        draw_mechanism(ax, public, "privunit", at="epsilon", text="without a shuffler", marker="^")
        draw_chance(ax, here)
        ax.set_title(dataset_name(dataset))
    title = "Accuracy at the central ε behind a trusted shuffler"
    if len(rows) and (rows["at"] < rows["epsilon"]).all():
        most = short_number(float((rows["epsilon"] / rows["at"]).max()))
        title = f"Behind a trusted shuffler the same releases have an ε that is smaller by a factor of up to {most}"
    note = "PrivUnit. Where labels are public, only the releases of one label hide among each other."
    return finish(figure, title, source="What a true ε buys", datasets=filter(None, datasets), note=note)


CLIENTS = (  # line, name, marker
    ("privunit private=client", "PrivUnit, one upload", "D"),
    ("privunit private=client rounds=5", "PrivUnit, five uploads", "s"),
    ("pdpm private=client", "PDPM, one upload", "o"),
)
NETWORKS = (("privunit", "PrivUnit, whole network", "^"), ("pdpm", "PDPM, whole network", "v"))


def network_seeds(metrics: pd.DataFrame) -> pd.DataFrame:
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
    rows = frontier_seeds(metrics)
    clients = rows[rows["line"].str.contains("private=client")]
    networks = network_seeds(metrics if (metrics["study"] == FEDERATED).any() else reference)
    datasets = in_order(clients["dataset"]) or [""]
    networks = networks[networks["dataset"].isin(datasets)]
    figure, axes = panels(len(datasets), columns=2, height=3.6, sharey=True)
    shares(axes, "accuracy on test records")
    for ax, dataset in zip(axes, datasets, strict=True):
        here, beside = clients[clients["dataset"] == dataset], networks[networks["dataset"] == dataset]
        places = [*finite(here)["at"], *finite(beside)["at"]]
        epsilons(ax, [SMALL_EPSILON, *places], "true ε of a client over the whole run (nats, pure)")
        _draw_small(ax)
        draw_level(ax, here[here["mechanism"] == NO_PRIVACY]["value"], "no privacy, one upload")
        public = rows[(rows["dataset"] == dataset) & (rows["line"] == "none control=public")]["value"]
        draw_level(ax, public, "public data alone")
        for line, text, marker in CLIENTS:
            draw_mechanism(ax, here[here["line"] == line], line.split(" ")[0], text=text, marker=marker)
        for name, text, marker in NETWORKS:
            draw_mechanism(ax, beside[beside["mechanism"] == name], name, text=text, marker=marker, widest=1.0)
        draw_chance(ax, here)
        ax.set_title(dataset_name(dataset))
    title = "Accuracy at the true ε of one client"
    once, whole = finite(summary(clients[clients["line"] == CLIENTS[0][0]])), summary(networks)
    notes = ["Uploads: a linear model on public features.", SEEDS]
    if len(networks):
        notes.append("Whole network: PLDP-FL's own training, the best setting at each ε.")
    if len(once) and len(networks):
        best = once.sort_values("value").iloc[-1]
        first = whole[whole["value"] >= whole["value"].max() - SAME_ACCURACY].sort_values("at").iloc[0]
        title = (
            f"One upload of a linear model: {percent(best['value'])} at ε = {short_number(best['at'])}. "
            f"A whole network: {percent(first['value'])} at {short_number(first['at'])}"
        )
    return finish(figure, title, source="What a true ε buys", datasets=filter(None, datasets), note=" ".join(notes))


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
    features = "" if _is_plain(rows[rows["dataset"] == dataset]) else " on public features"
    best = table.iloc[(np.log(table["epsilon"] / PRINTED_EPSILON)).abs().argmin()]
    before = f"At a true ε of {epsilon_words(float(best['epsilon']))}, {label('privunit')}{features} reaches "
    after = f" accuracy on {dataset_name(dataset)}."
    return [Finding(before, percent(best["labels_public"]), after, STUDY, study_name(STUDY))]
