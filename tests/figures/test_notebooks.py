"""The notebooks teach, show their figures inside, and need no run of one's own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from tensorldp.errors import InputError
from tensorldp_papers.plots import notebook
from tensorldp_papers.plots.notebook import load, page, page_of, show, wanted

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


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
    if path.stem not in ("privacy_profiles", "accuracy_ceiling", "frontier"):
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


def test_an_axis_is_one_of_three() -> None:
    assert wanted("", "pure")
    assert wanted("pure", "pure")
    assert not wanted("pure", "nominal")
    with pytest.raises(InputError, match="axis must be one of nominal, guaranteed, pure"):
        wanted("mu", "nominal")


def test_a_figure_is_saved_and_shown_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(notebook, "display", shown.append)
    figure, _ = plt.subplots()
    show(figure, tmp_path / "figure")
    assert (tmp_path / "figure.svg").exists()
    assert shown[0].data == (tmp_path / "figure.png").read_bytes()


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
