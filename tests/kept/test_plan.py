"""The list of what a configuration has to run, on a tiny one."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from kept_runs import ROOT, WORKFLOW, finish, planned, tiny, with_seeds

from tensorldp.errors import InputError
from tensorldp_papers.kept.merge import merge_run
from tensorldp_papers.kept.plan import computed, plan_table, plan_text
from tensorldp_papers.run.cell import AnyCell


def table_of(cells: tuple[AnyCell, ...], folder: Path) -> pd.DataFrame:
    """Of a folder with results/ and reference/, if it has them."""
    return plan_table(*computed(cells, folder / "results", folder / "reference", WORKFLOW))


def test_a_fresh_folder_has_everything_left_and_no_hours(tmp_path: Path) -> None:
    cells = tiny()
    table = table_of(cells, tmp_path)
    row = table.iloc[0]
    assert len(table) == 1
    assert (row["cells"], row["seeds"], row["runs"], row["left"]) == (len(cells), 2, 2 * len(cells), 2 * len(cells))
    assert pd.isna(row["hours"])
    assert row["unknown"] == row["runs"]
    assert row["data_mb"] == pytest.approx((1437 + 360) * 64 * 4 / 1e6)
    assert row["releases_mb"] == pytest.approx(2 * row["data_mb"])  # of two seeds


def test_what_is_done_is_measured_and_the_rest_is_estimated_from_it(tmp_path: Path) -> None:
    cells = tiny()
    finish(tmp_path / "results", with_seeds(cells[:1], 0))
    row = table_of(cells, tmp_path).iloc[0]
    assert (row["done"], row["left"]) == (1, 2 * len(cells) - 1)
    assert row["measured"] == 2
    assert row["measured"] + row["same mechanism"] + row["same network"] == row["runs"]
    assert row["hours"] == pytest.approx(2.0 * row["runs"] / 3600)
    assert row["hours_left"] == pytest.approx(2.0 * row["left"] / 3600)
    text = plan_text(table_of(cells, tmp_path))
    assert "tldp_type1  digits" in text
    assert "Runs whose hours are: measured 2" in text


def test_a_run_with_other_settings_is_not_done(tmp_path: Path) -> None:
    cells = tiny()
    finish(tmp_path / "results", tiny(training={"tldp_type1": {"epochs": 3}}))
    row = table_of(cells, tmp_path).iloc[0]
    assert (row["done"], row["left"]) == (0, row["runs"])


def test_a_run_with_other_code_is_not_done(tmp_path: Path) -> None:
    cells = tiny()
    finish(tmp_path / "results", cells, code="changed")
    row = table_of(cells, tmp_path).iloc[0]
    assert (row["done"], row["left"]) == (0, row["runs"])
    assert row["measured"] == row["runs"]  # but it tells how long it takes


def test_a_result_of_an_earlier_version_is_not_done_and_is_not_merged(tmp_path: Path) -> None:
    cells, results = tiny(), tmp_path / "results"
    finish(results, cells[:2])
    for old in (results / "cells" / cells[0].path).iterdir():
        made = json.loads(old.read_text())
        old.write_text(json.dumps({**made, "cell": {**made["cell"], "limit": 100}}))
    row = table_of(cells, tmp_path).iloc[0]
    assert (row["done"], row["left"]) == (len(cells[1].seeds), row["runs"] - len(cells[1].seeds))
    with pytest.raises(InputError, match=r"comes from another version: delete it and run again"):
        merge_run(results, tmp_path / "reference")


def test_kept_rows_count_if_settings_and_code_are_todays(tmp_path: Path) -> None:
    cells, kept = tiny(), tmp_path / "reference"
    merge_run(finish(tmp_path / "run", cells), kept)
    row = table_of(cells, tmp_path).iloc[0]
    assert (row["kept"], row["other"], row["left"]) == (row["runs"], 0, 0)
    assert row["measured"] == row["runs"]
    longer = tiny(training={"tldp_type1": {"epochs": 9}})
    row = table_of(longer, tmp_path).iloc[0]
    assert (row["kept"], row["other"], row["left"]) == (0, row["runs"], row["runs"])
    merge_run(finish(tmp_path / "again", cells, code="changed"), kept)
    row = table_of(cells, tmp_path).iloc[0]
    assert (row["kept"], row["other"], row["left"]) == (0, row["runs"], row["runs"])


def test_the_script_prints_the_table_and_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"scale": "quick", "studies": ["pldp_synthetic"], "seeds": [0]}
    spec = importlib.util.spec_from_file_location("plan_script", ROOT / "workflow" / "scripts" / "plan.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    places = ["--results", tmp_path, "--reference", tmp_path / "none", "--out", tmp_path / "plan.csv"]
    script.main(["--settings", json.dumps(settings), *map(str, places)])
    assert "pldp_synthetic" in capsys.readouterr().out
    (row,) = json.loads((tmp_path / "plan.json").read_text())
    assert row["runs"] == row["left"] == int(pd.read_csv(tmp_path / "plan.csv")["left"].iloc[0]) > 0


def own(folder: Path, **changes: Any) -> tuple[AnyCell, ...]:
    """Cells on a user's own table, and on others if asked for."""
    (folder / "mine.csv").write_text("a,label\n0,x\n1,y\n")
    entry = {"path": str(folder / "mine.csv"), "label": "label", "range": [0, 1]}
    return tiny(**{"own_datasets": {"mine": entry}, "datasets": {"tldp_type1": ["mine"]}, **changes})


def test_of_a_users_own_data_the_disk_and_the_hours_are_unknown(tmp_path: Path) -> None:
    text = plan_text(table_of(own(tmp_path), tmp_path))
    assert re.search(r"^ *tldp_type1 +mine .* \? +\? +\d+ +\? +\?$", text, re.MULTILINE), text
    assert "nan" not in text.lower()


def test_a_run_that_reads_no_data_takes_no_disk(tmp_path: Path) -> None:
    row = table_of(planned(studies=["pldp_synthetic"]), tmp_path).iloc[0]
    assert (row["data_mb"], row["releases_mb"]) == (0, 0)
