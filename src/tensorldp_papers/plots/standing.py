"""Marks of points whose guarantee no audit has tried, or that one has refuted, and the words of captions for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from tensorldp_papers.plots.style import label, order
from tensorldp_papers.run.audit_table import FILE, KEY, REFUTED, UNTRIED

WORDS = {UNTRIED: "hollow: no audit has tried the guarantee", REFUTED: "crossed out: the guarantee is refuted"}
RED = "#B3261E"


def with_standing(metrics: pd.DataFrame, path: Path) -> pd.DataFrame:
    """The metrics with a column `standing` from the table beside `path`; empty where that does not say.

    Args:
        metrics: the metrics table.
        path: of the metrics table.
    """
    beside = path.with_name(FILE)
    if not beside.exists():
        return metrics.assign(standing="")
    table = pd.read_csv(beside)[[*KEY, "standing"]]
    found = metrics.merge(table, on=KEY, how="left", validate="many_to_one")
    return found.assign(standing=found["standing"].fillna(""))


def mark_standing(
    ax: Axes, rows: pd.DataFrame, *, at: str, colour: str, marker: str, size: float = 4.5, value: str = "value"
) -> None:
    """Draw over a line: hollow points where no audit has tried the guarantee, crosses where it is refuted.

    Args:
        ax: where the line is.
        rows: those of the line, with columns `at`, `value` and `standing`; the mean over seeds is marked, of
            each `variant` if there is such a column.
        at: the column of the horizontal axis.
        colour: of the line.
        marker: of its points.
        size: of its points.
        value: the column of the vertical axis.
    """
    if "standing" not in rows:
        return
    finite = rows[np.isfinite(rows[at])]
    for standing, style in (
        (UNTRIED, {"color": colour, "marker": marker, "markerfacecolor": "white", "markersize": size + 1.0}),
        (REFUTED, {"color": RED, "marker": "x", "markersize": size + 4.0, "markeredgewidth": 1.8}),
    ):
        means = finite[finite["standing"] == standing].groupby([at, *({"variant"} & set(finite))])[value].mean()
        if len(means):
            dashes = (0, (1, 1.5)) if standing == REFUTED else "none"
            places = means.index.get_level_values(0)
            ax.plot(places, means, linewidth=2.2, linestyle=dashes, zorder=3.5, label=WORDS[standing], **style)  # type: ignore[arg-type]


def standing_words(rows: pd.DataFrame) -> str:
    """The sentence of a caption that names the mechanisms whose guarantee nothing tried or something refuted."""
    if "standing" not in rows:
        return ""
    said = []
    for standing, words in (
        (UNTRIED, "Hollow, because no audit has tried the guarantee: {}."),
        (REFUTED, "Crossed out, because the guarantee is refuted: {}."),
    ):
        names = order(set(rows[rows["standing"] == standing]["mechanism"]))
        if names:
            said.append(words.format(", ".join(label(name) for name in names)))
    return " ".join(said)
