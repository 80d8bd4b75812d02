"""LATENT's Figures 7 to 10 under both readings of its probability, with ceilings and true guarantees."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator
from numpy.typing import NDArray

from tensorldp.errors import InputError
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp.mechanisms import Box
from tensorldp.mechanisms.bits import mean_errors
from tensorldp.mechanisms.latent import Latent
from tensorldp.privacy import clean_test_ceiling
from tensorldp_papers.plots.curves import Axis, factors, position
from tensorldp_papers.plots.own_data import head
from tensorldp_papers.plots.standing import mark_standing
from tensorldp_papers.plots.style import label, use_style

CLAIMED_TEST = {"mnist": {0.5: 0.9626, 2.0: 0.9634}, "cifar10": {0.5: 0.9147, 2.0: 0.9173}}


@dataclass(frozen=True)
class Printed:
    """One column of the printed table: training and test accuracy, NaN where it says N/A."""

    dataset: str
    method: str
    epsilon: float
    training: float
    testing: float


NAN = math.nan
PRINTED = (
    Printed("mnist", "NPCNN", math.inf, 0.9925, 0.9816),
    Printed("cifar10", "NPCNN", math.inf, 0.7332, 0.7875),
    Printed("mnist", "SS15", NAN, NAN, 0.98),
    Printed("mnist", "ACG+16", 2.0, 0.95, 0.95),
    Printed("mnist", "ACG+16", 0.5, 0.89, 0.90),
    Printed("cifar10", "ACG+16", 2.0, 0.68, 0.67),
    Printed("mnist", "LATENT", 2.0, 0.9923, CLAIMED_TEST["mnist"][2.0]),
    Printed("mnist", "LATENT", 0.5, 0.9942, CLAIMED_TEST["mnist"][0.5]),
    Printed("cifar10", "LATENT", 2.0, 0.9562, CLAIMED_TEST["cifar10"][2.0]),
    Printed("cifar10", "LATENT", 0.5, 0.9577, CLAIMED_TEST["cifar10"][0.5]),
)
EPSILONS = (0.5, 2.0, math.inf)
MEASURED = {
    "train_accuracy": "training",
    "accuracy": "test_clean",
    "accuracy_perturbed_test": "test_released",
    "train_records": "train_records",
}
COLUMNS = [
    "dataset",
    "method",
    "epsilon",
    "paper_training",
    "paper_test",
    "training",
    "test_clean",
    "test_released",
    "train_records",
    "guarantee_epsilon",
    "guarantee_pure_epsilon",
    "guarantee_delta",
]


def _method(variant: str, mechanism: str) -> str:
    """The method's name in the table: LATENT's comes with the reading, others with the model."""
    own = factors(variant)
    if own.get("model") == "cnn":
        return "NPCNN"
    altered = ", altered images" if "augment" in own else ", permuted labels" if "labels" in own else ""
    if mechanism == "latent":
        return f"LATENT, reading {own['reading']}{altered}"
    if own.get("model") == "ann":
        return f"LATENT, p = 1{altered}"
    where = f"{own.get('features', '64')} projections"
    return f"class means of {where}, no privacy" if mechanism == NO_PRIVACY else f"{mechanism} on {where}"


def table2(metrics: pd.DataFrame) -> pd.DataFrame:
    """One row per data set, method and epsilon: the paper's training and test accuracy and ours, means over seeds.

    Ours are on clean and on released test records; the guarantee is of the whole record. What the paper prints of a
    method that was not run stands without numbers of ours.
    """
    rows = metrics[
        (metrics["study"] == "latent") & metrics["metric"].isin(list(MEASURED)) & metrics["epsilon"].isin(EPSILONS)
    ]
    rows = rows.assign(method=[_method(v, m) for v, m in zip(rows["variant"], rows["mechanism"], strict=True)])
    keys = ["dataset", "method", "epsilon"]
    found: dict[tuple[str, str, float], dict[str, float]] = {}
    for key, part in rows.groupby([*keys, "metric"]):
        dataset, method, epsilon, metric = cast(tuple[str, str, float, str], key)
        entry = found.setdefault((dataset, method, epsilon), {})
        entry[MEASURED[metric]] = float(part["value"].mean())
        entry.update({column: float(part[column].iloc[0]) for column in COLUMNS[-3:]})
    printed = {(p.dataset, p.method, p.epsilon): p for p in PRINTED}
    table = []
    for (dataset, method, epsilon), entry in found.items():
        paper = printed.get((dataset, method.split(",")[0], epsilon))
        printed_pair = (paper.training, paper.testing) if paper else (NAN, NAN)
        table.append(
            {
                "dataset": dataset,
                "method": method,
                "epsilon": epsilon,
                **entry,
                "paper_training": printed_pair[0],
                "paper_test": printed_pair[1],
            }
        )
    datasets = {dataset for dataset, _, _ in found}
    table += [
        {
            "dataset": p.dataset,
            "method": p.method,
            "epsilon": p.epsilon,
            "paper_training": p.training,
            "paper_test": p.testing,
        }
        for p in PRINTED
        if p.dataset in datasets and p.method in ("SS15", "ACG+16")
    ]
    return pd.DataFrame(table, columns=COLUMNS).sort_values(keys, ignore_index=True, na_position="last")


AXIS_LABELS = {
    "nominal": "nominal ε of the whole record, as the source writes it (nats)",
    "guaranteed": "guaranteed ε of the whole record at δ = 1e-5 (nats)",
    "pure": "guaranteed pure ε of the whole record (nats)",
}
READINGS = {"A": "reading A", "B": "reading B", "B altered": "reading B, altered images too"}
LARGEST_NOMINAL = 10.0  # Figure 10 ends there
TESTS = {"accuracy": "clean test records", "accuracy_perturbed_test": "released test records"}
# line: colour, marker, dashes; Wong 2011
LOOKS: dict[str, tuple[str, str, tuple[float, ...]]] = {
    "cnn": ("#000000", "", (4, 2)),
    "ann": ("#777777", "", (1, 1)),
    "A": ("#D55E00", "o", ()),
    "B": ("#0072B2", "s", ()),
    "ann altered": ("#777777", "", (4, 1, 1, 1)),
    "B altered": ("#56B4E9", "D", ()),
    "centroid": ("#009E73", "^", ()),
    "centroid none": ("#009E73", "", (1, 1)),
}


def latent_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """The study's rows with `projections` and `line`, the key of `LOOKS`.

    Permuted labels are left out.

    Raises:
        InputError: if there are none.
    """
    rows = metrics[metrics["study"] == "latent"].copy()
    if rows.empty:
        raise InputError("the metrics table has no rows of study latent")
    split = [factors(variant) for variant in rows["variant"]]
    rows["projections"] = [f.get("features", "") for f in split]
    rows["line"] = [_line(f, mechanism) for f, mechanism in zip(split, rows["mechanism"], strict=True)]
    return rows[["labels" not in f for f in split]]


def _line(own: dict[str, str], mechanism: str) -> str:
    """The reading of LATENT, else the network, and whether it learned from altered images besides."""
    plain = mechanism == NO_PRIVACY
    name = own.get("model", "") if plain else own.get("reading", own.get("model", ""))
    ending = " none" if plain and name == "centroid" else " altered" if "augment" in own else ""
    return name + ending


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


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
        return f"LATENT, reading B{altered}{where}: true ε ≥ {_number(low)}\n({_number(high)} at δ = 1e-5)"
    size = part["projections"].iloc[0]
    return f"{label(part['mechanism'].iloc[0])} on {size} projections of\nthe same features: true ε = nominal ε"


def _draw(ax: Axes, part: pd.DataFrame, axis: Axis, line: str, name: str) -> None:
    colour, marker, dashes = LOOKS[line]
    if np.isinf(part["epsilon"]).all():
        ax.axhline(part["value"].mean(), color=colour, linewidth=1.1, linestyle=(0, dashes), label=name, zorder=1)
        return
    part = part.assign(at=position(part, axis))
    summary = part[np.isfinite(part["at"])].groupby("at")["value"].agg(["mean", "min", "max"]).reset_index()
    ax.plot(
        summary["at"],
        summary["mean"],
        color=colour,
        marker=marker,
        markersize=4.5,
        markeredgecolor="white",
        markeredgewidth=0.5,
        linewidth=1.4,
        label=name,
    )
    ax.fill_between(summary["at"], summary["min"], summary["max"], color=colour, alpha=0.15, linewidth=0)
    mark_standing(ax, part, at="at", colour=colour, marker=marker)


def _fact(rows: pd.DataFrame, metric: str, line: str | None = None) -> float:
    found = rows[(rows["metric"] == metric) & ((rows["line"] == line) if line else True)]["value"]
    return float(found.iloc[0]) if len(found) else math.nan


def _ceiling(rows: pd.DataFrame, metric: str) -> tuple[str, Callable[[float], float]] | None:
    """What no classifier can exceed at a record's epsilon, from the study's own sizes; None where it is unknown."""
    share = _fact(rows, "largest_class")
    if metric == "accuracy_perturbed_test":
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


def draw_accuracy(metrics: pd.DataFrame, *, axis: Axis = "nominal", title: str = "") -> Figure:
    """Figure 10: one row of panels per data set, on clean and on released test records.

    Raises:
        InputError: if the table has no rows of the study.
    """
    use_style()
    every = latent_rows(metrics)
    rows = every[every["metric"].isin(list(TESTS))]
    if axis == "nominal":
        rows = rows[(rows["epsilon"] <= LARGEST_NOMINAL) | np.isinf(rows["epsilon"])]
    datasets = sorted(set(rows["dataset"]))
    figure, axes = plt.subplots(
        len(datasets), 2, figsize=(11.2, 3.6 * len(datasets) + 0.5), squeeze=False, sharey=True, layout="constrained"
    )
    for line_of_axes, dataset in zip(axes, datasets, strict=True):
        here = every[every["dataset"] == dataset]
        for ax, (metric, where) in zip(line_of_axes, TESTS.items(), strict=True):
            part = rows[(rows["dataset"] == dataset) & (rows["metric"] == metric)]
            for line in LOOKS:
                own = part[part["line"] == line]
                if len(own):
                    _draw(ax, own, axis, line, line_label(own, line, f", {dataset}" if len(datasets) > 1 else ""))
            _draw_ceiling(ax, here, metric, part, axis)
            if axis == "nominal" and dataset in CLAIMED_TEST:
                ax.scatter(
                    list(CLAIMED_TEST[dataset]),
                    list(CLAIMED_TEST[dataset].values()),
                    marker="*",
                    s=70,
                    color="#CC79A7",
                    zorder=4,
                    label="LATENT, Table 2 (test)",
                )
            ax.set_xscale("log")
            if axis == "nominal":
                ax.set_xticks(sorted(e for e in set(part["epsilon"]) if e <= LARGEST_NOMINAL))
                ax.xaxis.set_major_formatter("{x:g}")
                ax.xaxis.set_minor_locator(NullLocator())
            ax.set_ylim(-0.02, 1.04)
            ax.set_title(f"{dataset}: {where}", fontsize=9)
    figure.supxlabel(AXIS_LABELS[axis], fontsize=10)
    figure.supylabel("accuracy", fontsize=10)
    head(figure, title, rows["dataset"])
    _shared_legend(figure, axes)
    return figure


def _shared_legend(figure: Figure, axes: NDArray[Any]) -> None:
    found = {text: handle for ax in axes.flat for handle, text in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(list(found.values()), list(found), loc="outside right center", frameon=False, fontsize=8.5)


def _draw_ceiling(ax: Axes, here: pd.DataFrame, metric: str, part: pd.DataFrame, axis: Axis) -> None:
    found, at = _ceiling(here, metric), position(part, axis)
    at = at[np.isfinite(at)]
    if found is None or at.empty:
        return
    name, bound = found
    grid = np.geomspace(at.min(), at.max(), 120)
    values = np.array([bound(float(e)) for e in grid])
    dashes = (6, 2) if metric == "accuracy" else ()
    ax.plot(grid, values, color="#CC79A7", linewidth=1.3, linestyle=(0, dashes) if dashes else "-", label=name)
    if metric == "accuracy_perturbed_test":  # binds every mechanism, the other one reading A alone
        ax.fill_between(grid, values, 1.04, color="#CC79A7", alpha=0.10, linewidth=0)


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
    use_style()
    table = epoch_table(metrics)
    if table.empty:
        raise InputError("no model of study latent was scored by epoch: set checkpoints above 1 in its training")
    curves = {
        "train_accuracy": ("#555555", "D", "training (released records, while training)"),
        "accuracy": ("#009E73", "o", "clean test records"),
        "accuracy_perturbed_test": ("#56B4E9", "s", "released test records"),
    }
    datasets = sorted(set(table["dataset"]))
    lines = [line for line in READINGS if line != "B altered" or line in set(table["line"])]
    size = (2.4 + 4.1 * len(lines), 3.2 * len(datasets) + 0.5)
    figure, axes = plt.subplots(
        len(datasets), len(lines), figsize=size, squeeze=False, sharey=True, layout="constrained"
    )
    for line_of_axes, dataset in zip(axes, datasets, strict=True):
        for ax, line in zip(line_of_axes, lines, strict=True):
            part = table[(table["dataset"] == dataset) & (table["line"] == line)]
            if part.empty:
                ax.set_visible(False)
                continue
            for curve, (colour, marker, name) in curves.items():
                summary = part[part["curve"] == curve].groupby("epoch")["value"].agg(["mean", "min", "max"])
                ax.plot(summary.index, summary["mean"], color=colour, marker=marker, markersize=4, label=name)
                ax.fill_between(summary.index, summary["min"], summary["max"], color=colour, alpha=0.15, linewidth=0)
            ax.set_title(f"{dataset}: {READINGS[line]}, nominal ε = {part['epsilon'].iloc[0]:g}", fontsize=9)
            ax.set_ylim(-0.02, 1.04)
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.supxlabel("epoch of the ANN module", fontsize=10)
    figure.supylabel("accuracy", fontsize=10)
    head(figure, title, table["dataset"])
    _shared_legend(figure, axes)
    return figure


STRINGS = {"MNIST": (9216, 4, 5), "CIFAR-10": (2304, 2, 7)}
CODE_BITS = 10  # of one value, in both


def draw_probability(title: str = "") -> Figure:
    """Left, the probability that a released bit is true; right, the error of estimation, for values of 10 bits."""
    use_style()
    figure, (left, right) = plt.subplots(1, 2, figsize=(11.0, 4.4), layout="constrained")
    grid = np.geomspace(0.1, 1e6, 80)
    for dashes, (name, (size, n, m)) in zip(("-", (0, (4, 1.5))), STRINGS.items(), strict=True):
        for reading, colour in (("A", "#D55E00"), ("B", "#0072B2")):
            box = Box(-(2.0**n), 2.0**n, (size,))
            true = [
                1.0 - Latent(epsilon=float(e), domain=box, whole=n, fraction=m, reading=reading).flip  # type: ignore[arg-type]
                for e in grid
            ]
            what = "A: p" if reading == "A" else "B: (1 + p) / 2"
            left.plot(grid, true, color=colour, linestyle=dashes, linewidth=1.4, label=f"{name}, {what}")
    left.axvspan(grid[0], 10.0, color="#000000", alpha=0.06, linewidth=0)
    left.text(1.0, 0.93, "the paper's ε", ha="center", fontsize=8.5)
    left.set_xscale("log")
    left.set_ylim(0.48, 1.02)
    left.set_xlabel("nominal ε of one record (nats)")
    left.set_ylabel("probability that a released bit is true")
    left.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    probabilities = np.linspace(0.5, 1.0, 26)[1:]
    for reading, colour in (("A", "#D55E00"), ("B", "#0072B2")):
        pairs = np.array([mean_errors(CODE_BITS, float(p), reading) for p in probabilities])  # type: ignore[arg-type]
        right.plot(
            probabilities, pairs[:, 1], color=colour, linewidth=1.4, label=f"reading {reading}: true error |x' - x|"
        )
        right.plot(
            probabilities,
            pairs[:, 0],
            color=colour,
            linewidth=1.4,
            linestyle=(0, (1, 1)),
            label=f"reading {reading}: estimated by Eq. 15",
        )
    right.set_xlabel("probability of randomization p")
    right.set_ylabel("mean error of a 10-bit value (last bits)")
    right.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    if title:
        figure.suptitle(title, fontsize=11)
    return figure
