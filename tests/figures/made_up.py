"""Made-up tables of metrics, and what a figure shows, for tests of figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from tensorldp_papers.plots.sheets import TITLE

GRID = (("tldp-l", (1.0, 5.0), 64.0), ("laplace", (1.0, 64.0), 1.0), ("none", (math.inf,), 1.0))
Row = dict[str, Any]
Points = dict[str, tuple[Any, Any]]  # lists of numbers
COMMON: Row = {
    **{"study": "tldp_type1", "dataset": "digits", "variant": "base", "release": "data", "mechanism": "none"},
    **{"epsilon": math.inf, "delta": 1e-5, "seed": 0, "metric": "accuracy", "value": 0.5, "guarantee_unit": "record"},
    **{"guarantee_delta": 1e-5, "guarantee_atom": 0.0, "guarantee_exact": True, "scale": "quick", "seconds": 1.0},
    **{"largest_class": 0.1, "peak_mb": 2.0, "device": "cpu", "isa": "avx2", "precision": "float32", "commit": "c"},
}


def rows(cells: Iterable[Row], **shared: Any) -> pd.DataFrame:
    """A table of metrics; a guarantee that is not given is the printed epsilon, and a pure one the guarantee."""
    full = [{**COMMON, **shared, **cell} for cell in cells]
    for row in full:
        row.setdefault("guarantee_epsilon", row["epsilon"])
        row.setdefault("guarantee_pure_epsilon", row["guarantee_epsilon"])
    return pd.DataFrame(full)


def scores(values: Mapping[str, float], **cell: Any) -> list[Row]:
    """A row of this cell for each of these metrics."""
    return [{**cell, "metric": metric, "value": value} for metric, value in values.items()]


def every(**choices: Sequence[Any]) -> list[Row]:
    """A row for each way to choose one of each."""
    return [dict(zip(choices, chosen, strict=True)) for chosen in product(*choices.values())]


def table(grid: Sequence[tuple[str, Sequence[float], float]] = GRID, value: float = 0.5, **shared: Any) -> pd.DataFrame:
    """Rows of mechanisms at their epsilons, with a guarantee that is a multiple of them, and two seeds 0.1 apart."""
    metrics = ("weighted_f1", "accuracy", "accuracy_perturbed_test")
    cells = [
        {**cell, "guarantee_epsilon": cell["epsilon"] * scale, "value": value + 0.1 * cell["seed"]}
        for mechanism, epsilons, scale in grid
        for cell in every(mechanism=[mechanism], epsilon=epsilons, seed=(0, 1), metric=metrics)
    ]
    return rows(cells, **{"variant": "model=small_cnn", **shared})


def points(shown: Figure | Axes) -> Points:
    """By name, where the lines of a figure or of a panel have points, which parts of one line have together."""
    found: dict[str, dict[tuple[float, float], None]] = {}
    for line in (line for ax in ([shown] if isinstance(shown, Axes) else shown.axes) for line in ax.get_lines()):
        x, y = (np.array(line.get_data()[i], float, ndmin=1) for i in (0, 1))
        places = [float(f"{at:.12g}") for at in x]  # an axis of logarithms rounds
        found.setdefault(str(line.get_label()), {}).update(dict.fromkeys(zip(places, y.tolist(), strict=True)))
    return {name: ([x for x, _ in drawn], [y for _, y in drawn]) for name, drawn in found.items()}


def lines(shown: Figure | Axes) -> dict[str, list[float]]:
    """By name, at which epsilons lines have points."""
    return {name: x for name, (x, _) in points(shown).items()}


def words(figure: Figure) -> list[str]:
    """Every text of a figure that is seen."""
    return [text.get_text() for text in figure.findobj(Text) if isinstance(text, Text) and text.get_visible()]


def said(figure: Figure) -> str:
    """The same as one line."""
    return " ".join(filter(None, words(figure))).replace("\n", " ")


def title(figure: Figure) -> str:
    """A figure's title, in one line."""
    return " ".join(text.get_text() for text in figure.texts if text.get_fontsize() == TITLE)


def headings(figure: Figure) -> list[str]:
    """The titles of the panels that are seen."""
    return [ax.get_title("left") for ax in figure.axes if ax.get_visible()]


def named_rows(figure: Figure) -> list[str]:
    """What stands at the left of the first panel's rows."""
    return [text.get_text() for text in figure.axes[0].get_yticklabels()]
