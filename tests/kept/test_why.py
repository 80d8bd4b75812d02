"""One command says of a cell whether its results count, and what changed since they were made."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from kept_runs import WORKFLOW, Kept, finish, tiny

from tensorldp.errors import InputError
from tensorldp.files import write_json
from tensorldp.mechanism_table import TABLE
from tensorldp_papers.kept.why import cell_of, why
from tensorldp_papers.run.code_digest import code_of_cell, job_of_cell, source_listing
from tensorldp_papers.run.store import note_code

SCRIPTS = WORKFLOW / "scripts"
CELL = replace(next(cell for cell in tiny() if cell.mechanism == "mvg"), seeds=(0,))


def told(folder: Path) -> str:
    (line,) = why(CELL, folder / "results", folder / "reference", SCRIPTS).splitlines()[1:]
    return line.strip()


def run(folder: Path, code: str | None = None) -> None:
    finish(folder / "results", [CELL], code=code)
    code = code or code_of_cell(CELL, SCRIPTS)
    listing = source_listing(*job_of_cell(CELL, SCRIPTS))
    if code == "old":
        listing |= {"tensorldp/mechanisms/mvg.py": "of then", "tensorldp/gone.py": "of then"}
    note_code(folder / "results", code, lambda: listing)


def test_a_result_of_today_counts(tmp_path: Path) -> None:
    assert told(tmp_path) == "seed 0: never computed here, and not kept"
    run(tmp_path)
    assert told(tmp_path) == "seed 0: in the run's folder, counts (made by commit abc)"


def test_of_a_runs_result_the_code_files_settings_and_data_that_changed_are_named(tmp_path: Path) -> None:
    run(tmp_path, "old")
    assert told(tmp_path).endswith(": code changed in tensorldp/gone.py, tensorldp/mechanisms/mvg.py")
    (tmp_path / "results" / "code" / "old.json").unlink()
    assert told(tmp_path).endswith("its list of code files is gone, so whether code changed is not known")
    finish(tmp_path / "other" / "results", [replace(cell_of(CELL.path, tiny(16)), seeds=(0,))])
    line = why(CELL, tmp_path / "other" / "results", tmp_path / "none", SCRIPTS)
    assert "training.epochs was 16, is 8" in line


def test_of_a_kept_result_the_version_the_setting_and_the_data_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept(tmp_path)
    kept.merge([CELL], code="another")
    assert told(tmp_path) == "seed 0: kept, counts (made by commit abc)"
    monkeypatch.setitem(TABLE, "mvg", TABLE["mvg"]._replace(version=2))
    assert told(tmp_path).endswith(": the mechanism has version 2, the result version 1")
    noted = kept.table("provenance.parquet")
    noted.assign(mechanism_version=0, data="then").to_parquet(kept.folder / "provenance.parquet")
    write_json(tmp_path / "resources" / "datasets" / "digits" / "digest.json", {"train": "now"})
    expected = "the mechanism has version 2, the result a version that is not known; the data in "
    assert told(tmp_path).endswith(f"{expected}resources/datasets/digits are others")
    noted.assign(settings="then", training=json.dumps({"epochs": 30})).to_parquet(kept.folder / "provenance.parquet")
    assert "epochs was 30, is 8" in told(tmp_path)


def test_a_cell_that_is_not_planned_is_refused_with_the_nearest() -> None:
    assert cell_of(f"results/metrics/{CELL.path}.json", tiny()) in tiny()
    with pytest.raises(InputError, match=r"plans no cell tldp_type1/digits/mvg; the nearest are .*mvg/epsilon~1"):
        cell_of("tldp_type1/digits/mvg", tiny())
