"""The notebooks teach and show their figures inside, which all keep the rules: sizes, five lines, colours, no key."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from keys import KEY
from made_up import table
from matplotlib.figure import Figure
from matplotlib.text import Text

from tensorldp.errors import InputError
from tensorldp.mechanism_table import MECHANISMS
from tensorldp.mechanisms.pldp_fl import PdpmCurve
from tensorldp_papers.plots import notebook, notebook_page, style
from tensorldp_papers.plots.lines import MOST_LINES
from tensorldp_papers.plots.means import read_metrics
from tensorldp_papers.plots.sheets import PAGE, PHONE, PIXEL, TITLE, Sheet, as_svg, finish, on, panels
from tensorldp_papers.rooms import papers

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "results" / "reference"
TEACHES = ROOT / "notebooks" / "what_epsilon_means.ipynb"  # it draws no figure of a run
NOTEBOOKS = sorted({*(ROOT / "notebooks").glob("*.ipynb")} - {TEACHES})
LOOKS = {style.look(name).label: style.look(name).colour for name in MECHANISMS.names()}
REFERENCES = {style.QUIET, style.INK}
PAPERS = {source.short for source in papers().values()}  # whose names stand at what they propose
PALETTE = {*REFERENCES, style.PAPER, style.PALE, style.WEAKER, *style.HEAT, *LOOKS.values()}
SIZE = re.compile(r"(?:font-size: |font: (?:[a-z0-9]+ )*)([\d.]+)px")


holds = cache(PdpmCurve.holds)  # a proof of seconds, which two sizes of a figure need


@cache
def kept_metrics(path: Path) -> pd.DataFrame:
    return read_metrics(path)


def kept_rows(path: Path, studies: Sequence[str]) -> pd.DataFrame:
    """Read once for all notebooks: a copy of the rows of some studies, or of all."""
    rows = kept_metrics(path)
    return rows[rows["study"].isin(studies or rows["study"])].copy()


def run(path: Path, space: dict[str, Any], **parameters: str) -> None:
    """Run a notebook's cells here, with other values of those parameters that it has."""
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), space)
            if "parameters" in cell["metadata"].get("tags", ()):
                space |= {key: value for key, value in parameters.items() if key in space}


def outputs(path: Path) -> list[dict[str, Any]]:
    """What a notebook's file shows below its cells."""
    return [output for cell in json.loads(path.read_text())["cells"] for output in cell.get("outputs", ())]


def titles(path: Path) -> list[str]:
    """Those of the pictures that it shows."""
    return [output["metadata"]["image/png"]["alt"] for output in outputs(path) if "image/png" in output.get("data", {})]


@dataclass
class Drawn:
    """The figures of one notebook by name and sheet, what their files on a phone have, and its tables."""

    notebook: Path
    figures: dict[tuple[str, Sheet], Figure] = field(default_factory=dict)
    svgs: dict[str, str] = field(default_factory=dict)
    tables: list[str] = field(default_factory=list)

    def display(self, data: dict[str, str], raw: bool) -> None:
        self.tables.append(data["text/plain"])

    def show(self, draw: Callable[[], Figure], stem: Path) -> None:
        for sheet in (PAGE, PHONE):
            with on(sheet):
                self.figures[stem.name, sheet] = draw()
        self.figures[stem.name, PHONE].savefig(svg := StringIO(), format="svg")
        self.svgs[stem.name] = svg.getvalue()


def texts(figure: Figure) -> list[Text]:
    """All texts that are seen."""
    every = [text for text in figure.findobj(Text) if isinstance(text, Text)]
    return [text for text in every if text.get_visible() and text.get_text()]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(path, marks=[pytest.mark.slow, pytest.mark.xdist_group(path.stem)], id=path.stem)
        for path in NOTEBOOKS
    ],
)
def drawn(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    """What a notebook draws, its cells run here with the kept results."""
    found, folder = Drawn(request.param), tmp_path_factory.mktemp(request.param.stem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(notebook, "show", found.show)
        patch.setattr(notebook, "display", found.display)
        patch.setattr(notebook, "read_metrics", kept_rows)
        patch.setattr(PdpmCurve, "holds", lambda *asked: holds(*asked))
        for name in ("figures", "tables"):
            (folder / name).mkdir()
        pictures = str(KEPT / "reconstruction.safetensors")
        run(request.param, {}, metrics=str(KEPT / "metrics.parquet"), folder=str(folder / "figures"), pictures=pictures)
    return found


def test_a_notebook_draws_figures_with_a_title_that_is_seen_first(drawn: Drawn) -> None:
    assert drawn.figures
    for name, figure in drawn.figures.items():
        largest = max(float(text.get_fontsize()) for text in figure.texts)
        assert {text.get_fontweight() for text in figure.texts if text.get_fontsize() == largest} == {"bold"}, name


def test_the_notebook_shows_what_is_drawn_now(drawn: Drawn) -> None:
    """Where it does not, `snakemake keep_figures` stores it anew."""
    pages = [figure for (_, sheet), figure in drawn.figures.items() if sheet is PAGE]
    tables = [output["data"]["text/plain"] for output in outputs(drawn.notebook) if "text/html" in output["data"]]
    assert titles(drawn.notebook) == [notebook.title_of(figure) for figure in pages]
    assert ["".join(lines) for lines in tables] == drawn.tables


def test_figures_are_as_wide_as_they_are_shown_and_no_text_is_below_ten_pixels(drawn: Drawn) -> None:
    for (name, sheet), figure in drawn.figures.items():
        assert figure.get_figwidth() == pytest.approx(sheet.pixels / 96, abs=0.01), name
        smallest = min(float(text.get_fontsize()) for text in texts(figure))
        assert smallest >= 10 * PIXEL - 0.01, f"{name}: a text of {smallest / PIXEL:.1f} px"
    for name, svg in drawn.svgs.items():
        assert float(re.findall(r'<svg[^>]* width="([\d.]+)pt"', svg)[0]) == pytest.approx(PHONE.pixels * PIXEL), name
        assert min(map(float, SIZE.findall(svg))) >= 10 * PIXEL - 0.01, name


def test_no_panel_has_more_than_five_lines_in_colour(drawn: Drawn) -> None:
    for name, ax in ((name, ax) for name, figure in drawn.figures.items() for ax in figure.axes):
        named = [line for line in ax.get_lines() if str(line.get_label())[0] != "_" and line.get_visible()]
        coloured = {line.get_label() for line in named if line.get_color() not in REFERENCES}
        assert len(coloured) <= MOST_LINES, f"{name}: {coloured}"
        curves = [line for line in ax.get_lines() if np.size(line.get_xdata()) > 2]  # rows of dots are no lines
        colours = {str(line.get_color()) for line in curves} - REFERENCES
        assert len(colours) <= MOST_LINES, f"{name}: {colours}"


def test_every_colour_is_the_rulers_and_a_mechanism_has_its_own(drawn: Drawn) -> None:
    for name, svg in drawn.svgs.items():
        assert set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", svg)) <= PALETTE, name
    for line in (line for figure in drawn.figures.values() for ax in figure.axes for line in ax.get_lines()):
        if (text := str(line.get_label()).split(",")[0]) in LOOKS.keys() - PAPERS:
            assert line.get_color() == LOOKS[text]


def test_no_text_has_a_key_in_it(drawn: Drawn) -> None:
    for name, figure in drawn.figures.items():
        assert [text.get_text() for text in texts(figure) if KEY.search(text.get_text())] == [], name


def test_colours_are_given_in_one_place() -> None:
    package, elsewhere = ROOT / "src/tensorldp_papers", ("style.py", "notebook_page.py")  # the place, a notebook's page
    patterns = ("plots/*.py", "papers/*/figures.py", "report/**/*.py", "report/**/*.js")
    for path in (path for pattern in patterns for path in package.glob(pattern) if path.name not in elsewhere):
        assert not re.findall(r"#[0-9a-fA-F]{6}\b|color=[\"'](?!none)[a-z]", path.read_text()), path


# notebooks


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_paragraph_stands_before_each_step(path: Path) -> None:
    cells = json.loads(path.read_text())["cells"]
    assert [cell["cell_type"] for cell in cells] == ["markdown", "code"] * (len(cells) // 2)
    assert "parameters" in cells[1]["metadata"]["tags"]
    assert all(len("".join(words["source"])) > 20 for words in cells[2::2])
    source = "".join(line for cell in cells[1::2] for line in cell["source"])
    assert "load(metrics, folder" in source or "Path(folder)" in source
    assert "show(" in source
    assert not re.search(r"\bsave\(", source)
    if path.stem not in ("privacy_profiles", "accuracy_ceiling", "frontier", "epsilon_you_get", "epsilon_in_pictures"):
        assert 'dataset = ""' in source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_begins_with_its_question_and_how_to_read_the_answer(path: Path) -> None:
    words = "".join(json.loads(path.read_text())["cells"][0]["source"])
    assert re.search(r"^# .+\n\*\*The question\.\*\* .+\?.*\n\n\*\*How to read the answer\.\*\* ", words)
    assert 60 <= len(words.split()) <= 125
    assert KEY.findall(words) == []
    targets = re.findall(r"\]\(([^)#]+)", words)
    assert [target for target in targets if not (path.parent / target).is_file()] == []
    assert targets


def test_stored_outputs_are_small_and_say_nothing_of_the_run_that_made_them() -> None:
    paths = [*NOTEBOOKS, TEACHES]
    assert sum(path.stat().st_size for path in paths) < 2_200_000
    for path in paths:
        file = json.loads(path.read_text())
        assert set(file["metadata"]) == {"kernelspec", "language_info"}, path
        assert {key for cell in file["cells"] for key in cell["metadata"]} <= {"tags"}, path
        assert {cell.get("execution_count") for cell in file["cells"]} == {None}, path
        assert [output for output in outputs(path) if output.get("name") == "stderr"] == [], path


def test_the_figures_of_the_pages_are_those_that_the_notebooks_show() -> None:
    shown = [title for path in NOTEBOOKS for title in titles(path)]
    for path in (ROOT / "docs" / "figures").glob("*.svg"):
        lines = re.findall(rf"font-size: {TITLE:g}px[^>]*>([^<]*)<", path.read_text())
        assert html.unescape(" ".join(lines)) in shown, path.name


@pytest.mark.slow
def test_the_notebook_that_teaches_an_epsilon_finds_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "".join(line for output in outputs(TEACHES) for line in output.get("text", []))
    printed: list[str] = []
    shown: list[Figure] = []
    monkeypatch.setattr(notebook, "show", lambda draw: shown.append(draw()))
    run(TEACHES, {"print": lambda *words: printed.append(" ".join(words))})
    assert said.split() == " ".join(printed).split()
    assert "epsilon 382.3" in said
    assert "784" in said
    assert titles(TEACHES) == [notebook.title_of(figure) for figure in shown]


def test_without_a_run_the_kept_results_are_read_and_a_users_own_data_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results"
    (results / "reference").mkdir(parents=True)
    kept = pd.DataFrame({"study": ["s", "s", "t"], "dataset": ["a", "b", "c"]})
    kept.to_parquet(results / "reference" / "metrics.parquet")
    missing = str(results / "metrics.parquet")
    found, out = notebook.load(missing, str(results / "figures"))
    assert len(found) == 3
    assert out == results / "reference_figures" / "figures"
    assert (out.parent / "tables").is_dir()
    assert list(notebook.load(missing, "", "s", "b")[0]["dataset"]) == ["b"]
    with pytest.raises(InputError, match="data set of s"):
        notebook.load(missing, "", "s", "c")
    with pytest.raises(InputError, match="is missing"):
        notebook.load(str(tmp_path / "metrics.parquet"), str(tmp_path / "figures"))
    table(dataset="mine").to_parquet(missing)
    notebook.load(missing, str(results / "figures"), "tldp_type1")
    assert capsys.readouterr().out == "Your data, mine, by the method of the source, which lacks them.\n"


def test_a_figure_is_saved_and_shown_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(notebook, "display", shown.append)
    for stem in (tmp_path / "figure", None):
        notebook.show(lambda: finish(panels(1)[0], "A figure"), stem)
    made = {"figure.png", "figure_dark.png", "figure.svg", "figure_phone.svg"}
    assert {path.name for path in tmp_path.iterdir()} == made
    assert len(shown) == 2
    assert shown[0].data == (tmp_path / "figure.png").read_bytes()
    assert {picture.alt for picture in shown} == {"A figure"}


def test_layouts_that_differ_in_their_last_bits_are_the_same_file() -> None:
    def drawn(left: float) -> str:
        figure = Figure()
        figure.add_axes((left, 0.1, 0.8, 0.8)).plot([0, 1], [0, 1])
        return as_svg(figure)

    assert drawn(0.1) == drawn(0.1 + 1e-15) != drawn(0.11)
    clips = re.findall(r'clip-path="url\(#(\w+)\)', drawn(0.1))
    assert clips
    assert set(clips) == set(re.findall(r'<clipPath id="(\w+)"', drawn(0.1)))


def test_a_page_has_words_code_and_pictures_and_asks_for_nothing(tmp_path: Path) -> None:
    picture = {"data": {"image/png": "AAAA\n"}, "metadata": {"image/png": {"alt": "ε < 1"}}}
    table = {"data": {"text/html": ["<table>", "</table>"], "text/plain": "a b"}}
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "**Words** with <angles>, [a link](../docs/a.md)"]},
        {"cell_type": "code", "source": ["x = 1 < 2"], "outputs": [picture, table, {"text": ["a < b"]}, {"data": {}}]},
    ]
    text = notebook_page.page({"cells": cells}, "name & more")
    picture_there = '<img class="light" alt="ε &lt; 1" src="data:image/png;base64,AAAA">'
    for part in (
        "<h1>Title</h1>",
        "<strong>Words</strong>",
        ", a link</p>",
        picture_there,
        "<table></table>",
        "a &lt; b",
    ):
        assert part in text
    assert "<title>name &amp; more</title>" in text
    assert not re.search(r"https?:|<script|@import", text)
    (tmp_path / "bad.ipynb").write_text("[]")
    for name in ("none.ipynb", "bad.ipynb"):
        with pytest.raises(InputError, match="is not a notebook"):
            notebook_page.page_of(tmp_path / name)
