"""The tensor attack and the gradient's sensitivity against sizes, beside the lecture's bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from tensorldp.errors import InputError
from tensorldp.kinds import NO_PRIVACY
from tensorldp_papers.papers.lecture.attack_table import SIZES, STUDY
from tensorldp_papers.plots.style import use_style
from tensorldp_papers.run.cell import variant_factors

BASE = {"m": 20000.0, "d": 30.0, "B": 4.0}
BOUND_SLOPES = {"m": -0.5, "d": 0.5, "B": 1.0}
AXES = {"m": "neurons m", "d": "dimension d", "B": "batch size B (records)"}
SCALINGS = {"mean": ("1/m", "#0072B2", "o"), "root": ("±1/√m", "#D55E00", "s"), "sign": ("±1", "#009E73", "^")}
MEASURED, BOUND, LAW = "#0072B2", "#555555", "#D55E00"


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


def summary(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    """Median, lowest and highest over seeds at each value of a column."""
    return rows.groupby(by)["value"].agg(["median", "min", "max"]).reset_index()


def log_ticks(ax: Axes, values: Iterable[float]) -> None:
    """A logarithmic x axis with a tick at each value and no others."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(list(values)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}" if v >= 1 else f"{v:g}"))


def _plain_log(ax: Axes) -> None:
    """A logarithmic y axis with plain numbers on both kinds of ticks."""
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 1.5, 2.0, 3.0, 5.0, 7.0)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))


def draw_sweeps(metrics: pd.DataFrame) -> Figure:
    """Error of the tensor attack against m, d and B, each beside B sqrt(d/m) through its first point."""
    use_style()
    rows = attack_rows(metrics, "tensor", "error")
    rows = rows[(rows["defence"] == "none") & (rows["mechanism"] == NO_PRIVACY)]
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.5), sharey=True, layout="constrained")
    for ax, size in zip(axes, SIZES, strict=True):
        fixed = {key: value for key, value in BASE.items() if key != size}
        part = rows[np.logical_and.reduce([rows[key] == value for key, value in fixed.items()])]
        if part.empty:
            raise InputError(f"the metrics table has no sweep of the tensor attack over {size}")
        points = summary(part, size)
        x, y = points[size].to_numpy(), points["median"].to_numpy()
        ax.fill_between(x, points["min"], points["max"], color=MEASURED, alpha=0.2, linewidth=0)
        slope = f", slope {fitted_slope(x, y):+.2f}" if len(x) > 1 else ""
        ax.plot(x, y, "o-", color=MEASURED, label=f"measured{slope}")
        ax.plot(
            x,
            y[0] * (x / x[0]) ** BOUND_SLOPES[size],
            "--",
            color=BOUND,
            label=f"B√(d/m), slope {BOUND_SLOPES[size]:+.1f}",
        )
        log_ticks(ax, x)
        _plain_log(ax)
        ax.set_xlabel(AXES[size])
        ax.set_title(", ".join(f"{key} = {value:,.0f}" for key, value in fixed.items()), fontsize=9)
        ax.legend(fontsize=8, frameon=False)
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
    points = summary(rows, x)
    at = points[x].to_numpy()
    ax.fill_between(at, points["min"] / base, points["max"] / base, color=MEASURED, alpha=0.2, linewidth=0)
    ax.plot(at, points["median"] / base, "o-", color=MEASURED, label="measured")
    fine = np.geomspace(at.min(), at.max(), 100) if at.min() < at.max() else at
    if predicted is not None:
        ax.plot(fine, predicted(fine), "--", color=BOUND, label="Table 1, relative to none")
    if law is not None:
        ax.plot(fine, law(fine), ":", color=LAW, label="√(1 + (noise / gradient)²)")
    log_ticks(ax, at)
    _plain_log(ax)
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, 0.75), max(high, 2.2))


def draw_table1(metrics: pd.DataFrame) -> Figure:
    """Each row of Table 1 beside the measured growth of the tensor attack's error."""
    use_style()
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
    figure, axes = plt.subplots(2, 3, figsize=(10.5, 6.2), layout="constrained")
    for ax, (defence, title, axis, predicted) in zip(axes.flat, panels, strict=True):
        part = rows[rows["defence"] == defence]
        column = "strength"
        if defence == "mechanism":
            part, column = part.merge(_noise(metrics), on=["variant", "mechanism", "epsilon", "seed"]), "noise"
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
        ax.legend(fontsize=7.5, frameon=False)
    figure.supylabel("error / error without defence", fontsize=10)
    figure.suptitle(
        f"Table 1 beside what is measured: B = {batch:.0f}, d = {BASE['d']:.0f}, m = {BASE['m']:,.0f}; "
        f"error without defence {base:.3f}; gradient rms {rms:.2f}",
        fontsize=10.5,
    )
    return figure


def _noise(metrics: pd.DataFrame) -> pd.DataFrame:
    rows = attack_rows(metrics, "tensor", "noise")
    return rows[["variant", "mechanism", "epsilon", "seed", "value"]].rename(columns={"value": "noise"})


def draw_sensitivity(metrics: pd.DataFrame) -> Figure:
    """The largest measured l1 change of the gradient against m and d, for three output scalings."""
    use_style()
    rows = attack_rows(metrics, "sensitivity", "change")
    middle = {"m": 400.0, "d": 40.0}
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.0), sharey=True, layout="constrained")
    for ax, (size, other) in zip(axes, (("m", "d"), ("d", "m")), strict=True):
        part = rows[rows[other] == middle[other]]
        values = np.array(sorted(set(part[size])))
        for scaling, (text, colour, marker) in SCALINGS.items():
            line = part[part["scaling"] == scaling]
            if line.empty:
                continue
            points = summary(line, size)
            slope = fitted_slope(points[size].tolist(), points["median"].tolist())
            ax.fill_between(points[size], points["min"], points["max"], color=colour, alpha=0.2, linewidth=0)
            ax.plot(points[size], points["median"], f"{marker}-", color=colour, label=f"a = {text}: slope {slope:+.2f}")
        bound = values * math.sqrt(middle["d"]) if size == "m" else middle["m"] * np.sqrt(values)
        ax.plot(values, bound, "--", color=BOUND, label=f"m√d: slope {1.0 if size == 'm' else 0.5:+.2f}")
        log_ticks(ax, values.tolist())
        ax.set_yscale("log")
        ax.set_xlabel(AXES[size])
        ax.set_title(f"{other} = {middle[other]:.0f}", fontsize=9)
        ax.legend(fontsize=8, frameon=False, loc="upper left")
        low, high = ax.get_ylim()
        ax.set_ylim(low, high * 12)
    axes[0].set_ylabel("largest ‖G − G′‖₁ over replaced records")
    figure.suptitle("l1 sensitivity of a two-layer ReLU network's gradient, measured (a lower bound)", fontsize=11)
    return figure
