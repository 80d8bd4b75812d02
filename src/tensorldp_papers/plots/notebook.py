"""What the notebooks share: where their numbers come from, and figures inside their own pages."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import Image, display
from matplotlib.figure import Figure

from tensorldp.errors import InputError, unknown
from tensorldp_papers.plots.curves import read_metrics
from tensorldp_papers.plots.own_data import own_data
from tensorldp_papers.plots.style import save
from tensorldp_papers.run.study import paper_of

AXES = ("nominal", "guaranteed", "pure")
WIDTH = 900  # pixels of a figure in a notebook


def load(metrics: str, folder: str, study: str = "", dataset: str = "") -> tuple[pd.DataFrame, Path]:
    """The metrics table, and where figures go; the kept reference results where there is no run yet.

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
        own = table["study"] == study
        if dataset not in set(table.loc[own, "dataset"]):
            raise unknown(f"data set of {study}", dataset, sorted(set(table.loc[own, "dataset"])))
        table = table[~own | (table["dataset"] == dataset)]
    if names := own_data(table.loc[table["study"] == study, "dataset"], paper_of(study)):
        print(f"Your data, {', '.join(names)}, by the method of the source, which lacks them.")
    for place in (out, out.parent / "tables"):
        place.mkdir(parents=True, exist_ok=True)
    return table, out


def wanted(axis: str, name: str) -> bool:
    """Whether a figure on the axis `name` is to be drawn; "" asks for every axis.

    Raises:
        InputError: if the axis is none of `AXES`.
    """
    if axis and axis not in AXES:
        raise InputError(f"axis must be one of {', '.join(AXES)} or empty, got {axis!r}")
    return axis in ("", name)


def show(figure: Figure, stem: Path) -> None:
    """Save a figure as stem.png and stem.svg, and show it below the cell."""
    save(figure, stem)
    plt.close(figure)
    display(Image(filename=str(stem.with_name(f"{stem.name}.png")), width=WIDTH))
