"""Which mechanism needs the least true epsilon: a heat map of scores, mechanisms by decades of epsilon."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp_papers.plots.axes import SMALL_EPSILON, SMALLEST_EPSILON
from tensorldp_papers.plots.comparing import EQUAL
from tensorldp_papers.plots.means import chance, finite
from tensorldp_papers.plots.names import METRICS, dataset_name, in_order, title_name
from tensorldp_papers.plots.sheets import SMALLEST, finish, narrow, panels, undrawn
from tensorldp_papers.plots.style import HEAT, INK, PAPER, look, order, short
from tensorldp_papers.plots.words import axis_number, listed, short_number

HALFWAY = 0.5  # of the way from chance to the score without privacy
ROW = 0.24  # inches of a mechanism
LOWEST = math.log10(SMALLEST_EPSILON)  # the first column has all below it


def draw_heat(rows: pd.DataFrame, metric: str, unit: str, **words: Any) -> Figure:
    """Draws a panel for each data set: its mechanisms by the epsilon that they need, and their best score by decade.

    Args:
        rows: columns `dataset`, `line`, `at` (a true epsilon), `seed`, `value`, `metric` and `largest_class`; those
            without privacy have the line `NO_PRIVACY`.
        metric: whose name stands below.
        unit: of the true epsilon.
        words: of `finish`: source, paper, note.
    """
    datasets = in_order(rows["dataset"])
    private = finite(rows[(rows["line"] != NO_PRIVACY) & (rows["at"] > 0)])
    needed = {dataset: _needed(rows[rows["dataset"] == dataset]) for dataset in datasets}
    columns = 1 if narrow() else min(2, len(datasets))
    counts = [len(found) for found in needed.values()]
    most = [max(2, *counts[start : start + columns]) for start in range(0, len(counts), columns)]
    height = ROW * sum(most) / len(most) + 1.0
    ratios = {"height_ratios": [ROW * rows_here + 1.0 for rows_here in most]}
    figure, axes = panels(len(datasets), columns=2, height=height, gridspec_kw=ratios)
    for i, (ax, dataset) in enumerate(zip(axes, datasets, strict=True)):
        names = sorted(order(set(needed[dataset])), key=needed[dataset].__getitem__)
        _draw(figure, ax, private[private["dataset"] == dataset], names)
        ax.set(xlabel=f"true ε of one {unit} (nats), up to", ylabel="", ylim=(most[i // columns], 0))
        ax.set_title(dataset_name(dataset))
    note = (
        f"Numbers: {METRICS[metric][0]}, the best mean in each decade of ε. In the order of the least ε at which every "
    )
    note += f"seed is halfway from chance to no privacy. {words.pop('note', '')}"
    return finish(figure, _answer(needed, private), datasets=datasets, note=note, names=False, **words)


def _needed(rows: pd.DataFrame) -> dict[str, float]:
    """Returns each mechanism's least epsilon at which every seed is halfway from chance to no privacy, or infinity."""
    free = float(rows.loc[rows["line"] == NO_PRIVACY, "value"].mean())
    least = float(np.nan_to_num(chance(rows).mean()))
    wanted = least + HALFWAY * (free - least)
    found: dict[str, float] = {}
    for name, line in rows[(rows["line"] != NO_PRIVACY) & np.isfinite(rows["at"].astype(float))].groupby("line"):
        lowest = line.groupby("at")["value"].min()
        reached = lowest.index[lowest >= wanted]
        found[str(name)] = float(reached.min()) if len(reached) else math.inf
    return found


def _draw(figure: Figure, ax: Axes, rows: pd.DataFrame, names: list[str]) -> None:
    decade = np.maximum(np.ceil(np.log10(rows["at"].astype(float)) - 1e-6), LOWEST).astype(int)
    means = rows.assign(decade=decade).groupby(["line", "decade", "at"])["value"].mean()
    table = means.groupby(["line", "decade"]).max().unstack().reindex(names)
    with undrawn(figure):
        sns.heatmap(
            table,
            ax=ax,
            vmin=0.0,
            vmax=1.0,
            cmap=ListedColormap(HEAT),
            cbar=False,
            xticklabels=False,
            yticklabels=False,
            annot=True,
            fmt=".2f",
            annot_kws={"fontsize": SMALLEST},
            linewidths=1.0,
            linecolor=PAPER,
        )
    for text, value in zip(ax.texts, table.to_numpy()[np.isfinite(table.to_numpy())], strict=True):
        text.set_color(INK if value < 4 / len(HEAT) else PAPER)
    ax.set_xticks(np.arange(len(table.columns)) + 0.5, [axis_number(10.0 ** int(power)) for power in table.columns])
    ax.set_yticks(np.arange(len(names)) + 0.5, [look(name).label for name in names])
    for tick, name in zip(ax.get_yticklabels(), names, strict=True):
        tick.set(color=look(name).colour, va="center")
    ax.tick_params(length=0)
    ax.grid(visible=False)


def _answer(needed: dict[str, dict[str, float]], private: pd.DataFrame) -> str:
    """Returns the title: which mechanism is halfway from chance to no privacy at the least true epsilon, and where.

    It is said where half of the others or more were run at no smaller epsilon without getting there; else how many get
    there at a small one.
    """
    best: dict[str, list[str]] = {}
    for dataset, found in needed.items():
        name = min(found, key=lambda name: found[name], default="")
        here = private[private["dataset"] == dataset]
        failed = here[here["at"] < here["line"].map(found)].groupby("line")["at"].max()
        if len(found) > 1 and 2 * (failed >= found[name] / EQUAL).sum() >= len(found) - 1 and found[name] < math.inf:
            best.setdefault(short(name), []).append(f"{short_number(found[name])} on {title_name(dataset)}")
    if best:
        said = listed([f"{name} at a true ε of {listed(places)}" for name, places in best.items()])
        return f"First halfway from chance to no privacy: {said}"
    small = {d: sum(e <= SMALL_EPSILON * EQUAL for e in found.values()) for d, found in needed.items() if found}
    counts = [f"{n or 'none'} of {len(needed[d])} on {title_name(d)}" for d, n in small.items()]
    return f"Halfway from chance to no privacy up to a true ε of {SMALL_EPSILON:g}: {listed(counts)}"
