"""What the notebooks share: where their numbers come from, and figures inside pages that need no network."""

from __future__ import annotations

import base64
import html
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from IPython.display import Image, display
from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from matplotlib.figure import Figure
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from tensorldp.errors import InputError, unknown
from tensorldp_papers.plots.means import read_metrics
from tensorldp_papers.plots.sheets import save
from tensorldp_papers.plots.words import own_data
from tensorldp_papers.run.study import paper_of


def as_svg(figure: Figure, title: str) -> Markup:
    """The figure as an image that carries its own data, with a title for those who cannot see it."""
    stream = io.BytesIO()
    figure.savefig(stream, format="svg", bbox_inches="tight", metadata={"Date": None})
    data = base64.b64encode(stream.getvalue()).decode()
    return Markup('<img alt="{}" src="data:image/svg+xml;base64,{}">').format(escape(title), data)


STYLE = """:root { color-scheme: light; }
body { font: 1rem/1.55 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 62rem; margin: 0 auto;
  padding: 1rem 1.25rem 3rem; }
img { max-width: 100%; height: auto; } pre { overflow-x: auto; font-size: .85rem; } summary { cursor: pointer; }
p, li { max-width: 46rem; } details { color: #4d4d4d; margin: .25rem 0 1rem; } a { color: #0b4f94; }
"""


def _output(output: dict[str, Any]) -> str:
    """A picture or the text of an output."""
    data = output.get("data", {})
    if "image/png" in data:
        return f'<img alt="figure of this notebook" src="data:image/png;base64,{"".join(data["image/png"]).strip()}">'
    text = output.get("text") or data.get("text/plain") or ""
    return f'<pre tabindex="0">{html.escape("".join(text))}</pre>' if text else ""


def page(notebook: dict[str, Any], title: str) -> str:
    """The page of a notebook.

    Args:
        notebook: its JSON, format 4.
        title: of the page.
    """
    words = MarkdownIt("commonmark")
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(words.render(source))
        elif cell["cell_type"] == "code":
            code = highlight(source, PythonLexer(), HtmlFormatter(nowrap=True))
            parts += filter(None, (_output(output) for output in cell.get("outputs", [])))
            parts.append(f'<details><summary>Code</summary><pre tabindex="0">{code}</pre></details>')
    colours = HtmlFormatter(style="default").get_style_defs("pre")
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{html.escape(title)}</title>\n'
        f'<link rel="icon" href="data:,">\n<style>\n{STYLE}{colours}\n</style>\n</head>\n<body>\n'
        f'<p><a href="../report.html">Report of this run</a></p>\n<main>\n{"".join(parts)}\n</main>\n</body>\n</html>\n'
    )


def page_of(path: Path) -> str:
    """The page of the notebook in a file.

    Raises:
        InputError: if the file is missing or is no notebook.
    """
    try:
        notebook = json.loads(path.read_text())
        return page(notebook, path.stem)
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{path} is not a notebook that can be read") from None


WIDTH = 830  # pixels of a figure in a notebook


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
    """Show a figure below the cell, and save it for pages and phones (see `tensorldp_papers.plots.sheets.save`).

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
