"""The list of what a configuration has to run, with estimates of seconds from the cell itself or from cells like it."""

import json
import math
import re
import runpy
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from kept_runs import WORKFLOW, Cells, Kept, finish, planned, tiny, with_seeds

from tensorldp.files import write_json
from tensorldp.mechanism_table import TABLE
from tensorldp_papers.kept.plan import PLAN_COLUMNS, Measured, computed, estimate_seconds, plan_table, plan_text, work
from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.store import digest

CELLS, LONGER = tiny(), tiny(16)
RUNS = 2 * len(CELLS)


@pytest.fixture
def own(tmp_path: Path) -> Cells:
    """Cells on a user's own table, whose size is unknown."""
    (tmp_path / "mine.csv").write_text("a,label\n0,x\n1,y\n")
    entry = {"path": str(tmp_path / "mine.csv"), "label": "label", "range": [0, 1]}
    return tiny(own_datasets={"mine": entry}, datasets={"tldp_type1": ["mine"]})


def table_of(cells: Cells, folder: Path) -> pd.DataFrame:
    """Of a folder with results/ and reference/, if it has them."""
    return plan_table(*computed(cells, folder / "results", folder / "reference", WORKFLOW))


def counts(cells: Cells, folder: Path, names: str) -> list[float]:
    return [float(number) for number in table_of(cells, folder).iloc[0][names.split()]]


def test_a_fresh_folder_has_everything_left_and_no_hours(tmp_path: Path) -> None:
    assert counts(CELLS, tmp_path, "cells seeds runs left unknown") == [len(CELLS), 2, RUNS, RUNS, RUNS]
    size = (1437 + 360) * 64 * 4 / 1e6
    hours, *sizes = counts(CELLS, tmp_path, "hours data_mb releases_mb")
    assert math.isnan(hours)
    assert sizes == pytest.approx([size, 2 * size])  # releases of two seeds
    assert counts(planned(studies=["pldp_synthetic"]), tmp_path, "data_mb releases_mb") == [0, 0]  # it reads none


def test_what_is_done_is_measured_and_the_rest_is_estimated_from_it(tmp_path: Path) -> None:
    finish(tmp_path / "results", with_seeds(CELLS[:1], 0))
    assert counts(CELLS, tmp_path, "done left measured") == [1, RUNS - 1, 2]
    table = table_of(CELLS, tmp_path)
    assert table[["measured", "same mechanism", "same network"]].sum(axis=1).tolist() == [RUNS]
    assert counts(CELLS, tmp_path, "hours hours_left") == pytest.approx([2 * RUNS / 3600, 2 * (RUNS - 1) / 3600])
    assert "tldp_type1  digits" in plan_text(table)
    assert "Runs whose hours are: measured 2" in plan_text(table)


def test_a_run_with_other_settings_or_code_or_of_an_earlier_version_is_not_done(tmp_path: Path) -> None:
    first, second, third = (tmp_path / name for name in "123")
    finish(first / "results", LONGER)
    assert counts(CELLS, first, "done left") == [0, RUNS]
    finish(second / "results", CELLS, code="changed")
    assert counts(CELLS, second, "done left measured") == [0, RUNS, RUNS]  # but it tells how long it takes
    results = finish(third / "results", CELLS[:2])
    for old in (results / "cells" / CELLS[0].path).iterdir():
        old.write_text(old.read_text().replace('"cell": {', '"cell": {"limit": 100, '))
    assert counts(CELLS, third, "done left") == [2, RUNS - 2]


def test_kept_rows_count_if_settings_versions_and_data_are_todays(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.merge(CELLS)
    assert counts(CELLS, tmp_path, "kept other left measured") == [RUNS, 0, 0, RUNS]
    assert counts(LONGER, tmp_path, "kept other left") == [0, RUNS, RUNS]
    kept.merge(CELLS, code="changed")
    assert counts(CELLS, tmp_path, "kept other left") == [RUNS, 0, 0]
    kept.merge(CELLS, version=2)
    assert counts(CELLS, tmp_path, "kept other left") == [0, RUNS, RUNS]


def test_kept_rows_of_other_records_than_those_that_are_prepared_do_not_count(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.merge(CELLS)
    noted = kept.table("provenance.parquet").assign(
        data=digest(json.dumps({"train": "a", "test": "b"}, sort_keys=True))
    )
    noted.to_parquet(kept.folder / "provenance.parquet")
    for content, count in (({"train": "a", "test": "b"}, RUNS), ({"train": "c", "test": "b"}, 0)):
        write_json(tmp_path / "resources" / "datasets" / "digits" / "digest.json", content)
        assert counts(CELLS, tmp_path, "kept other") == [count, RUNS - count]


def test_a_raised_version_makes_exactly_the_rows_of_its_mechanism_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Kept(tmp_path).merge(CELLS)
    monkeypatch.setitem(TABLE, "mvg", TABLE["mvg"]._replace(version=2))
    runs, _ = computed(CELLS, tmp_path / "results", tmp_path / "reference", WORKFLOW)
    stale = {cell.mechanism for cell in runs.loc[runs["state"] == "other", "cell"]}
    assert stale == {"mvg"} < {cell.mechanism for cell in runs.loc[runs["state"] == "kept", "cell"]} | stale


def test_the_script_prints_the_table_and_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"scale": "quick", "studies": ["pldp_synthetic"], "seeds": [0]}
    main = runpy.run_path(str(WORKFLOW / "scripts" / "plan.py"))["main"]
    places = ["--results", tmp_path, "--reference", tmp_path / "none", "--out", tmp_path / "plan.csv"]
    main(["--settings", json.dumps(settings), *map(str, places)])
    assert "pldp_synthetic" in capsys.readouterr().out
    (row,) = json.loads((tmp_path / "plan.json").read_text())
    assert row["runs"] == row["left"] == int(pd.read_csv(tmp_path / "plan.csv")["left"].iloc[0]) > 0


def test_of_a_users_own_data_the_disk_and_the_hours_are_unknown(own: Cells, tmp_path: Path) -> None:
    text = plan_text(table_of(own, tmp_path))
    assert re.search(r"^ *tldp_type1 +mine .* \? +\? +\d+ +\? +\?$", text, re.MULTILINE), text
    assert "nan" not in text.lower()


@pytest.mark.parametrize(
    ("hours", "told"),
    [
        (
            [0.2, 0.3],
            "Left: about 30 minutes of one core; 60% of them are s on b. 2 jobs at once take about 15 min",
        ),
        ([240.0, 24.0], "Left: about 11 days of one core; 91% of them are s on a. 2 jobs at once take about 6 days"),
        (
            [4.0],
            "Left: about 4 hours of one core. 2 jobs at once take about 2 hours, 100 jobs",
        ),
        ([0.0], ""),
    ],
)
def test_the_plan_ends_with_what_is_left_its_largest_part_and_how_long_jobs_take(hours: list[float], told: str) -> None:
    counts = dict.fromkeys(PLAN_COLUMNS, 0)
    rows = [{**counts, "study": "s", "dataset": name, "hours_left": h} for name, h in zip("ab", hours, strict=False)]
    last = plan_text(pd.DataFrame(rows)).splitlines()[-1]
    assert (told in last) if told else ("Left:" not in last)


@pytest.mark.parametrize(("batches", "told"), [(262, True), (2, False)])
def test_many_batches_of_short_runs_are_told_that_a_job_costs_a_second(batches: int, told: bool) -> None:
    row = {**dict.fromkeys(PLAN_COLUMNS, 0), "study": "s", "dataset": "a", "hours_left": 0.1}
    assert ("a larger cells_per_job saves that" in plan_text(pd.DataFrame([row]), batches)) == told


def check(cell: AnyCell, measured: list[Measured], seconds: float, how: str) -> None:
    found, why = estimate_seconds([cell], measured)[cell]
    assert found == pytest.approx(seconds, nan_ok=True)
    assert why == how


def test_seconds_are_measured_or_of_cells_like_it_in_proportion_to_their_work(own: Cells) -> None:
    none, *_, tldp = sorted(CELLS, key=lambda cell: cell.mechanism == "tldp-g")
    measured = [(tldp, 2.0), (tldp, 4.0)]
    check(tldp, measured, 3.0, "measured")
    check(replace(tldp, epsilon="7"), measured, 3.0, "same mechanism")
    check(none, measured, 3.0, "same network")
    check(LONGER[0], [(CELLS[0], 3.0)], 6.0, "same mechanism")  # not measured: the settings are others
    (fashion, *_) = tiny(datasets={"tldp_type1": ["fashion_mnist"]}, training={"tldp_type1": {"limit": 1437}})
    check(fashion, [(CELLS[0], 3.0)], 3.0 * 784 / 64, "same network, other data")
    check(own[0], [(own[0], 3.0)], 3.0, "measured")
    for cell, other in ((CELLS[0], planned(studies=["tldp_type2"])[0]), (own[0], CELLS[0]), (CELLS[0], own[0])):
        check(cell, [(other, 3.0)], math.nan, "unknown")


def test_models_that_cells_share_are_counted_once() -> None:
    cells = planned(studies=["tvg_testing"])
    (model,) = (cell for cell in cells if cell.path == cell.model_path)
    measured = [(cell, 20.0) for cell in cells]
    assert sum(seconds for seconds, _ in estimate_seconds(cells, measured).values()) == pytest.approx(20.0)
    check(model, measured, 20.0, "measured")


@pytest.mark.parametrize(
    ("study", "dataset", "key"),
    [("tvg_sgd", "digits", "steps"), ("pldp_fl", "digits", "rounds"), ("reconstruction", "synthetic", "draws")],
)
def test_work_is_in_proportion_to_what_a_method_repeats(study: str, dataset: str, key: str) -> None:
    (cell, *_) = planned(studies=[study], datasets={study: [dataset]})
    twice = {study: {key: 2 * cell.training.model_dump()[key]}}
    (more, *_) = planned(studies=[study], datasets={study: [dataset]}, training=twice)
    assert work(more) == pytest.approx(2 * work(cell))
