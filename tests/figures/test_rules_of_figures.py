"""Every figure that the notebooks draw from the kept results keeps the rules: sizes, five lines, colours, no key."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from keys import KEY
from matplotlib.figure import Figure

from tensorldp.mechanism_table import MECHANISMS
from tensorldp_papers.plots import notebook, style
from tensorldp_papers.plots.lines import MOST_LINES
from tensorldp_papers.plots.sheets import PAGE, PHONE, PIXEL, on

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "results" / "reference"
NOTEBOOKS = [
    path for path in sorted((ROOT / "notebooks").glob("*.ipynb")) if '"parameters"' in path.read_text(encoding="utf-8")
]
LOOKS = {style.look(name).label: style.look(name).colour for name in MECHANISMS.names()}
PALETTE = {
    *(style.INK, style.PAPER, style.QUIET, style.PALE, style.WEAKER),
    *(style.COLOURS.values()),
    *(style.OWN_COLOURS.values()),
}


@dataclass
class Drawn:
    """The figures of one notebook: by name the figure of a page, and both SVGs."""

    figures: dict[str, Figure] = field(default_factory=dict)
    svgs: dict[str, str] = field(default_factory=dict)


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def drawn(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drawn]:
    """What a notebook draws, its cells run here with the kept results."""
    found, folder = Drawn(), tmp_path_factory.mktemp(request.param.stem)

    def show(draw: Callable[[], Figure], stem: Path) -> None:
        for sheet in (PAGE, PHONE):
            with on(sheet):
                figure = draw()
            if sheet is PAGE:
                found.figures[stem.name] = figure
            path = folder / f"{stem.name}{sheet.ending}.svg"
            figure.savefig(path, format="svg")
            found.svgs[path.stem] = path.read_text()

    patch = pytest.MonkeyPatch()
    patch.setattr(notebook, "show", show)
    kept = {"metrics": str(KEPT / "metrics.parquet"), "folder": str(folder / "figures")}
    if (pictures := KEPT / "reconstruction.safetensors").exists():
        kept["pictures"] = str(pictures)
    (folder / "figures").mkdir()
    (folder / "tables").mkdir()
    space: dict[str, object] = {}
    for cell in json.loads(request.param.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), space)
            if "parameters" in cell["metadata"].get("tags", ()):
                space |= {key: value for key, value in kept.items() if key in space}
    yield found
    patch.undo()


def test_a_notebook_draws_something(drawn: Drawn) -> None:
    assert drawn.figures


def test_figures_are_as_wide_as_they_are_shown_and_no_text_is_below_ten_pixels(drawn: Drawn) -> None:
    for name, svg in drawn.svgs.items():
        width = float(re.findall(r'<svg[^>]* width="([\d.]+)pt"', svg)[0])
        shown = PHONE.pixels if name.endswith("_phone") else PAGE.pixels
        assert width == pytest.approx(shown * PIXEL, abs=0.5), name
        smallest = min(map(float, re.findall(r"(?:font-size: |font: (?:[a-z0-9]+ )*)([\d.]+)px", svg)))
        assert smallest >= 10 * PIXEL - 0.01, f"{name}: a text of {smallest / PIXEL:.1f} px"


def test_no_panel_has_more_than_five_lines_in_colour(drawn: Drawn) -> None:
    for name, figure in drawn.figures.items():
        for ax in figure.axes:
            named = [line for line in ax.get_lines() if str(line.get_label())[0] != "_" and line.get_visible()]
            coloured = [line for line in named if line.get_color() not in (style.QUIET, style.INK)]
            assert len(coloured) <= MOST_LINES, f"{name}: {[line.get_label() for line in coloured]}"
            curves = [line for line in ax.get_lines() if np.size(line.get_xdata()) > 2]  # rows of dots are no lines
            every = {str(line.get_color()) for line in curves} - {style.QUIET, style.INK}
            assert len(every) <= MOST_LINES, f"{name}: {every}"


def test_every_colour_is_the_rulers_and_a_mechanism_has_its_own(drawn: Drawn) -> None:
    for name, svg in drawn.svgs.items():
        assert set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", svg)) <= PALETTE, name
    for figure in drawn.figures.values():
        for line in (line for ax in figure.axes for line in ax.get_lines()):
            if (text := str(line.get_label()).split(",")[0]) in LOOKS:
                assert line.get_color() == LOOKS[text]


def test_no_text_has_a_key_in_it(drawn: Drawn) -> None:
    for name, svg in drawn.svgs.items():
        for text in re.findall(r"<text[^>]*>(.*?)</text>", svg, re.DOTALL):
            said = html.unescape(re.sub(r"<[^>]+>", "", text))
            assert not KEY.search(said), f"{name}: {said!r}"


def test_a_figure_has_a_title_that_is_seen_first(drawn: Drawn) -> None:
    for name, figure in drawn.figures.items():
        largest = max(float(text.get_fontsize()) for text in figure.texts)
        (title,) = {text.get_fontweight() for text in figure.texts if text.get_fontsize() == largest}
        assert title == "bold", name


ELSEWHERE = ("style.py", "notebook.py")  # the one place, and the page around a notebook
CODE = [
    *(ROOT / "src/tensorldp_papers/plots").glob("*.py"),
    *(ROOT / "src/tensorldp_papers/papers").glob("*/figures.py"),
    *(ROOT / "src/tensorldp_papers/report").rglob("*.py"),
    *(ROOT / "src/tensorldp_papers/report").rglob("*.js"),
]


@pytest.mark.parametrize("path", [path for path in CODE if path.name not in ELSEWHERE], ids=lambda path: path.name)
def test_colours_are_given_in_one_place(path: Path) -> None:
    assert not re.findall(r"#[0-9a-fA-F]{6}\b|color=[\"'](?!none)[a-z]", path.read_text()), path
