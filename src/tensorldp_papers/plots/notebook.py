"""What the notebooks share: where their numbers come from, and how their figures are shown and saved."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from IPython.display import Image, display
from matplotlib.figure import Figure

from tensorldp.errors import unknown
from tensorldp_papers.plots.means import read_metrics
from tensorldp_papers.plots.names import dataset_name
from tensorldp_papers.plots.sheets import DOUBLE, PAGE, save
from tensorldp_papers.plots.style import label
from tensorldp_papers.plots.words import own_data, whole_number
from tensorldp_papers.rooms import paper_of


def load(metrics: str, folder: str, study: str = "", dataset: str = "") -> tuple[pd.DataFrame, Path]:
    """Loads the metrics of a study, and where figures go; the kept reference results where there is no run yet.

    Args:
        metrics: the metrics table of a run. Where it is missing, results/reference beside it is read.
        folder: of the figures; of the reference results they go to results/reference_figures/figures.
        study: whose rows; "" loads those of all studies.
        dataset: keep this one of the study alone; "" keeps all.

    Raises:
        InputError: if neither table is there, or the study has no such data set.
    """
    path, out = Path(metrics), Path(folder)
    if not path.exists() and (kept := path.parent / "reference" / path.name).exists():
        path, out = kept, path.parent / "reference_figures" / "figures"
    table = read_metrics(path, [study] if study else [])
    if dataset:
        if dataset not in set(table["dataset"]):
            raise unknown(f"data set of {study}", dataset, sorted(set(table["dataset"])))
        table = table[table["dataset"] == dataset]
    if study and (names := own_data(table["dataset"], paper_of(study))):
        print(f"Your data, {', '.join(names)}, by the method of the source, which lacks them.")
    for place in (out, out.parent / "tables"):
        place.mkdir(parents=True, exist_ok=True)
    return table, out


def title_of(figure: Figure) -> str:
    """Returns the sentence in bold that stands above a figure's panels."""
    return " ".join(text.get_text() for text in figure.texts if text.get_fontweight() == "bold")


def show(draw: Callable[[], Figure], stem: Path | None = None) -> None:
    """Shows a figure below the cell, and saves it for pages and phones (see `tensorldp_papers.plots.sheets.save`).

    Args:
        draw: makes the figure, whose title is also its text alternative.
        stem: its path without the ending; without one it is only shown.
    """
    drawn: list[Figure] = []

    def noted() -> Figure:
        drawn.append(draw())
        return drawn[-1]

    if stem is None:
        noted().savefig(stream := io.BytesIO(), format="png", dpi=DOUBLE, metadata={"Software": None})
        png = stream.getvalue()
    else:
        save(noted, stem)
        png = stem.with_name(f"{stem.name}.png").read_bytes()
    display(Image(data=png, width=PAGE.pixels, alt=title_of(drawn[0])))


def show_table(table: pd.DataFrame, heads: Mapping[str, str]) -> None:
    """Shows some columns of a small table below the cell, with the names and numbers that people write.

    Args:
        table: any.
        heads: what is written above each column, by its name.
    """
    text = table[list(heads)].astype(object).map(_said).set_axis(list(heads.values()), axis="columns")
    shown = {"text/html": text.to_html(index=False, border=0), "text/plain": text.to_string(index=False)}
    display(shown, raw=True)


def _said(value: Any) -> str:
    if isinstance(value, str):
        return dataset_name(label(value))
    return "–" if pd.isna(value) else whole_number(value)
