"""A victim's picture, what mechanisms release of it, and what an attacker makes of that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from tensorldp.attacks.likelihood import Prior
from tensorldp.errors import InputError
from tensorldp.figures.attack_sweeps import attack_rows
from tensorldp.figures.style import label, order, use_style
from tensorldp.studies.attacks.releases import Pictures, candidates_of, decode
from tensorldp.studies.cell import CellSettings
from tensorldp.studies.records import read_records

PUBLIC = 12000  # records of an attacker's prior
COLUMNS = 3


def likelihood_cells(metrics: pd.DataFrame, dataset: str, axis: str) -> pd.DataFrame:
    """The cells to show: mechanism, epsilon, guarantee, share of victims named, and the column of the grid.

    On the nominal axis columns are the nominal epsilons. On the honest axis TLDP keeps its place and the others stand
    where their epsilon is that of TLDP's whole picture, its nominal times the number of pixels.

    Raises:
        InputError: if no cell has a place.
    """
    rows = attack_rows(metrics, "likelihood", "identification")
    rows = rows[(rows["dataset"] == dataset) & (rows["mechanism"] != "none")]
    keys = ["mechanism", "epsilon", "delta", "variant", "guarantee_epsilon", "guarantee_pure_epsilon"]
    cells = rows.groupby(keys, dropna=False)["value"].mean().reset_index()
    nominal = sorted(set(cells[cells["mechanism"].str.startswith("tldp")]["epsilon"]))[-COLUMNS:]
    pure = cells[(cells["mechanism"] == "tldp-l") & cells["epsilon"].isin(nominal)].sort_values("epsilon")
    places = {float(e): place for place, e in enumerate(nominal)}
    honest = {float(e): place for place, e in enumerate(pure["guarantee_pure_epsilon"])}
    column = []
    for name, epsilon in zip(cells["mechanism"], cells["epsilon"], strict=True):
        table = places if axis == "nominal" or name.startswith("tldp") else honest
        near = [place for value, place in table.items() if math.isclose(value, epsilon, rel_tol=1e-6)]
        column.append(near[0] if near else -1)
    cells = cells.assign(column=column)
    cells = cells[cells["column"] >= 0]
    if cells.empty:
        raise InputError(f"the metrics table has no attacked releases of {dataset} at a nominal epsilon of TLDP")
    return cells


def _show(ax: Axes, picture: Tensor, low: float | None, high: float | None) -> None:
    image = picture.reshape(picture.shape[0], -1)
    ax.imshow(image, cmap="gray", vmin=float(image.min()) if low is None else low,
              vmax=float(image.max()) if high is None else high, interpolation="nearest")


def _number(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def draw_pictures(metrics: pd.DataFrame, datasets: Path, axis: str = "nominal", victim: int = 0) -> Figure:
    """Rows are mechanisms; columns the original, then release and reconstruction at each epsilon.

    Args:
        datasets: folder of the prepared data sets.
        axis: `nominal` or `honest`.
        victim: which of the victims of seed 0; the noise is a draw of its own.

    Raises:
        InputError: if there is nothing to show.
    """
    use_style()
    dataset = str(attack_rows(metrics, "likelihood", "identification")["dataset"].iloc[0])
    cells = likelihood_cells(metrics, dataset, axis)
    test, train = (read_records(datasets / dataset / f"{split}.safetensors") for split in ("test", "train"))
    prior = Prior.of(train.first(PUBLIC).x)
    names = order(set(cells["mechanism"]))
    figure, axes = plt.subplots(len(names), 1 + 2 * COLUMNS, figsize=(9.6, 1.55 * len(names) + 0.8), squeeze=False,
                                layout="constrained")
    for ax in axes.flat:
        ax.set_axis_off()
    for line, name in enumerate(names):
        for cell in cells[cells["mechanism"] == name].to_dict("records"):
            seen = _pictures(cell, dataset, prior, test, victim)
            _show(axes[line, 0], seen.original[victim], test.low, test.high)
            left, right = axes[line, 1 + 2 * cell["column"]], axes[line, 2 + 2 * cell["column"]]
            _show(left, seen.released[victim], None, None)
            _show(right, seen.reconstructed[victim], test.low, test.high)
            left.set_title(f"nominal ε {_number(cell['epsilon'])}\ntrue ε {_number(cell['guarantee_epsilon'])}",
                           fontsize=8)
            right.set_title(f"reconstructed\n{cell['value']:.0%} named", fontsize=8)
        axes[line, 0].set_title(f"{label(name)}\noriginal", fontsize=8.5)
    head = "at the papers' nominal ε" if axis == "nominal" else "at one ε of the whole picture (TLDP's, atoms removed)"
    figure.suptitle(f"{dataset}: releases {head}. True ε: whole picture, δ = 1e-5. Named: share of victims told\n"
                    "from the other candidates. Releases are stretched to their own range of grey.", fontsize=9.5)
    return figure


def _pictures(cell: Mapping[Any, Any], dataset: str, prior: Prior, test: Any, victim: int) -> Pictures:
    settings = CellSettings("reconstruction", dataset, cell["variant"], cell["mechanism"], f"{cell['epsilon']:g}",
                            "gradients", cell["delta"], {}, [0], training={"candidates": victim + 1})
    return decode(settings, settings.mechanism_on(test.box()), prior, candidates_of(settings, test, 0), 0, victim + 1)
