"""TVG's figures: one line for each mechanism and unit, in panels of data set, metric, unit and family."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp_papers.plots.lines import draw_level, draw_mechanism
from tensorldp_papers.plots.means import Axis, finite, placed, study_rows
from tensorldp_papers.plots.panels import (
    by_family,
    decade_ticks,
    epsilon_ticks,
    finish_columns,
    footnote,
    grid,
    head,
    panel_title,
)
from tensorldp_papers.plots.printed import printed_sentences
from tensorldp_papers.plots.style import DOTTED, GREY, label, order, own_appearance
from tensorldp_papers.plots.words import METRICS, epsilon_label, family_words
from tensorldp_papers.run.cell import variant_factors

METRIC_LABELS = {
    "rss_noisy": "RSS, eigenvalues of the estimate",
    "rss_true": "RSS, eigenvalues of the true covariance",
    "auc": "AUC on clean test records",
    "accuracy_perturbed_test": "accuracy on private test features",
}
NAMES = {
    ("tvg_sgd", "gaussian"): "Gaussian, moments accountant",
    ("tvg_sgd", "gaussian-analytic"): "DP-SGD, l2 clipping",
}
UNIT = {"batch": "noise for a batch", "record": "noise for a record"}
SUBSPACE = {"": "", "identity": ", W = E"}
PANELS = ("model", "backbone")
SIZES = {"gaussian-per-element": 8.0, "udn": 6.0}  # larger where lines of equal noise lie on each other
SMALLEST = 1e-5  # no point is drawn at a guarantee below this


def draw_tvg(
    metrics: pd.DataFrame,
    study: str,
    shown: list[str],
    *,
    axis: Axis = "nominal",
    log: bool = False,
    ceiling: bool = False,
    title: str = "",
) -> Figure:
    """A row of panels for each data set, model and metric, side by side the units and families of mechanisms.

    Bands reach over the seeds; no panel has more than `MOST_BANDS` of them.

    Args:
        metrics: the metrics table.
        study: the rows of this study are drawn.
        shown: metrics, one row of panels each.
        axis: which epsilon the horizontal axis shows.
        log: a logarithmic value axis, on which "none" is not drawn.
        ceiling: draw the rows of the metric `accuracy_ceiling` as dotted lines: what no classifier can exceed.
        title: of the figure.

    Raises:
        InputError: if the table has no such rows.
    """
    rows = placed(_lines(metrics, study, shown), axis)
    limits = placed(_lines(metrics, study, ["accuracy_ceiling"]), axis) if ceiling else rows.iloc[:0]
    panels = [
        (place, metric)
        for metric in shown
        for place in sorted(set(rows["where"]))
        if ((rows["where"] == place) & (rows["metric"] == metric)).any()
    ]
    private = rows[rows["mechanism"] != NO_PRIVACY]
    groups = [
        (unit, group)
        for unit in sorted(set(private["unit"])) or [""]
        for group in by_family(set(private[private["unit"] == unit]["mechanism"])) or [[]]
    ]
    cells = [(place, metric, unit, group) for place, metric in panels for unit, group in groups]
    several = len(groups) > 1
    columns = len(groups) if several else min(3, len(panels))
    height = math.ceil(len(cells) / columns)
    size = (max(4.2 * columns, 6.0), 3.0 * height + 1.3)
    figure, axes = grid(height, columns, size, sharex=several, sharey="row" if several else False)
    for ax, (place, metric, unit, group) in zip(axes.flat, cells, strict=False):
        here = rows[(rows["where"] == place) & (rows["metric"] == metric)]
        drawn = here["mechanism"].isin(group) & (here["unit"] == unit)
        if group and not drawn.any():
            ax.set_visible(False)
            continue
        _draw(ax, here[drawn | (here["mechanism"] == NO_PRIVACY)], log)
        bound = limits[(limits["where"] == place) & limits["mechanism"].isin(group) & (limits["unit"] == unit)]
        _draw_ceiling(ax, bound, axis, f" ({unit})" if unit else "")
        ax.set_xscale("log")
        if log:
            ax.set_yscale("log")
        else:
            ax.set_ylim(-0.02, 1.02)
        ax.set_ylabel(METRIC_LABELS.get(metric) or METRICS.get(metric, (metric, ""))[0], fontsize=9)
        if several:
            ax.label_outer()
    for ax, (place, metric, unit, group) in zip(axes.flat, cells, strict=False):
        which = [UNIT[unit]] if unit else []
        if len([other for other, _ in groups if other == unit]) > 1:
            which.append(family_words(group))
        panel_title(ax, ": ".join([place, ", ".join(which)]) if which else place)
        here = rows[(rows["metric"] == metric) & (rows["where"] == place)]
        at = _drawable(rows if several else here)["at"]
        if axis == "nominal":
            epsilon_ticks(ax, set(at))
        elif len(at):
            decade_ticks(ax)
    for ax in axes.flat[len(cells) :]:
        ax.set_visible(False)
    finish_columns(
        axes,
        [_label(study, name, subspace) for name, _, subspace in _order(rows)],
        epsilon_label(axis, " or ".join(sorted(set(rows["guarantee_unit"])))),
    )
    head(figure, title, rows["dataset"])
    notes = ["Dotted ceilings: no classifier has a higher expected accuracy at that guarantee."] if len(limits) else []
    if axis == "nominal" and study in printed_sentences():
        place, sentence = printed_sentences()[study]
        notes.append(f"TVG prints no score of this figure as a number. In {place} it says: “{sentence}”")
    footnote(figure, "\n".join(notes))
    return figure


def _lines(metrics: pd.DataFrame, study: str, shown: list[str]) -> pd.DataFrame:
    """The rows of some metrics with the unit, the subspace and the place of each."""
    clean = metrics[(metrics["mechanism"] == NO_PRIVACY) & (metrics["metric"] == "accuracy")]
    without = clean.assign(metric="accuracy_perturbed_test")  # what there would be without noise
    rows = study_rows(pd.concat([metrics, without]), study, *shown)
    split = [variant_factors(variant) for variant in rows["variant"]]
    rows["unit"] = [f.get("unit", "") for f in split]
    rows["subspace"] = [f.get("subspace", "") for f in split]
    rows["where"] = [
        ", ".join([d, *(f[k].replace("_", " ") for k in PANELS if k in f)])
        for d, f in zip(rows["dataset"], split, strict=True)
    ]
    return rows


def _drawable(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows that have a place on the axis."""
    return finite(rows[rows["at"] >= SMALLEST])


def _draw(ax: Axes, part: pd.DataFrame, log: bool) -> None:
    for name, unit, subspace in _order(part):
        rows = part[(part["mechanism"] == name) & (part["unit"] == unit) & (part["subspace"] == subspace)]
        look = own_appearance(name)
        colour, marker = look["color"], look["marker"]
        text = _label(str(rows["study"].iloc[0]), name, subspace)
        if name == NO_PRIVACY:
            if not log:
                draw_level(ax, rows["value"], text, colour)
            continue
        draw_mechanism(
            ax,
            _drawable(rows),
            colour=colour,
            marker=marker,
            text=text,
            markersize=SIZES.get(name, 4.5),
            markeredgecolor=colour,
            markeredgewidth=0.8,
            linewidth=1.3,
            linestyle=DOTTED if subspace else (0, (3, 1.5)) if unit == "record" else "-",
        )


def _order(rows: pd.DataFrame) -> list[tuple[str, str, str]]:
    """The mechanisms, units and subspaces of some rows, in the legend's order."""
    lines = {(str(m), str(u), str(s)) for m, u, s in rows[["mechanism", "unit", "subspace"]].to_numpy()}
    return [line for name in order({m for m, _, _ in lines}) for line in sorted(lines) if line[0] == name]


def _label(study: str, name: str, subspace: str) -> str:
    return NAMES.get((study, name), label(name)) + SUBSPACE.get(subspace, subspace)


def _draw_ceiling(ax: Axes, limits: pd.DataFrame, axis: Axis, of: str) -> None:
    """What no classifier can exceed: of each mechanism at its nominal epsilon, or at a guaranteed one."""
    bound = limits[limits["mechanism"] != NO_PRIVACY]
    if axis == "nominal":
        for name, rows in bound.groupby("mechanism"):
            curve = _drawable(rows).groupby("at")["value"].mean()
            colour = own_appearance(str(name))["color"]
            text = f"ceiling of each{of}" if name == bound["mechanism"].min() else None
            ax.plot(curve.index, curve, color=colour, linewidth=1.0, linestyle=":", label=text)
    elif len(bound):
        curve = _drawable(bound).groupby("at")["value"].max()
        ax.plot(curve.index, curve, color=GREY, linewidth=1.2, linestyle=":", label=f"ceiling{of}")
