"""The notebooks teach, show their figures inside, and need no run of one's own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

from tensorldp.errors import InputError
from tensorldp_papers.plots import notebook
from tensorldp_papers.plots.notebook import load, page, page_of, show
from tensorldp_papers.plots.sheets import finish, panels

FOLDER = Path(__file__).parents[2] / "notebooks"
TEACHES = FOLDER / "what_epsilon_means.ipynb"  # it draws no figure of a run
NOTEBOOKS = sorted(set(FOLDER.glob("*.ipynb")) - {TEACHES})


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_paragraph_stands_before_each_step(path: Path) -> None:
    cells = json.loads(path.read_text())["cells"]
    assert [cell["cell_type"] for cell in cells[:2]] == ["markdown", "code"]
    assert "parameters" in cells[1]["metadata"]["tags"]
    for words, code in zip(cells[2::2], cells[3::2], strict=True):
        assert (words["cell_type"], code["cell_type"]) == ("markdown", "code")
        assert len("".join(words["source"])) > 20
        assert not code["outputs"]
    source = "".join(line for cell in cells[1::2] for line in cell["source"])
    assert "load(metrics, folder" in source or "Path(folder)" in source
    assert "show(" in source
    assert not re.search(r"\bsave\(", source)
    if path.stem not in ("privacy_profiles", "accuracy_ceiling", "frontier", "epsilon_you_get", "epsilon_in_pictures"):
        assert 'dataset = ""' in source


def test_without_a_run_the_kept_results_are_read(tmp_path: Path) -> None:
    (tmp_path / "results" / "reference").mkdir(parents=True)
    table = pd.DataFrame({"study": ["s", "s", "t"], "dataset": ["a", "b", "c"]})
    table.to_parquet(tmp_path / "results" / "reference" / "metrics.parquet")
    missing = str(tmp_path / "results" / "metrics.parquet")
    found, out = load(missing, str(tmp_path / "results" / "figures"))
    assert len(found) == 3
    assert out == tmp_path / "results" / "reference_figures" / "figures"
    assert (out.parent / "tables").is_dir()
    own, _ = load(missing, "", "s", "b")
    assert list(own["dataset"]) == ["b", "c"]
    with pytest.raises(InputError, match="data set of s"):
        load(missing, "", "s", "c")
    with pytest.raises(InputError, match="cannot be read"):
        load(str(tmp_path / "metrics.parquet"), str(tmp_path / "figures"))


def test_a_figure_is_saved_and_shown_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(notebook, "display", shown.append)

    def draw() -> Figure:
        figure, _ = panels(1)
        return finish(figure, "A figure")

    show(draw, tmp_path / "figure")
    assert {path.name for path in tmp_path.iterdir()} == {
        *("figure.png", "figure_dark.png", "figure.svg", "figure_phone.svg")
    }
    assert shown[0].data == (tmp_path / "figure.png").read_bytes()
    show(draw)
    assert len(shown) == 2
    assert len(list(tmp_path.iterdir())) == 4


def test_a_page_has_words_code_and_pictures_and_asks_for_nothing(tmp_path: Path) -> None:
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "source": ["# Title\n", "**Words** with <angles>"]},
        {
            "cell_type": "code",
            "source": ["x = 1 < 2"],
            "outputs": [{"data": {"image/png": "AAAA\n"}}, {"text": ["a < b"]}, {"data": {}}],
        },
    ]
    text = page({"cells": cells}, "name & more")
    assert "<h1>Title</h1>" in text
    assert "<strong>Words</strong>" in text
    assert 'src="data:image/png;base64,AAAA"' in text
    assert "a &lt; b" in text
    assert "<title>name &amp; more</title>" in text
    assert not re.search(r"https?:|<script|@import", text)
    with pytest.raises(InputError, match="is not a notebook"):
        page_of(tmp_path / "none.ipynb")
    (tmp_path / "bad.ipynb").write_text("[]")
    with pytest.raises(InputError, match="is not a notebook"):
        page_of(tmp_path / "bad.ipynb")


def test_the_notebook_that_teaches_an_epsilon_finds_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = json.loads(TEACHES.read_text())["cells"]
    said = "".join(line for cell in cells for output in cell.get("outputs", []) for line in output.get("text", []))
    printed: list[str] = []
    shown: list[Figure] = []
    monkeypatch.setattr(notebook, "show", lambda draw: shown.append(draw()))
    space: dict[str, Any] = {"print": lambda *words: printed.append(" ".join(words))}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), space)
    assert said.split() == " ".join(printed).split()
    assert "epsilon 382.3" in said
    assert "784" in said
    pictures = [output for cell in cells for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]
    assert len(shown) == len(pictures)
