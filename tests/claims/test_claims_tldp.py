"""Verdicts on TLDP's figures and data sets follow the runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from invented import Draw, World, cell, check, decided, grid_of
from truths import ALL, BASELINES, F1, GOOD, IMAGES, TLDP, TLDP_TRUTHS, at, by, type1, type2

from tensorldp.files import write_arrays
from tensorldp_papers.claims.base import NotRun
from tensorldp_papers.claims.statements import per_seed
from tensorldp_papers.papers.tldp.claims import runs as tldp_runs
from tensorldp_papers.papers.tldp.claims.runs import clean, each, runs
from tensorldp_papers.run.cell import AnyCell

SPLITS = {"mnist": 60000, "cifar10": 50000, "svhn": 73257, "imdb": 25000, "darknet": 113184}
TESTS = {"mnist": 10000, "cifar10": 10000, "svhn": 26032, "imdb": 25000, "darknet": 28297}
EPSILONS = (0.25, 0.5, 2, 5)


def own(*datasets: str, model: str = "mobilenet_v2", limit: int | None = None) -> list[AnyCell]:
    """TLDP alone in Type I, on some of the records."""
    cells = grid_of("tldp_type1", datasets, ("none", *TLDP), EPSILONS, model=model)
    return [replace(c, training=c.training.model_copy(update={"limit": limit})) for c in cells]


def test_a_delta_that_no_run_used_is_not_decided() -> None:
    assert decided("T53", Draw()) == "not run"
    assert decided("T53", Draw([cell("tldp_type1", "mnist")])) == "reproduced"


def prepared(folder: Path, counts: Mapping[str, int], split: str = "train") -> None:
    for name, count in counts.items():
        records = {"x": np.zeros((count, 1), np.uint8), "y": np.zeros(count, np.int64)}
        write_arrays(folder / "resources" / "datasets" / name / f"{split}.safetensors", records)


def test_split_sizes_need_the_training_records_too(tmp_path: Path) -> None:
    cells = [cell("tldp_type3", name) for name in SPLITS]
    draw = World(cells, by({}, 0.5)).draw(results=tmp_path / "results")
    prepared(tmp_path, TESTS, "test")
    assert check("T31", draw) == ("not run", "needs the prepared data set mnist")
    prepared(tmp_path, {"mnist": 60000, "imdb": 25000})
    assert check("T31", draw) == (
        "holds with a condition",
        "mnist 60,000 training and 10,000 test records; imdb 25,000 training and 25,000 test records",
    )
    prepared(tmp_path, SPLITS)
    assert decided("T31", draw) == "reproduced"
    attacks = [cell("reconstruction", "mnist", attack="dlg", defence="none")]  # these score no test set
    assert decided("T31", World(attacks, lambda _: {"psnr": 30.0}).draw(results=tmp_path / "results")) == "not run"
    prepared(tmp_path, {"darknet": 113183})
    found, observed = check("T31", draw)
    assert found == "not reproduced"
    assert "darknet 113,183 training and 28,297 test records" in observed


@pytest.mark.parametrize(("largest", "expected"), [(1.0, "reproduced"), (1.001, "refuted")])
def test_features_that_float32_rounds_to_one_are_in_range(largest: float, expected: str, tmp_path: Path) -> None:
    draw = Draw([cell("tldp_type2", "mnist", backbone="b")], results=tmp_path)
    assert decided("T33", draw) == "not run"
    features = {"x": np.array([[-0.5, largest]], np.float32)}
    write_arrays(tmp_path / "features" / "mnist" / "b" / "train.safetensors", features)
    assert decided("T33", draw) == expected


def test_lines_of_table_5_are_decided_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    lines = pd.DataFrame({"mechanism": ["laplace", "gaussian"], "printed_over_corrected": [1.0005, 2.0]})
    lines.to_csv(tmp_path / "tables" / "tldp_table5.csv", index=False)
    draw = Draw(results=tmp_path)
    assert decided("T18", draw) == "reproduced"
    assert decided("T19", draw) == "refuted"
    assert check("T20", draw) == ("not run", "needs mvg in results/tables/tldp_table5.csv")


def test_one_of_two_data_sets_is_enough_for_a_statement_about_both() -> None:
    """TLDP's Figure 2 on CIFAR-10 and SVHN, of which CIFAR-10 alone is at hand."""
    colour = replace(TLDP_TRUTHS["T43"], cells=type2("cifar10"))
    verdicts = [decided("T43", colour.world(true).draw(3)) for true in (True, False)]
    assert verdicts == ["holds with a condition", "undecided"]  # with Delta = 2, where 256 is printed, no run refutes


def test_a_part_of_a_grid_neither_stops_nor_feeds_a_comparison_with_what_it_lacks() -> None:
    """The paper's network with TLDP alone, on MNIST beside a whole grid of another, and on CIFAR-10."""
    whole = grid_of("tldp_type1", ["mnist"], ALL, EPSILONS, model="small_cnn")
    draw = World([*own("mnist", "cifar10"), *whole], by(GOOD)).draw(4)
    (other,) = each(draw, "tldp_type1", IMAGES, BASELINES)
    assert (other.dataset, other.weak) == ("mnist", "mnist: small_cnn in the place of mobilenet_v2")
    assert [(one.dataset, one.weak) for one in each(draw, "tldp_type1", IMAGES, ())] == [("mnist", ""), ("cifar10", "")]
    with pytest.raises(NotRun, match="laplace"):
        runs(draw, "tldp_type1", "cifar10", BASELINES)


@pytest.mark.parametrize(
    ("papers", "stand_in", "limit", "expected"),
    [
        (0.95, 0.5, 4000, "holds with a condition"),
        (0.5, 0.95, 4000, "holds with a condition"),
        (0.5, 0.5, 4000, "undecided"),
        (0.5, 0.95, None, "not reproduced"),  # on all records the paper's network alone speaks
        (0.95, 0.5, None, "reproduced"),
    ],
)
def test_a_claim_may_hold_of_the_papers_network_on_a_part_or_of_another_on_all(
    papers: float, stand_in: float, limit: int | None, expected: str
) -> None:
    cells = [*own("mnist", limit=limit), *own("mnist", model="small_cnn")]
    world = World(cells, lambda c: {F1: papers if "mobilenet" in c.variant else stand_in})
    assert decided("T35", world.draw(6)) == expected


def test_a_stand_in_cannot_make_a_data_set_go_away() -> None:
    """CIFAR-10, where no other network was run, keeps its say beside MNIST, where one was."""
    cells = [*own("mnist", "cifar10", limit=4000), *own("mnist", model="small_cnn")]
    world = World(cells, lambda c: {F1: 0.8 if c.mechanism == "tldp-g" and "small_cnn" in c.variant else 0.6})
    assert decided("T40", world.draw(7)) == "undecided"


def test_without_perturbation_is_of_the_network_that_the_releases_were_given_to() -> None:
    relu = grid_of("tldp_type2", ["mnist"], ["none"], backbone="mobilenet_v2", model="linear")
    world = World([*type2("mnist"), *relu], lambda c: {F1: 0.9 if "backbone=mobilenet_v2," in c.variant else 0.6})
    assert clean(runs(world.draw(5), "tldp_type2", "mnist", ())).mean == pytest.approx(0.6, abs=0.02)


def test_a_mean_over_two_mechanisms_is_of_the_seeds_that_both_have() -> None:
    """T45's slopes: more seeds of TLDP-L alone change nothing."""
    cells = [*type1(epsilons=(0.5, 2, 5)), *type2()]
    means = at(lambda name, e: 0.3 + 0.1 * math.log10(e) if name == "tldp-l" else 0.8)
    made = runs(World(cells, means, seeds=6).draw(6), "tldp_type1", "mnist", ())
    few = replace(made, rows=made.rows[(made.rows["mechanism"] == "tldp-l") | (made.rows["seed"] < 3)])
    assert tldp_runs._slope(few, {0.5, 2.0, 5.0}) == tldp_runs._slope(made, {0.5, 2.0, 5.0})[:3]


def test_seeds_that_some_cells_lack_are_left_out_of_means_over_cells() -> None:
    rows = pd.DataFrame({"seed": [0, 1, 2, 0, 1, 2, 3], "value": [0.0, 0.1, 0.2, 1.0, 1.1, 1.2, 1.3]})
    made = per_seed(rows)
    assert (made.seeds, made.mean) == (3, pytest.approx(0.6))
