"""Every figure of any size of run: nothing overlaps, no panel is half empty, and words are of what is drawn."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from keys import KEY
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from test_rules_of_figures import KEPT, NOTEBOOKS, holds, kept_metrics, run

from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp.mechanisms.pldp_fl import PdpmCurve
from tensorldp_papers.plots import notebook
from tensorldp_papers.plots.names import in_order
from tensorldp_papers.plots.sheets import PAGE, on

Table = pd.DataFrame
COMPUTED = {"accuracy_ceiling", "privacy_profiles"}  # most of them needs no run: they are drawn with the kept results
SCORES = "accuracy|F1"


def few(kept: Table) -> Table:
    """At most three epsilons of a mechanism, at most three rounds and clients: what a small grid has."""
    parts = []
    for _, rows in kept.groupby(["study", "dataset", "mechanism"], sort=False):
        at = sorted(rows["epsilon"].unique())
        parts.append(rows[rows["epsilon"].isin({at[0], at[len(at) // 2], at[-1]})])
    return pd.concat(parts)


def one_dataset(rows: Table, name: str) -> Table:
    """The first data set of each study, under another name."""
    first = {study: in_order(part["dataset"])[0] for study, part in rows.groupby("study")}
    synthetic = rows["dataset"] == "synthetic"
    kept = rows[(rows["dataset"] == rows["study"].map(first)) | synthetic]
    return kept.assign(dataset=kept["dataset"].where(kept["dataset"] == "synthetic", name))


def two_mechanisms(rows: Table) -> Table:
    """Of each study the two mechanisms with most rows, and none."""
    private = rows[rows["mechanism"] != NO_PRIVACY]
    most = {study: set(part["mechanism"].value_counts().index[:2]) for study, part in private.groupby("study")}
    wanted = [m == NO_PRIVACY or m in most[s] for s, m in zip(rows["study"], rows["mechanism"], strict=True)]
    return rows[wanted]


def one_seed(rows: Table) -> Table:
    return rows[rows["seed"] == 0]


def chained(*steps: Callable[[Table], Table]) -> Callable[[Table], Table]:
    def table(rows: Table) -> Table:
        for step in steps:
            rows = step(rows)
        return rows

    return table


def digits(rows: Table) -> Table:
    return one_dataset(rows, "digits")


def own(rows: Table) -> Table:
    return one_dataset(rows, "mine")


SIZES = {
    "desk": few,
    "desk, one seed": chained(few, one_seed),
    "desk, two mechanisms": chained(few, two_mechanisms),
    "quick": chained(few, digits),
    "quick, one seed": chained(few, digits, one_seed),
    "quick, two mechanisms": chained(few, digits, two_mechanisms),
    "own table": chained(few, own),
    "own table, one seed, two mechanisms": chained(few, own, one_seed, two_mechanisms),
}


OFTEN = ("own table, one seed, two mechanisms",)  # all eight take minutes


@cache
def made_up(size: str) -> Table:
    rows = SIZES[size](kept_metrics(KEPT / "metrics.parquet"))
    return rows.reset_index(drop=True)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            (size, path),
            marks=[
                pytest.mark.slow if size in OFTEN else pytest.mark.weekly,
                pytest.mark.xdist_group(path.stem),  # of test_rules_of_figures: what is computed once there
            ],
            id=f"{path.stem}, {size}",
        )
        for size in SIZES
        for path in NOTEBOOKS
        if path.stem not in COMPUTED
    ],
)
def figures(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Figure]:
    """What a notebook draws on a page, by name, from a table of a size; an attack or study that it lacks has none."""
    size, path = request.param
    found: dict[str, Figure] = {}

    def show(draw: Callable[[], Figure], stem: Path) -> None:
        with on(PAGE):
            found[stem.name] = draw()

    folder = tmp_path_factory.mktemp(path.stem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(notebook, "show", show)
        rows = made_up(size)
        patch.setattr(notebook, "read_metrics", lambda _, of: rows[rows["study"].isin(of or rows["study"])].copy())
        patch.setattr(PdpmCurve, "holds", lambda *asked: holds(*asked))
        for name in ("figures", "tables"):
            (folder / name).mkdir()
        pictures = str(KEPT / "reconstruction.safetensors")
        run(path, {}, metrics=str(KEPT / "metrics.parquet"), folder=str(folder / "figures"), pictures=pictures)
    return found


def seen(figure: Figure) -> list[Text]:
    every = [text for text in figure.findobj(Text) if isinstance(text, Text)]
    hidden = {text for ax in figure.axes if not ax.get_visible() for text in ax.findobj(Text)}
    for ax in figure.axes:  # of ticks beyond the ends of an axis
        for place, axis in enumerate((ax.xaxis, ax.yaxis)):
            low, high = sorted(axis.get_view_interval())
            labels = [*axis.get_ticklabels(), *axis.get_ticklabels(minor=True)]
            hidden |= {text for text in labels if not (ax.axison and low <= text.get_position()[place] <= high)}
    return [text for text in every if text.get_visible() and text.get_text().strip() and text not in hidden]


def panels_of(figure: Figure) -> list[Axes]:
    return [ax for ax in figure.axes if ax.get_visible()]


def measured(ax: Axes) -> list[Line2D]:
    """Lines of what was measured: no references and no ways to names."""
    return [line for line in ax.get_lines() if not line.is_dashed() and line.get_label() != "_lead"]


def test_no_text_lies_on_another_or_outside_of_its_figure(figures: dict[str, Figure]) -> None:
    for name, figure in figures.items():
        figure.draw_without_rendering()
        boxes = [(text.get_text(), text.get_window_extent()) for text in seen(figure)]
        whole = figure.bbox.padded(2)
        for text, box in boxes:
            assert whole.x0 <= box.x0 <= box.x1 <= whole.x1, f"{name}: {text} is cut"
        for (first, a), (second, b) in combinations(boxes, 2):
            wide = min(a.x1, b.x1) - max(a.x0, b.x0)
            high = min(a.y1, b.y1) - max(a.y0, b.y0)
            assert wide < 2 or high < 2, f"{name}: {first!r} lies on {second!r}"


def test_no_half_of_a_panel_is_empty(figures: dict[str, Figure]) -> None:
    for name, figure in figures.items():
        for ax in panels_of(figure):
            if not ax.axison or ax.get_ylabel() == "" or not (lines := measured(ax)):
                continue
            to_panel = ax.transData + ax.transAxes.inverted()
            at = np.concatenate([to_panel.transform(line.get_xydata())[:, 0] for line in lines])
            at = at[np.isfinite(at) & (at >= -0.01) & (at <= 1.01)]
            place = f"{name}, {ax.get_title('left')}: drawn from {at.min():.2f} to {at.max():.2f}"
            is_one_place = np.ptp(at) < 0.02
            assert is_one_place or at.min() <= 0.5 <= at.max(), place


def test_panels_have_names_of_their_own_and_accuracies_the_level_of_chance(figures: dict[str, Figure]) -> None:
    for name, figure in figures.items():
        shown = panels_of(figure)
        if len(shown) > 1:
            names = [ax.get_title("left") for ax in shown]
            assert all(names), name
            assert len(set(names)) == len(names), f"{name}: {names}"
        for ax in shown:
            if (
                re.search(SCORES, ax.get_ylabel())
                and measured(ax)
                and name not in ("latent_guaranteed", "accuracy_ceiling")
            ):
                assert "chance" in {str(line.get_label()) for line in ax.get_lines()}, f"{name}, {ax.get_title('left')}"


def test_words_are_of_what_is_drawn(figures: dict[str, Figure]) -> None:
    for name, figure in figures.items():
        words = " ".join(text.get_text() for text in seen(figure)).replace("\n", " ")
        assert not re.search(r"\b1 (groups|seeds|mechanisms|data sets)\b|\bnan\b|All \d mechanisms|\bNone\b", words), (
            f"{name}: {words}"
        )
        assert not KEY.search(words), name
        lines: list[Any] = [line for ax in panels_of(figure) for line in ax.get_lines()]
        if "Dashed" in words:
            assert any(line.is_dashed() for line in lines), name
        if "Squares:" in words:
            assert any(line.get_marker() == "s" for line in lines), name
        if "Stars:" in words or "printed by" in words:
            assert any(line.get_marker() == "*" for line in lines), name
