"""LATENT's Figures 7 to 10 and Table 2 under both readings of its probability, with ceilings and true guarantees."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from tensorldp.errors import InputError
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp.mechanisms import Box
from tensorldp.mechanisms.bits import mean_errors
from tensorldp.mechanisms.latent import Latent
from tensorldp.privacy import clean_test_ceiling
from tensorldp_papers.plots.lines import draw_band, draw_level, mark_standing, shade
from tensorldp_papers.plots.means import Axis, finite, over_seeds, placed, study_rows
from tensorldp_papers.plots.panels import grid, head, side_legend
from tensorldp_papers.plots.printed import PrintedPoint, printed_points
from tensorldp_papers.plots.style import (
    BLUE,
    DOTTED,
    GREEN,
    GREY,
    INK,
    PINK,
    PLAIN,
    QUIET,
    SHORT_DASHED,
    SKY,
    VERMILION,
    label,
)
from tensorldp_papers.plots.words import epsilon_label, whole_number
from tensorldp_papers.run.cell import variant_factors

STUDY = "latent"
CLAIMED = PINK  # ceilings, and what the paper claims
CLEAN, RELEASED, TRAINING = "accuracy", "accuracy_perturbed_test", "train_accuracy"
READINGS = {"A": "reading A", "B": "reading B", "B altered": "reading B, altered images too"}
READING_COLOURS = {"A": VERMILION, "B": BLUE}
LARGEST_NOMINAL = 10.0  # Figure 10 ends there
TESTS = {CLEAN: "clean test records", RELEASED: "released test records"}
# line: colour, marker, dashes; Wong 2011
LOOKS: dict[str, tuple[str, str, tuple[float, ...]]] = {
    "cnn": (INK, "", (4, 2)),
    "ann": (QUIET, "", (1, 1)),
    "A": (READING_COLOURS["A"], "o", ()),
    "B": (READING_COLOURS["B"], "s", ()),
    "ann altered": (QUIET, "", (4, 1, 1, 1)),
    "B altered": (SKY, "D", ()),
    "centroid": (GREEN, "^", ()),
    "centroid none": (GREEN, "", (1, 1)),
}
CURVES = {  # of Figures 8 and 9: colour, marker, words
    TRAINING: (GREY, "D", "training (released records, while training)"),
    CLEAN: (GREEN, "o", TESTS[CLEAN]),
    RELEASED: (SKY, "s", TESTS[RELEASED]),
}
STRINGS = {"MNIST": (9216, 4, 5), "CIFAR-10": (2304, 2, 7)}  # values of a record; bits before and after the point
CODE_BITS = 10  # of one value, in both


def latent_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """The study's rows with `projections` and `line`, the key of `LOOKS`.

    Permuted labels are left out.

    Raises:
        InputError: if there are none.
    """
    rows = study_rows(metrics, STUDY)
    split = [variant_factors(variant) for variant in rows["variant"]]
    rows["projections"] = [f.get("features", "") for f in split]
    rows["line"] = [_line(f, mechanism) for f, mechanism in zip(split, rows["mechanism"], strict=True)]
    return rows[["labels" not in f for f in split]]


def _line(factors: dict[str, str], mechanism: str) -> str:
    """The reading of LATENT, else the network, and whether it learned from altered images besides."""
    plain = mechanism == NO_PRIVACY
    name = factors.get("model", "") if plain else factors.get("reading", factors.get("model", ""))
    ending = " none" if plain and name == "centroid" else " altered" if "augment" in factors else ""
    return name + ending


def draw_accuracy(metrics: pd.DataFrame, *, axis: Axis = "nominal", title: str = "") -> Figure:
    """Figure 10: one row of panels per data set, on clean and on released test records.

    Raises:
        InputError: if the table has no rows of the study.
    """
    every = placed(latent_rows(metrics), axis)
    rows = every[every["metric"].isin(list(TESTS))]
    if axis == "nominal":
        rows = rows[(rows["epsilon"] <= LARGEST_NOMINAL) | np.isinf(rows["epsilon"])]
    datasets = sorted(set(rows["dataset"]))
    figure, axes = grid(len(datasets), 2, (11.2, 3.6 * len(datasets) + 0.5), sharey=True)
    for line_of_axes, dataset in zip(axes, datasets, strict=True):
        here = every[every["dataset"] == dataset]
        for ax, (metric, where) in zip(line_of_axes, TESTS.items(), strict=True):
            part = rows[(rows["dataset"] == dataset) & (rows["metric"] == metric)]
            for line in LOOKS:
                points = part[part["line"] == line]
                if len(points):
                    _draw(ax, points, line, line_label(points, line, f", {dataset}" if len(datasets) > 1 else ""))
            _draw_ceiling(ax, here, metric, finite(part)["at"])
            claimed = [p for p in printed_points(STUDY, dataset, CLEAN) if p.proposed]
            if axis == "nominal" and claimed:
                at, value = [p.epsilon for p in claimed], [p.value for p in claimed]
                ax.scatter(at, value, marker="*", s=70, color=CLAIMED, zorder=4, label="LATENT, Table 2 (test)")
            ax.set_xscale("log")
            if axis == "nominal":
                ax.set_xticks(sorted(e for e in set(part["epsilon"]) if e <= LARGEST_NOMINAL))
                ax.xaxis.set_major_formatter("{x:g}")
                ax.xaxis.set_minor_locator(NullLocator())
            ax.set_ylim(-0.02, 1.04)
            ax.set_title(f"{dataset}: {where}", fontsize=9)
    head(figure, title, rows["dataset"], epsilon_label(axis, "record", of=" of the whole record"), "accuracy")
    side_legend(figure, axes, loc="outside right center", fontsize=8.5)
    return figure


def line_label(part: pd.DataFrame, line: str, where: str = "") -> str:
    """How a line is called in the legend, with its true epsilon; `where` is put behind names whose epsilon varies."""
    if line == "cnn":
        return "NPCNN: no privacy"
    altered = ", altered images too" if line.endswith(" altered") else ""
    if line.startswith("ann"):
        return f"ANN on all bits (p = 1){altered}: no privacy"
    if line == "centroid none":
        return "class means of projections: no privacy"
    if line == "A":
        return "LATENT, reading A: true ε = nominal ε"
    if line.startswith("B"):
        low, high = part["guarantee_pure_epsilon"].min(), part["guarantee_epsilon"].min()
        return f"LATENT, reading B{altered}{where}: true ε ≥ {whole_number(low)}\n({whole_number(high)} at δ = 1e-5)"
    size = part["projections"].iloc[0]
    return f"{label(part['mechanism'].iloc[0])} on {size} projections of\nthe same features: true ε = nominal ε"


def _draw(ax: Axes, part: pd.DataFrame, line: str, text: str) -> None:
    colour, marker, dashes = LOOKS[line]
    if np.isinf(part["epsilon"]).all():
        draw_level(ax, part["value"], text, colour, linewidth=1.1, linestyle=(0, dashes), zorder=1)
        return
    draw_band(ax, over_seeds(finite(part), "at"), "at", colour=colour, text=text, marker=marker)
    mark_standing(ax, part, at="at", colour=colour, marker=marker)


def _fact(rows: pd.DataFrame, metric: str, line: str | None = None) -> float:
    values = rows[(rows["metric"] == metric) & ((rows["line"] == line) if line else True)]["value"]
    return float(values.iloc[0]) if len(values) else math.nan


def _ceiling(rows: pd.DataFrame, metric: str) -> tuple[str, Callable[[float], float]] | None:
    """What no classifier can exceed at a record's epsilon, from the study's own sizes; None where it is unknown."""
    share = _fact(rows, "largest_class")
    if metric == RELEASED:
        odds = (1.0 - share) / share
        return "ceiling for ε-LDP test records", lambda e: 1.0 / (1.0 + odds * math.exp(-min(e, 700.0)))
    bits, records = _fact(rows, "string_bits"), _fact(rows, "train_records", "A")
    if math.isnan(bits) or math.isnan(records):
        return None
    box = Box(-1.0, 1.0, (int(bits) // 2,))  # only the number of bits matters: codes of two

    def bound(epsilon: float) -> float:
        code = Latent(epsilon=epsilon, domain=box, whole=0, fraction=1)
        return clean_test_ceiling(int(records), code.information, share)

    return "ceiling for reading A alone", bound


def _draw_ceiling(ax: Axes, here: pd.DataFrame, metric: str, at: pd.Series) -> None:
    ceiling = _ceiling(here, metric)
    if ceiling is None or at.empty:
        return
    text, bound = ceiling
    fine = np.geomspace(at.min(), at.max(), 120)
    values = np.array([bound(float(e)) for e in fine])
    ax.plot(fine, values, color=CLAIMED, linewidth=1.3, linestyle=(0, (6, 2)) if metric == CLEAN else "-", label=text)
    if metric == RELEASED:  # binds every mechanism, the other one reading A alone
        shade(ax, fine, values, 1.04, CLAIMED, 0.10)


def epoch_table(metrics: pd.DataFrame) -> pd.DataFrame:
    """Figures 8 and 9's numbers at the smallest epsilon of each data set: dataset, line, curve, epoch, value, seed."""
    rows = latent_rows(metrics)
    rows = rows[rows["line"].isin(list(READINGS))]
    rows = rows[rows["metric"].str.endswith("_by_epoch")]
    rows = rows.assign(curve=rows["metric"].str.removesuffix("_by_epoch"))
    rows = rows[rows["epsilon"] == rows.groupby("dataset")["epsilon"].transform("min")]
    columns = ["dataset", "line", "epsilon", "curve", "epoch", "value", "seed"]
    return rows.assign(epoch=rows["epoch"].astype(int))[columns]


def draw_epochs(metrics: pd.DataFrame, *, title: str = "") -> Figure:
    """Figures 8 and 9: one panel per data set and reading, and of networks that learned from altered images too.

    Raises:
        InputError: if no model was scored at more than one epoch.
    """
    table = epoch_table(metrics)
    if table.empty:
        raise InputError("no model of study latent was scored by epoch: set checkpoints above 1 in its training")
    datasets = sorted(set(table["dataset"]))
    lines = [line for line in READINGS if line != "B altered" or line in set(table["line"])]
    size = (2.4 + 4.1 * len(lines), 3.2 * len(datasets) + 0.5)
    figure, axes = grid(len(datasets), len(lines), size, sharey=True)
    for line_of_axes, dataset in zip(axes, datasets, strict=True):
        for ax, line in zip(line_of_axes, lines, strict=True):
            part = table[(table["dataset"] == dataset) & (table["line"] == line)]
            if part.empty:
                ax.set_visible(False)
                continue
            for curve, (colour, marker, text) in CURVES.items():
                means = over_seeds(part[part["curve"] == curve], "epoch")
                draw_band(ax, means, "epoch", colour=colour, text=text, marker=marker, **PLAIN | {"markersize": 4})
            ax.set_title(f"{dataset}: {READINGS[line]}, nominal ε = {part['epsilon'].iloc[0]:g}", fontsize=9)
            ax.set_ylim(-0.02, 1.04)
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    head(figure, title, table["dataset"], "epoch of the ANN module", "accuracy")
    side_legend(figure, axes, loc="outside right center", fontsize=8.5)
    return figure


def draw_probability(title: str = "") -> Figure:
    """Left, the probability that a released bit is true; right, the error of estimation, for values of 10 bits."""
    figure, ((left, right),) = grid(1, 2, (11.0, 4.4))
    epsilons = np.geomspace(0.1, 1e6, 80)
    for line, (name, (size, n, m)) in zip(("-", SHORT_DASHED), STRINGS.items(), strict=True):
        for reading, colour in READING_COLOURS.items():
            box = Box(-(2.0**n), 2.0**n, (size,))
            true = [
                1.0 - Latent(epsilon=float(e), domain=box, whole=n, fraction=m, reading=reading).flip  # type: ignore[arg-type]
                for e in epsilons
            ]
            what = "A: p" if reading == "A" else "B: (1 + p) / 2"
            left.plot(epsilons, true, color=colour, linestyle=line, linewidth=1.4, label=f"{name}, {what}")
    left.axvspan(epsilons[0], 10.0, color=INK, alpha=0.06, linewidth=0)
    left.text(1.0, 0.93, "the paper's ε", ha="center", fontsize=8.5)
    left.set_xscale("log")
    left.set_ylim(0.48, 1.02)
    left.set_xlabel("nominal ε of one record (nats)")
    left.set_ylabel("probability that a released bit is true")
    probabilities = np.linspace(0.5, 1.0, 26)[1:]
    for reading, colour in READING_COLOURS.items():
        pairs = np.array([mean_errors(CODE_BITS, float(p), reading) for p in probabilities])  # type: ignore[arg-type]
        style: dict[str, Any] = {"color": colour, "linewidth": 1.4}
        right.plot(probabilities, pairs[:, 1], label=f"reading {reading}: true error |x' - x|", **style)
        text = f"reading {reading}: estimated by Eq. 15"
        right.plot(probabilities, pairs[:, 0], label=text, linestyle=DOTTED, **style)
    right.set_xlabel("probability of randomization p")
    right.set_ylabel("mean error of a 10-bit value (last bits)")
    for ax in (left, right):
        ax.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    head(figure, title, ())
    return figure


EPSILONS = (0.5, 2.0, math.inf)
MEASURED = {TRAINING: "training", CLEAN: "test_clean", RELEASED: "test_released", "train_records": "train_records"}
GUARANTEES = ["guarantee_epsilon", "guarantee_pure_epsilon", "guarantee_delta"]
PAPER = {TRAINING: "paper_training", CLEAN: "paper_test"}
KEYS = ["dataset", "method", "epsilon"]
COLUMNS = [*KEYS, *PAPER.values(), *MEASURED.values(), *GUARANTEES]


def table2(metrics: pd.DataFrame) -> pd.DataFrame:
    """One row per data set, method and epsilon: the paper's training and test accuracy and ours, means over seeds.

    Ours are on clean and on released test records; the guarantee is of the whole record. What the paper prints of a
    method that was not run stands without numbers of ours.
    """
    rows = metrics[
        (metrics["study"] == STUDY) & metrics["metric"].isin(list(MEASURED)) & metrics["epsilon"].isin(EPSILONS)
    ]
    rows = rows.assign(method=[_method(v, m) for v, m in zip(rows["variant"], rows["mechanism"], strict=True)])
    table: dict[tuple[str, str, float], dict[str, Any]] = {}
    for key, part in rows.groupby([*KEYS, "metric"]):
        dataset, method, epsilon, metric = cast(tuple[str, str, float, str], key)
        entry = table.setdefault((dataset, method, epsilon), {})
        entry[MEASURED[metric]] = float(part["value"].mean())
        entry.update({column: float(part[column].iloc[0]) for column in GUARANTEES})
    datasets = {dataset for dataset, _, _ in table}
    for dataset, method, epsilon in list(table):
        for point in _printed(dataset):
            if (point.method, point.epsilon) == (method.split(",")[0], epsilon):
                table[dataset, method, epsilon][PAPER[point.metric]] = point.value
    for point in (point for dataset in datasets for point in _printed(dataset)):
        if point.method in ("SS15", "ACG+16"):
            table.setdefault((point.dataset, point.method, point.epsilon), {})[PAPER[point.metric]] = point.value
    flat = [{**dict(zip(KEYS, key, strict=True)), **entry} for key, entry in table.items()]
    return pd.DataFrame(flat, columns=COLUMNS).sort_values(KEYS, ignore_index=True, na_position="last")


def _printed(dataset: str) -> list[PrintedPoint]:
    return [point for point in printed_points(STUDY, dataset) if point.metric in PAPER]


def _method(variant: str, mechanism: str) -> str:
    """The method's name in the table: LATENT's comes with the reading, others with the model."""
    factors = variant_factors(variant)
    if factors.get("model") == "cnn":
        return "NPCNN"
    altered = ", altered images" if "augment" in factors else ", permuted labels" if "labels" in factors else ""
    if mechanism == "latent":
        return f"LATENT, reading {factors['reading']}{altered}"
    if factors.get("model") == "ann":
        return f"LATENT, p = 1{altered}"
    where = f"{factors.get('features', '64')} projections"
    return f"class means of {where}, no privacy" if mechanism == NO_PRIVACY else f"{mechanism} on {where}"
