"""A victim's picture, what mechanisms release of it, and what an attacker makes of that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray

from tensorldp.files import read_arrays
from tensorldp_papers.papers.lecture.attack_pictures import (
    columns_of,
    likelihood_cells,
    picture_datasets,
    picture_key,
)
from tensorldp_papers.plots.style import label, order, use_style

MISSING = "The pictures themselves are not kept with these results: run the study to draw them."


def _show(ax: Axes, picture: NDArray[Any]) -> None:
    ax.imshow(picture, cmap="gray", vmin=0, vmax=255, interpolation="nearest")


def _number(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _head(columns: pd.DataFrame, axis: str) -> str:
    if axis == "nominal":
        return "releases at the papers' nominal ε. True ε: whole picture, δ = 1e-5."
    anchor = label(columns["mechanism"].iloc[0])
    head = (
        f"releases, every column at one true ε of the whole picture (δ = 1e-5):\nthat of {anchor} at nominal "
        + ", ".join(f"{e:g}" for e in columns["epsilon"])
        + "."
    )
    for _, column in columns[columns["guarantee_epsilon"].map(math.isinf)].iterrows():
        head += (
            f" At {column['epsilon']:g} it has none, its atoms outweigh δ:\nthe others stand at its pure ε "
            f"without the atoms, {_number(column['target'])}."
        )
    return head


def draw_pictures(metrics: pd.DataFrame, pictures: Path | None, axis: str = "nominal") -> Figure:
    """A block for each data set: rows are mechanisms; columns the original, then release and reconstruction by epsilon.

    Args:
        metrics: the metrics table.
        pictures: the arrays of `studies.attack_pictures`; where there are none, the figure has the numbers alone.
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
        own = {cell["column"]: cell for cell in cells[cells["mechanism"] == name].to_dict("records")}
        line[0].set_title(f"{label(name)}\noriginal", fontsize=8.5)
        for column in range(len(columns)):
            left, right = line[1 + 2 * column], line[2 + 2 * column]
            cell = own.get(column)
            if cell is None:
                left.text(
                    1.0, 0.5, "no cell at this ε", transform=left.transAxes, ha="center", fontsize=8
                ).set_in_layout(False)
                continue
            left.set_title(
                f"nominal ε {_number(cell['epsilon'])}\ntrue ε {_number(cell['guarantee_epsilon'])}", fontsize=8
            )
            right.set_title(f"reconstructed\n{cell['value']:.0%} named", fontsize=8)
            for ax, kind in ((line[0], "original"), (left, "released"), (right, "reconstructed")):
                if (key := picture_key(dataset, kind, cell)) in stored:
                    _show(ax, stored[key])
    block.suptitle(f"{dataset}: {_head(columns, axis)}", fontsize=9.5)
