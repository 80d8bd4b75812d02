"""Estimates of seconds, from the cell itself or from cells like it."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from kept_runs import planned, tiny

from tensorldp.kept.costs import Costs, Estimate, Measured
from tensorldp.kept.likeness import work


def check(estimate: Estimate, seconds: float, how: str) -> None:
    assert estimate.seconds == pytest.approx(seconds)
    assert estimate.how == how


def test_a_measured_cell_has_its_mean_and_others_are_said_to_be_like_it() -> None:
    none, *_, tldp = sorted(tiny(), key=lambda cell: cell.mechanism == "tldp-g")
    costs = Costs([Measured(tldp, 2.0), Measured(tldp, 4.0)])
    check(costs.of(tldp), 3.0, "measured")
    check(costs.of(replace(tldp, epsilon="7")), 3.0, "same mechanism")
    check(costs.of(none), 3.0, "same network")


def test_seconds_grow_with_epochs_records_and_the_elements_of_a_record() -> None:
    (cell, *_) = tiny()
    (twice, *_) = tiny(training={"tldp_type1": {"epochs": 2 * cell.training.model_dump()["epochs"]}})
    (fashion, *_) = tiny(datasets={"tldp_type1": ["fashion_mnist"]}, training={"tldp_type1": {"limit": 1437}})
    costs = Costs([Measured(cell, 3.0)])
    check(costs.of(twice), 6.0, "same mechanism")  # not measured: the settings are others
    check(costs.of(fashion), 3.0 * 784 / 64, "same network, other data")


def test_nothing_is_invented_where_nothing_like_it_was_measured() -> None:
    (cell, *_) = tiny()
    (other, *_) = planned(studies=["tldp_type2"])
    seconds, how = Costs([Measured(other, 3.0)]).of(cell)
    assert math.isnan(seconds)
    assert how == "unknown"


def test_nothing_is_carried_between_a_users_own_data_whose_size_is_unknown_and_others(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("a,label\n0,x\n1,y\n")
    entry = {"path": str(tmp_path / "mine.csv"), "label": "label", "range": [0, 1]}
    (own, *_) = tiny(own_datasets={"mine": entry}, datasets={"tldp_type1": ["mine"]})
    (digits, *_) = tiny()
    assert Costs([Measured(digits, 3.0)]).of(own).how == "unknown"
    assert Costs([Measured(own, 3.0)]).of(digits).how == "unknown"
    check(Costs([Measured(own, 3.0)]).of(own), 3.0, "measured")


def test_models_that_cells_share_are_counted_once() -> None:
    cells = planned(studies=["tvg_testing"])
    (model,) = (cell for cell in cells if cell.path == cell.model_path)
    costs = Costs(Measured(cell, 20.0) for cell in cells)
    assert sum(costs.of(cell).seconds for cell in cells) == pytest.approx(20.0)
    check(costs.of(model), 20.0, "measured")


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
