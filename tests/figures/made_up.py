"""A small made-up table of metrics, for tests of figures."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from tensorldp_papers.plots.sheets import TITLE
from tensorldp_papers.run.table import COLUMNS

GRID = (("tldp-l", (1.0, 5.0), 64.0), ("laplace", (1.0, 64.0), 1.0), ("none", (math.inf,), 1.0))


def table(
    grid: Sequence[tuple[str, Sequence[float], float]] = GRID,
    *,
    study: str = "tldp_type1",
    dataset: str = "digits",
    variant: str = "model=small_cnn",
    value: float = 0.5,
    seeds: Sequence[int] = (0, 1),
) -> pd.DataFrame:
    """Rows of mechanisms, each at its epsilons, with a guarantee that is a multiple of them."""
    rows = []
    for mechanism, epsilons, scale in grid:
        for epsilon in epsilons:
            for seed in seeds:
                for metric in ("weighted_f1", "accuracy", "accuracy_perturbed_test"):
                    key = [study, dataset, variant, "data", mechanism, epsilon, 1e-5, seed, metric]
                    true = epsilon * scale
                    run = ["quick", 1.0, 2.0, "cpu", "avx2", "float32", "c"]
                    rows.append([*key, value + 0.1 * seed, "record", true, 1e-5, true, 0.0, True, *run])
    return pd.DataFrame(rows, columns=COLUMNS)


def lines(figure: Figure, panel: int | None = None) -> dict[str, list[float]]:
    """By name, where the lines of a figure or of one of its panels have points."""
    axes = figure.axes if panel is None else [figure.axes[panel]]
    return {
        str(line.get_label()): np.asarray(line.get_xdata(), dtype=float).tolist()
        for ax in axes
        for line in ax.get_lines()
    }


def line(figure: Figure, name: str) -> Line2D:
    """The first line of this name."""
    return next(line for ax in figure.axes for line in ax.get_lines() if line.get_label() == name)


def words(figure: Figure) -> list[str]:
    """Every text of a figure that is seen."""
    return [text.get_text() for text in figure.findobj(Text) if isinstance(text, Text) and text.get_visible()]


def title(figure: Figure) -> str:
    """A figure's title, in one line."""
    return " ".join(text.get_text() for text in figure.texts if text.get_fontsize() == TITLE)
