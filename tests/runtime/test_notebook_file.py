"""A notebook that cannot be run, takes no parameters or ends by itself is one sentence, and nothing lies elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.plots.notebook_file import check_ended, check_notebook

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "workflow" / "scripts" / "notebook.py"


def cell(source: str, *tags: str, **changes: Any) -> dict[str, Any]:
    made = {"cell_type": "code", "metadata": {"tags": list(tags)} if tags else {}, "source": source, "outputs": []}
    return {**made, "execution_count": None, "id": "a", **changes}


SETS = cell('metrics = "../m"\nfolder = "../elsewhere"', "parameters")
WRITES = cell("from pathlib import Path\nPath(folder).mkdir(parents=True)")
EARLIER = cell("folder = 1", "injected-parameters")


def notebook(*cells: Any, **changes: Any) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **changes}


WHOLE = json.dumps(notebook(SETS, WRITES), indent=1)
UNNAMED = {key: value for key, value in SETS.items() if key != "id"}
FOREIGN_KERNEL = {"kernelspec": {"name": "ir", "language": "R", "display_name": "R"}, "colab": {"provenance": []}}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (f"<<<<<<< HEAD\n{WHOLE}\n=======\n{WHOLE}\n>>>>>>> other\n", "has conflict marks of Git at line 1: resolve"),
        (WHOLE[:100], r"is no JSON at line \d+: restore"),
        ("", "is no JSON at line 1"),
        ([1], "is not a notebook of format 4"),
        (notebook(nbformat=3, worksheets=[]), "is not as Jupyter writes it|is not a notebook of format 4"),
        (notebook(SETS, WRITES, metadata=None), "is not as Jupyter writes it at metadata"),
        (notebook(SETS, metadata={"kernelspec": "python3"}), "is not as Jupyter writes it at metadata/kernelspec"),
        (notebook(SETS, metadata={"papermill": 1}), "is not as Jupyter writes it at metadata/papermill"),
        (notebook(SETS, cell("1", metadata=None)), "is not as Jupyter writes it at cells/1"),
        (
            notebook(cell("metrics = folder = 1"), WRITES),
            "would not take metrics, folder: no cell has the tag parameters",
        ),
        (notebook(SETS, SETS, WRITES), "2 cells have the tag parameters"),
        (notebook(cell("metrics = 1", "parameters")), "would not take folder: its cell tagged parameters sets no such"),
        (notebook(EARLIER, SETS), "has the values of an earlier run: delete the cell tagged injected-parameters"),
    ],
)
def test_what_cannot_be_run_or_takes_no_parameters_is_one_sentence(content: Any, told: str, tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(InputError, match=told) as raised:
        check_notebook(path, ["metrics", "folder"])
    assert "\n" not in str(raised.value)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    "content",
    [notebook(SETS, WRITES, metadata=FOREIGN_KERNEL), notebook(UNNAMED, WRITES, nbformat_minor=4), notebook(UNNAMED)],
)
def test_other_kernels_and_cells_without_names_are_run(content: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps(content))
    check_notebook(path, ["metrics", "folder"])


def test_our_own_notebooks_take_what_the_workflow_gives_them() -> None:
    found = [path for path in (ROOT / "notebooks").glob("*.ipynb") if path.stem != "what_epsilon_means"]
    assert len(found) > 10
    for path in found:
        check_notebook(path, ["metrics", "folder"])


def test_a_cell_that_did_not_run_or_left_is_an_early_end(tmp_path: Path) -> None:
    path, source = tmp_path / "out.ipynb", Path("n.ipynb")
    left = {"output_type": "error", "ename": "SystemExit", "evalue": "0", "traceback": []}
    ran = cell("1", execution_count=1)
    ends: list[tuple[list[dict[str, Any]], str]] = [
        ([ran, cell("import sys; sys.exit(0)", execution_count=2, outputs=[left])], "code cell 2 of 2"),
        ([EARLIER, ran, cell("2"), cell("3")], "code cell 2 of 3"),
    ]
    for cells, told in ends:
        path.write_text(json.dumps(notebook(*cells)))
        with pytest.raises(InputError, match=rf"^the notebook n\.ipynb ended by itself in {told} \(sys\.exit"):
            check_ended(path, source)


@pytest.mark.parametrize(
    ("code", "told"), [("import sys\nsys.exit(0)", "ended by itself in code cell 2 of 3"), ("", "")]
)
def test_a_notebook_without_a_kernel_is_run_and_one_that_leaves_early_fails(
    code: str, told: str, tmp_path: Path
) -> None:
    """sys.exit(0) is success for papermill."""
    inner = tmp_path / "run"
    inner.mkdir()
    (inner / "n.ipynb").write_text(json.dumps(notebook(SETS, *([cell(code)] if code else []), WRITES)))
    command = [sys.executable, str(SCRIPT), "n.ipynb", "out.ipynb", "-p", "metrics", "m", "-p", "folder", "figures"]
    done = subprocess.run(command, cwd=inner, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == int(bool(told)), done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert (inner / "figures").exists() is not bool(told)
    assert (inner / "out.html").exists() is not bool(told)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
