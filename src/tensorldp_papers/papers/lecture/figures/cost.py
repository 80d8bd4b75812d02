"""Reconstruction quality against what a defence costs and against what is guaranteed."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from tensorldp.kinds import NO_PRIVACY
from tensorldp_papers.papers.lecture.attack_table import RECOVERED, attack_table
from tensorldp_papers.plots.panels import decade_ticks, drawn, legend_below
from tensorldp_papers.plots.style import appearance, label, order, point_marker, use_style

DEFENCES = {
    "none": ("no defence", "#000000", "*"),
    "noise": ("noise σ", "#E69F00", "o"),
    "clip": ("clipping to s", "#56B4E9", "s"),
    "prune": ("pruning of a share", "#CC79A7", "D"),
    "dropout": ("dropout, kept p", "#009E73", "P"),
    "local": ("k local steps", "#999999", "X"),
}


def draw_cost(metrics: pd.DataFrame) -> Figure:
    """Left: gradient inversion, PSNR against utility loss. Right: naming a victim from a release, against epsilon."""
    use_style()
    figure, (left, right) = plt.subplots(1, 2, figsize=(12.6, 5.4), layout="constrained")
    table = attack_table(metrics)
    _draw_cost(left, table[table["at_utility_loss"].isna() & (table["attack"] == "cosine")])
    _draw_named(right, table[table["at_utility_loss"].isna() & (table["attack"] == "likelihood")])
    return figure


def place_notes(ax: Axes, points: list[tuple[float, float, str]], size: float = 7.0) -> None:
    """A note beside each point, on the first side where it covers no point and no other note.

    The panel's size and limits must be final but for the layout; a note that fits nowhere gets a thin line to a free
    place above.
    """
    scale = 72.0 * np.array(ax.get_window_extent().size) / ax.figure.dpi  # of the panel, in points
    to_panel = ax.transScale + ax.transLimits
    at = to_panel.transform([(x, y) for x, y, _ in points]) * scale if points else np.empty((0, 2))
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in at]
    for (x, y), (data_x, data_y, note) in sorted(zip(at, points, strict=True), key=lambda pair: tuple(pair[0])):
        wide, high = 0.62 * size * len(note) + 1, 1.15 * size
        sides = [(6, -high / 2), (-6 - wide, -high / 2), (-wide / 2, 6), (-wide / 2, -6 - high)]
        far = [(dx, sign * (6 + step * high)) for step in range(1, 12) for sign in (1, -1) for dx in (6, -6 - wide)]
        for dx, dy in (*sides, *far):
            area = (x + dx, y + dy, x + dx + wide, y + dy + high)
            inside = area[0] >= 0 and area[2] <= scale[0] and area[1] >= 0 and area[3] <= scale[1]
            if inside and not any(_overlap(area, other) for other in taken):
                break
        taken.append(area)
        line = {"arrowstyle": "-", "linewidth": 0.4, "color": "#888888"} if (dx, dy) not in sides else None
        ax.annotate(
            note,
            (data_x, data_y),
            xytext=(dx, dy),
            textcoords="offset points",
            fontsize=size,
            ha="left",
            va="bottom",
            arrowprops=line,
        )


def _overlap(first: tuple[float, ...], second: tuple[float, ...]) -> bool:
    return first[0] < second[2] and second[0] < first[2] and first[1] < second[3] and second[1] < first[3]


def _draw_cost(ax: Axes, rows: pd.DataFrame) -> None:
    points: list[tuple[float, float, str]] = []
    for (defence, mechanism), part in (
        (map(str, key), part) for key, part in rows.groupby(["defence", "mechanism"], sort=False)
    ):
        if defence == "mechanism":
            text = f"{label(mechanism)} at ε" + (" (DP-SGD)" if mechanism == "gaussian-analytic" else "")
            colour, marker = str(appearance(mechanism)["color"]), point_marker(mechanism)
            notes = [f"{e:g}" if e < 1e4 else f"1e{np.log10(e):.0f}" for e in part["epsilon"]]
        else:
            text, colour, marker = DEFENCES[defence]
            notes = [f"{s:g}" for s in part["strength"].fillna(0)]
        ax.scatter(
            100 * part["utility_loss"],
            part["psnr"],
            s=42,
            label=text,
            color=colour,
            marker=marker,
            zorder=3,
            edgecolors="white",
            linewidths=0.5,
        )
        if defence == "none":
            notes = [""] * len(part)
        points += list(zip(100 * part["utility_loss"], part["psnr"], notes, strict=True))
    ax.set_xscale("symlog", linthresh=2.0, linscale=0.7)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    ax.set_xticks([-10, -2, 0, 2, 5, 10, 20, 50, 100])
    ax.set_ylim(-8.0, 106.0)
    ax.set_xlim(min(-2.0, 1.5 * min(x for x, _, _ in points)), 110.0)
    ax.axhline(RECOVERED, color="#999999", linewidth=0.8, linestyle=":")
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
        for dataset in datasets:
            part = finite[(finite["mechanism"] == name) & (finite["dataset"] == dataset)]
            first = dataset == datasets[0]
            look = appearance(name)
            ax.plot(
                part["guarantee_epsilon"],
                part["identification"],
                color=str(look["color"]),
                marker=str(look["marker"]),
                markerfacecolor=str(look["color"]) if first else "white",
                linestyle="-" if first else "",  # a few points of another data set are no curve
                label=label(name) if first else None,
            )
            if first:
                ax.plot(
                    part["guarantee_epsilon"],
                    part["identification_bound"],
                    color=str(look["color"]),
                    linestyle=":",
                    linewidth=1.0,
                )
    ax.plot(
        [],
        [],
        ":",
        color="#555555",
        label=f"bound of the guarantee on {datasets[0]}" if several else "bound of the guarantee",
    )
    for dataset in datasets if several else ():
        first = dataset == datasets[0]
        inside, line = ("#555555", "-") if first else ("white", "")
        ax.plot([], [], color="#555555", marker="o", linestyle=line, markerfacecolor=inside, label=str(dataset))
    decade_ticks(ax)
    ax.set_ylim(-0.02, 1.04)
    ax.set_xlabel("guaranteed ε of the whole picture at δ = 1e-5 (nats)")
    ax.set_ylabel("share of victims named")
    ax.set_title("Likelihood attack on released pictures", fontsize=9.5)
    legend_below(ax, drawn([ax]), 3, gap=38.0, width=460.0)
