"""What the notebooks share: where their numbers come from, and how their figures are shown and saved."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from IPython.display import Image, display
from matplotlib.figure import Figure

from tensorldp.errors import unknown
from tensorldp_papers.plots.means import read_metrics
from tensorldp_papers.plots.sheets import save
from tensorldp_papers.plots.words import own_data
from tensorldp_papers.rooms import paper_of

WIDTH = 830  # pixels of a figure in a notebook


def load(metrics: str, folder: str, study: str = "", dataset: str = "") -> tuple[pd.DataFrame, Path]:
    """Loads the metrics table, and where figures go; the kept reference results where there is no run yet.

    Args:
        metrics: the metrics table of a run. Where it is missing, results/reference beside it is read.
        folder: of the figures; of the reference results they go to results/reference_figures/figures.
        study: whose data sets may be chosen from.
        dataset: keep this one of the study alone; "" keeps all.

    Raises:
        InputError: if neither table is there, or the study has no such data set.
    """
    path, out = Path(metrics), Path(folder)
    if not path.exists() and (kept := path.parent / "reference" / path.name).exists():
        path, out = kept, path.parent / "reference_figures" / "figures"
    table = read_metrics(path)
    if dataset:
        of_study = table["study"] == study
        if dataset not in set(table.loc[of_study, "dataset"]):
            raise unknown(f"data set of {study}", dataset, sorted(set(table.loc[of_study, "dataset"])))
        table = table[~of_study | (table["dataset"] == dataset)]
    if names := own_data(table.loc[table["study"] == study, "dataset"], paper_of(study)):
        print(f"Your data, {', '.join(names)}, by the method of the source, which lacks them.")
    for place in (out, out.parent / "tables"):
        place.mkdir(parents=True, exist_ok=True)
    return table, out


def show(draw: Callable[[], Figure], stem: Path | None = None) -> None:
    """Shows a figure below the cell, and saves it for pages and phones (see `tensorldp_papers.plots.sheets.save`).

    Args:
        draw: makes the figure.
        stem: its path without the ending; without one it is only shown.
    """
    if stem is None:
        stream = io.BytesIO()
        figure = draw()
        figure.savefig(stream, format="png", dpi=120, metadata={"Software": None})
        display(Image(data=stream.getvalue(), width=WIDTH))
        return
    save(draw, stem)
    display(Image(filename=str(stem.with_name(f"{stem.name}.png")), width=WIDTH))
