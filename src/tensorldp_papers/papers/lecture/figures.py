"""The lecture's figures: sweeps of sizes, what a defence costs, membership, and pictures of victims."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray
from scipy.stats import beta

from tensorldp.errors import InputError
from tensorldp.files import read_arrays
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp_papers.papers.lecture.attack_pictures import columns_of, likelihood_cells, picture_datasets, picture_key
from tensorldp_papers.papers.lecture.attack_table import RECOVERED, SIZES, STUDY, attack_table
from tensorldp_papers.plots.lines import draw_band
from tensorldp_papers.plots.means import over_seeds
from tensorldp_papers.plots.panels import decade_ticks, drawn, grid, legend_below, log_ticks, log_values, place_notes
from tensorldp_papers.plots.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PINK,
    PLAIN,
    SKY,
    THIN,
    VERMILION,
    appearance,
    label,
    order,
    point_marker,
    use_style,
)
from tensorldp_papers.plots.words import axis_number, power_number, whole_number
from tensorldp_papers.run.cell import variant_factors

BASE = {"m": 20000.0, "d": 30.0, "B": 4.0}
BOUND_SLOPES = {"m": -0.5, "d": 0.5, "B": 1.0}
AXES = {"m": "neurons m", "d": "dimension d", "B": "batch size B (records)"}
SCALINGS = {"mean": ("1/m", BLUE, "o"), "root": ("±1/√m", VERMILION, "s"), "sign": ("±1", GREEN, "^")}
MEASURED, BOUND, LAW = BLUE, GREY, VERMILION
MEDIANS: dict[str, Any] = {**PLAIN, "middle": "median", "band": 0.2}


def attack_rows(metrics: pd.DataFrame, attack: str, metric: str) -> pd.DataFrame:
    """The rows of one attack and metric, with the variant's factors as columns.

    Raises:
        InputError: if there are none.
    """
    rows = metrics[(metrics["study"] == STUDY) & (metrics["metric"] == metric)].reset_index(drop=True)
    split = pd.DataFrame([variant_factors(v) for v in rows["variant"]], index=rows.index)
    rows = pd.concat(
        [rows, split.reindex(columns=sorted({"attack", "defence", "strength", "scaling", *SIZES, *split.columns}))],
        axis=1,
    )
    rows = rows[rows["attack"] == attack].copy()
    if rows.empty:
        raise InputError(f"the metrics table has no rows of the attack {attack} with metric {metric}")
    for key in ("strength", *SIZES):
        rows[key] = pd.to_numeric(rows[key])
    return rows


def fitted_slope(x: Iterable[float], y: Iterable[float]) -> float:
    """The least-squares slope of log y against log x."""
    return float(np.polyfit(np.log(list(x)), np.log(list(y)), 1)[0])


def draw_sweeps(metrics: pd.DataFrame) -> Figure:
    """Error of the tensor attack against m, d and B, each beside B sqrt(d/m) through its first point."""
    rows = attack_rows(metrics, "tensor", "error")
    rows = rows[(rows["defence"] == "none") & (rows["mechanism"] == NO_PRIVACY)]
    figure, (axes,) = grid(1, 3, (10.5, 3.5), sharey=True)
    for ax, size in zip(axes, SIZES, strict=True):
        fixed = {key: value for key, value in BASE.items() if key != size}
        part = rows[np.logical_and.reduce([rows[key] == value for key, value in fixed.items()])]
        if part.empty:
            raise InputError(f"the metrics table has no sweep of the tensor attack over {size}")
        points = over_seeds(part, size, "median")
        x, y = points[size].to_numpy(), points["median"].to_numpy()
        slope = f", slope {fitted_slope(x, y):+.2f}" if len(x) > 1 else ""
        draw_band(ax, points, size, colour=MEASURED, text=f"measured{slope}", marker="o", **MEDIANS)
        stated = BOUND_SLOPES[size]
        ax.plot(x, y[0] * (x / x[0]) ** stated, "--", color=BOUND, label=f"B√(d/m), slope {stated:+.1f}")
        log_ticks(ax, x)
        log_values(ax)
        ax.set_xlabel(AXES[size])
        ax.set_title(", ".join(f"{key} = {value:,.0f}" for key, value in fixed.items()), fontsize=9)
        ax.legend(fontsize=8)
    axes[0].set_ylabel("RMSE of unit records (Eq. 5.2)")
    figure.suptitle("Tensor attack on two-layer networks; bands from the lowest to the highest seed", fontsize=11)
    return figure


def _growth(
    ax: Axes,
    rows: pd.DataFrame,
    base: float,
    x: str,
    predicted: Callable[[np.ndarray], np.ndarray] | None,
    law: Callable[[np.ndarray], np.ndarray] | None = None,
) -> None:
    """Measured errors over the error without defence, beside Table 1's growth and, where given, quadrature."""
    points = over_seeds(rows, x, "median")
    points = points.assign(**{key: points[key] / base for key in ("median", "min", "max")})
    draw_band(ax, points, x, colour=MEASURED, text="measured", marker="o", **MEDIANS)
    at = points[x].to_numpy()
    fine = np.geomspace(at.min(), at.max(), 100) if at.min() < at.max() else at
    if predicted is not None:
        ax.plot(fine, predicted(fine), "--", color=BOUND, label="Table 1, relative to none")
    if law is not None:
        ax.plot(fine, law(fine), ":", color=LAW, label="√(1 + (noise / gradient)²)")
    log_ticks(ax, at)
    log_values(ax)
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, 0.75), max(high, 2.2))


def draw_table1(metrics: pd.DataFrame) -> Figure:
    """Each row of Table 1 beside the measured growth of the tensor attack's error."""
    rows = attack_rows(metrics, "tensor", "error")
    rows = rows[np.logical_and.reduce([rows[key] == value for key, value in BASE.items()])]
    base = float(rows[(rows["defence"] == "none") & (rows["mechanism"] == NO_PRIVACY)]["value"].median())
    rms = float(attack_rows(metrics, "tensor", "gradient_rms").query("defence == 'none'")["value"].median())
    batch = BASE["B"]

    def linear(sigma: np.ndarray) -> np.ndarray:
        return (batch + sigma) / batch

    def quadrature(sigma: np.ndarray) -> np.ndarray:
        return np.sqrt(1 + (sigma / rms) ** 2)

    panels: list[tuple[str, str, str, Callable[[np.ndarray], np.ndarray] | None]] = [
        ("local", "k-step local aggregation", "local steps k", lambda k: k),
        ("noise", "gradient noise", "σ of the noise per element", linear),
        ("mechanism", "DP-SGD (clip and analytic Gaussian)", "σ max(1, ‖g‖/s)", linear),
        ("clip", "clipping", "largest norm s", lambda s: np.ones_like(s)),
        ("dropout", "dropout", "probability p to keep a neuron", lambda p: 1 / np.sqrt(p)),
        ("prune", "pruning (no bound in Table 1)", "share set to zero", None),
    ]
    figure, axes = grid(2, 3, (10.5, 6.2))
    for ax, (defence, title, axis, predicted) in zip(axes.flat, panels, strict=True):
        part = rows[rows["defence"] == defence]
        column = "strength"
        if defence == "mechanism":
            key = ["variant", "mechanism", "epsilon", "seed"]
            noise = attack_rows(metrics, "tensor", "noise")[[*key, "value"]].rename(columns={"value": "noise"})
            part, column = part.merge(noise, on=key), "noise"
            part[column] = part.groupby("epsilon")[column].transform("median")
        if part.empty:
            ax.set_visible(False)
            continue
        _growth(ax, part, base, column, predicted, quadrature if predicted is linear else None)
        if defence == "mechanism":
            at = sorted(set(part[column]))
            ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:.2g}"))
            for value, epsilon in sorted(set(zip(part[column], part["epsilon"], strict=True))):
                top = float(part[part[column] == value]["value"].median()) / base
                ax.annotate(
                    f"ε = {epsilon:,.0f}",
                    (value, top),
                    textcoords="offset points",
                    xytext=(6, -12) if value != at[-1] else (-58, 2),
                    fontsize=7.5,
                )
        ax.set_title(title, fontsize=9.5)
        ax.set_xlabel(axis)
        ax.legend(fontsize=7.5)
    figure.supylabel("error / error without defence", fontsize=10)
    figure.suptitle(
        f"Table 1 beside what is measured: B = {batch:.0f}, d = {BASE['d']:.0f}, m = {BASE['m']:,.0f}; "
        f"error without defence {base:.3f}; gradient rms {rms:.2f}",
        fontsize=10.5,
    )
    return figure


def draw_sensitivity(metrics: pd.DataFrame) -> Figure:
    """The largest measured l1 change of the gradient against m and d, for three output scalings."""
    rows = attack_rows(metrics, "sensitivity", "change")
    middle = {"m": 400.0, "d": 40.0}
    figure, (axes,) = grid(1, 2, (9.6, 4.0), sharey=True)
    for ax, (size, other) in zip(axes, (("m", "d"), ("d", "m")), strict=True):
        part = rows[rows[other] == middle[other]]
        values = np.array(sorted(set(part[size])))
        for scaling, (text, colour, marker) in SCALINGS.items():
            line = part[part["scaling"] == scaling]
            if line.empty:
                continue
            points = over_seeds(line, size, "median")
            slope = f"slope {fitted_slope(points[size], points['median']):+.2f}"
            draw_band(ax, points, size, colour=colour, text=f"a = {text}: {slope}", marker=marker, **MEDIANS)
        bound = values * math.sqrt(middle["d"]) if size == "m" else middle["m"] * np.sqrt(values)
        ax.plot(values, bound, "--", color=BOUND, label=f"m√d: slope {1.0 if size == 'm' else 0.5:+.2f}")
        log_ticks(ax, values.tolist())
        ax.set_yscale("log")
        ax.set_xlabel(AXES[size])
        ax.set_title(f"{other} = {middle[other]:.0f}", fontsize=9)
        ax.legend(fontsize=8, loc="upper left")
        low, high = ax.get_ylim()
        ax.set_ylim(low, high * 12)
    axes[0].set_ylabel("largest ‖G − G′‖₁ over replaced records")
    figure.suptitle("l1 sensitivity of a two-layer ReLU network's gradient, measured (a lower bound)", fontsize=11)
    return figure


POINTS: dict[str, Any] = {"s": 42, "zorder": 3, "edgecolors": "white", "linewidths": 0.5}
DEFENCES = {
    "none": ("no defence", INK, "*"),
    "noise": ("noise σ", ORANGE, "o"),
    "clip": ("clipping to s", SKY, "s"),
    "prune": ("pruning of a share", PINK, "D"),
    "dropout": ("dropout, kept p", GREEN, "P"),
    "local": ("k local steps", THIN, "X"),
}


def draw_cost(metrics: pd.DataFrame) -> Figure:
    """Left: gradient inversion, PSNR against utility loss. Right: naming a victim from a release, against epsilon."""
    figure, ((left, right),) = grid(1, 2, (12.6, 5.4))
    table = attack_table(metrics)
    _draw_cost(left, table[table["at_utility_loss"].isna() & (table["attack"] == "cosine")])
    _draw_named(right, table[table["at_utility_loss"].isna() & (table["attack"] == "likelihood")])
    return figure


def _draw_cost(ax: Axes, rows: pd.DataFrame) -> None:
    points: list[tuple[float, float, str]] = []
    for key, part in rows.groupby(["defence", "mechanism"], sort=False):
        defence, mechanism = map(str, key)
        if defence == "mechanism":
            text = f"{label(mechanism)} at ε" + (" (DP-SGD)" if mechanism == "gaussian-analytic" else "")
            colour, marker = appearance(mechanism)["color"], point_marker(mechanism)
            notes = [power_number(e) for e in part["epsilon"]]
        else:
            text, colour, marker = DEFENCES[defence]
            notes = ["" if defence == "none" else f"{s:g}" for s in part["strength"].fillna(0)]
        loss, psnr = 100 * part["utility_loss"], part["psnr"]
        ax.scatter(loss, psnr, label=text, color=colour, marker=marker, **POINTS)
        points += list(zip(loss, psnr, notes, strict=True))
    ax.set_xscale("symlog", linthresh=2.0, linscale=0.7)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    ax.set_xticks([-10, -2, 0, 2, 5, 10, 20, 50, 100])
    ax.set_ylim(-8.0, 106.0)
    ax.set_xlim(min(-2.0, 1.5 * min(x for x, _, _ in points)), 110.0)
    ax.axhline(RECOVERED, color=THIN, linewidth=0.8, linestyle=":")
    ax.set_xlabel("utility loss: accuracy without defence minus with it (percentage points)")
    ax.set_ylabel("PSNR of the reconstruction (dB, capped at 100)")
    ax.set_title(
        f"Gradient inversion (cosine) on {', '.join(sorted(set(rows['dataset'])))}; dotted: recovered", fontsize=9.5
    )
    place_notes(ax, points)
    legend_below(ax, drawn([ax]), 3, gap=38.0, width=460.0)


def _draw_named(ax: Axes, rows: pd.DataFrame) -> None:
    rows = rows[rows["mechanism"] != NO_PRIVACY].sort_values("guarantee_epsilon")
    finite = rows[np.isfinite(rows["guarantee_epsilon"])]
    datasets = finite["dataset"].value_counts().index.tolist()  # the one with the most cells has full marks
    several = len(datasets) > 1
    for name in order(set(finite["mechanism"])):
        colour, marker = appearance(name)["color"], appearance(name)["marker"]
        for dataset in datasets:
            part = finite[(finite["mechanism"] == name) & (finite["dataset"] == dataset)]
            at, named = part["guarantee_epsilon"], part["identification"]
            if dataset == datasets[0]:
                ax.plot(at, named, color=colour, marker=marker, label=label(name))
                ax.plot(at, part["identification_bound"], ":", color=colour, linewidth=1.0)
            else:  # a few points are no curve
                ax.plot(at, named, color=colour, marker=marker, markerfacecolor="white", linestyle="")
    of = f" on {datasets[0]}" if several else ""
    ax.plot([], [], ":", color=GREY, label=f"bound of the guarantee{of}")
    for dataset in datasets if several else ():
        inside, line = (GREY, "-") if dataset == datasets[0] else ("white", "")
        ax.plot([], [], color=GREY, marker="o", linestyle=line, markerfacecolor=inside, label=str(dataset))
    decade_ticks(ax)
    ax.set_ylim(-0.02, 1.04)
    ax.set_xlabel("guaranteed ε of the whole picture at δ = 1e-5 (nats)")
    ax.set_ylabel("share of victims named")
    ax.set_title("Likelihood attack on released pictures", fontsize=9.5)
    legend_below(ax, drawn([ax]), 3, gap=38.0, width=460.0)


RATE = "0.1"  # of false positives


def draw_membership(metrics: pd.DataFrame) -> Figure:
    """True positive rate of the loss threshold by mechanism and epsilon, with 95 % intervals, beside the bound.

    Intervals are those of [clopper1934] for the members of all seeds together.
    """
    table = _membership_table(metrics)
    figure, ((ax,),) = grid(1, 1, (8.0, 0.26 * len(table) + 1.9))
    at = np.arange(len(table))
    colours = [appearance(name)["color"] for name in table["mechanism"]]
    for shift, kind, marker, text in (
        (-0.16, "", "o", "records with their labels"),
        (0.16, "canary_", "D", "canaries with random labels"),
    ):
        count = table["members"] / 2
        hits = (table[f"{kind}tpr"] * count).round()
        low, high = beta.ppf(0.025, hits, count - hits + 1), beta.ppf(0.975, hits + 1, count - hits)
        ax.hlines(at + shift, np.nan_to_num(low), np.nan_to_num(high, nan=1.0), color=colours, linewidth=1.6)
        ax.scatter(table[f"{kind}tpr"], at + shift, color=colours, zorder=3, s=20, marker=marker, label=text)
    ax.scatter(table["bound"], at, marker="|", s=130, color=INK, label="most that the guarantee allows", zorder=3)
    ax.axvline(float(RATE), color=THIN, linestyle=":", linewidth=1.0, label="guessing")
    names = [
        label(name) + ("" if np.isinf(epsilon) else f", nominal ε {axis_number(epsilon)}")
        for name, epsilon in zip(table["mechanism"], table["epsilon"], strict=True)
    ]
    ax.set_yticks(at, names, fontsize=8)
    ax.invert_yaxis()
    ax.set_xlim(-0.02, 1.05)
    ax.set_xlabel(f"true positive rate at {float(RATE):.0%} false positives")
    ax.set_title("Loss-threshold membership attack on models trained on released pictures; 95 % intervals", fontsize=10)
    legend_below(ax, drawn([ax]), 2, gap=38.0, width=420.0)
    return figure


def _membership_table(metrics: pd.DataFrame) -> pd.DataFrame:
    def grouped(metric: str) -> Any:
        return attack_rows(metrics, "membership", metric).groupby(["mechanism", "epsilon"])["value"]

    table = pd.DataFrame(
        {
            "tpr": grouped(f"tpr_at_fpr_{RATE}").mean(),
            "canary_tpr": grouped(f"canary_tpr_at_fpr_{RATE}").mean(),
            "bound": grouped(f"tpr_bound_at_fpr_{RATE}").mean(),
            "members": grouped("members").sum(),
        }
    ).reset_index()
    names = order(set(table["mechanism"]))
    rank = table["mechanism"].map(names.index)
    return table.assign(rank=rank).sort_values(["rank", "epsilon"], ignore_index=True)


MISSING = "The pictures themselves are not kept with these results: run the study to draw them."


def _head(columns: pd.DataFrame, axis: str) -> str:
    if axis == "nominal":
        return "releases at the papers' nominal ε. True ε: whole picture, δ = 1e-5."
    anchor = label(columns["mechanism"].iloc[0])
    epsilons = ", ".join(f"{e:g}" for e in columns["epsilon"])
    head = "releases, every column at one true ε of the whole picture (δ = 1e-5):\n"
    head += f"that of {anchor} at nominal {epsilons}."
    for _, column in columns[columns["guarantee_epsilon"].map(math.isinf)].iterrows():
        head += (
            f" At {column['epsilon']:g} it has none, its atoms outweigh δ:\nthe others stand at its pure ε "
            f"without the atoms, {whole_number(column['target'])}."
        )
    return head


def draw_pictures(metrics: pd.DataFrame, pictures: Path | None, axis: str = "nominal") -> Figure:
    """A block for each data set: rows are mechanisms; columns the original, then release and reconstruction by epsilon.

    Args:
        metrics: the metrics table.
        pictures: the arrays of `attack_pictures.py`; where there are none, the figure has the numbers alone.
        axis: `nominal` or `guaranteed`.

    Raises:
        InputError: if there is nothing to show.
    """
    use_style()
    stored = read_arrays(pictures)[0] if pictures is not None and pictures.is_file() else {}
    datasets = picture_datasets(metrics)
    sizes = [1 + 2 * len(columns_of(metrics, name)) for name in datasets]  # panels that a mechanism takes
    width = max(sizes)
    counts = [likelihood_cells(metrics, name, axis)["mechanism"].nunique() for name in datasets]
    lines = [math.ceil(count / (width // size)) for count, size in zip(counts, sizes, strict=True)]
    heights = [(1.55 if stored else 0.6) * count + 0.7 for count in lines]
    figure = plt.figure(figsize=(9.6, sum(heights) + 0.5), layout="constrained")
    blocks = figure.subfigures(len(datasets), 1, squeeze=False, height_ratios=heights)[:, 0]
    for block, dataset in zip(blocks, datasets, strict=True):
        _draw_block(block, metrics, dataset, axis, stored, width)
    figure.suptitle(
        "Named: share of victims told from the other candidates. "
        + ("Releases are stretched to their own range of grey or colour." if stored else MISSING),
        fontsize=9.5,
    )
    return figure


def _draw_block(
    block: SubFigure, metrics: pd.DataFrame, dataset: str, axis: str, stored: Mapping[str, NDArray[Any]], width: int
) -> None:
    cells, columns = likelihood_cells(metrics, dataset, axis), columns_of(metrics, dataset)
    names, size = order(set(cells["mechanism"])), 1 + 2 * len(columns)
    beside = width // size  # mechanisms in a line
    axes = block.subplots(math.ceil(len(names) / beside), width, squeeze=False)
    for ax in axes.flat:
        ax.set_axis_off()
    for place, name in enumerate(names):
        line = axes[place // beside, place % beside * size :]
        shown = {cell["column"]: cell for cell in cells[cells["mechanism"] == name].to_dict("records")}
        line[0].set_title(f"{label(name)}\noriginal", fontsize=8.5)
        for column in range(len(columns)):
            left, right = line[1 + 2 * column], line[2 + 2 * column]
            cell = shown.get(column)
            if cell is None:
                left.text(
                    1.0, 0.5, "no cell at this ε", transform=left.transAxes, ha="center", fontsize=8
                ).set_in_layout(False)
                continue
            left.set_title(
                f"nominal ε {whole_number(cell['epsilon'])}\ntrue ε {whole_number(cell['guarantee_epsilon'])}",
                fontsize=8,
            )
            right.set_title(f"reconstructed\n{cell['value']:.0%} named", fontsize=8)
            for ax, kind in ((line[0], "original"), (left, "released"), (right, "reconstructed")):
                if (key := picture_key(dataset, kind, cell)) in stored:
                    ax.imshow(stored[key], cmap="gray", vmin=0, vmax=255, interpolation="nearest")
    block.suptitle(f"{dataset}: {_head(columns, axis)}", fontsize=9.5)
