"""Estimates of seconds, from the cell itself or from cells like it."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from kept_runs import planned, tiny

from tensorldp_papers.kept.plan import Measured, estimate_seconds, work
from tensorldp_papers.run.cell import AnyCell


def check(cell: AnyCell, measured: list[Measured], seconds: float, how: str) -> None:
    found, why = estimate_seconds([cell], measured)[cell]
    assert found == pytest.approx(seconds)
    assert why == how


def is_unknown(cell: AnyCell, measured: list[Measured]) -> bool:
    seconds, how = estimate_seconds([cell], measured)[cell]
    return math.isnan(seconds) and how == "unknown"


def test_a_measured_cell_has_its_mean_and_others_are_said_to_be_like_it() -> None:
    none, *_, tldp = sorted(tiny(), key=lambda cell: cell.mechanism == "tldp-g")
    measured = [(tldp, 2.0), (tldp, 4.0)]
    check(tldp, measured, 3.0, "measured")
    check(replace(tldp, epsilon="7"), measured, 3.0, "same mechanism")
    check(none, measured, 3.0, "same network")


def test_seconds_grow_with_epochs_records_and_the_elements_of_a_record() -> None:
    (cell, *_) = tiny()
    (twice, *_) = tiny(training={"tldp_type1": {"epochs": 2 * cell.training.model_dump()["epochs"]}})
    (fashion, *_) = tiny(datasets={"tldp_type1": ["fashion_mnist"]}, training={"tldp_type1": {"limit": 1437}})
    check(twice, [(cell, 3.0)], 6.0, "same mechanism")  # not measured: the settings are others
    check(fashion, [(cell, 3.0)], 3.0 * 784 / 64, "same network, other data")


def test_nothing_is_invented_where_nothing_like_it_was_measured() -> None:
    (cell, *_) = tiny()
    (other, *_) = planned(studies=["tldp_type2"])
    assert is_unknown(cell, [(other, 3.0)])


def test_nothing_is_carried_between_a_users_own_data_whose_size_is_unknown_and_others(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("a,label\n0,x\n1,y\n")
    entry = {"path": str(tmp_path / "mine.csv"), "label": "label", "range": [0, 1]}
    (own, *_) = tiny(own_datasets={"mine": entry}, datasets={"tldp_type1": ["mine"]})
    (digits, *_) = tiny()
    assert is_unknown(own, [(digits, 3.0)])
    assert is_unknown(digits, [(own, 3.0)])
    check(own, [(own, 3.0)], 3.0, "measured")


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
    settings = cell.training.model_dump()
    twice = {**settings, key: 2 * settings[key]}
    (more, *_) = planned(studies=[study], datasets={study: [dataset]}, training={study: {key: twice[key]}})
    assert work(more) == pytest.approx(2 * work(cell))
