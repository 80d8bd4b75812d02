"""What a run says last: what it made and where, or that its folder cannot be written."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import make_project

pytestmark = pytest.mark.workflow


def test_the_last_line_names_what_was_made_where_it_is(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    done = project.snakemake("--", "resources/datasets/digits/digest.json")
    assert done.returncode == 0, done.stderr
    assert f"Finished in {tmp_path}." in done.stdout
    assert "report.html" not in done.stdout  # nobody asked for one


# stands in for a folder without the right to write, which root has everywhere
DENIED = "import os\nallowed = os.access\nos.access = lambda path, mode: path != '.' and allowed(path, mode)\n"


def test_a_folder_that_cannot_be_written_is_named_in_a_sentence(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    (tmp_path / "denied").mkdir()
    (tmp_path / "denied" / "sitecustomize.py").write_text(DENIED)
    done = project.snakemake("--dry-run", env={"PYTHONPATH": str(tmp_path / "denied")})
    assert done.returncode != 0
    assert f"error: the folder {tmp_path} cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
