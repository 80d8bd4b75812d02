"""Claims on tables, data sets and features, and how runs and seeds are chosen."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from invented import Draw, World, cell, check, decided, grid_of
from truths import ALL, BASELINES, GOOD, IMAGES, at, by, own, scored, type1, type2, type3

from tensorldp.files import write_arrays
from tensorldp_papers.claims.base import NotRun
from tensorldp_papers.claims.laws import released_ceiling
from tensorldp_papers.claims.statements import per_seed
from tensorldp_papers.papers.pldp_fl.claims.runs import average_noise
from tensorldp_papers.papers.tldp.claims import runs as tldp_runs
from tensorldp_papers.papers.tldp.claims.runs import clean, each, runs
from tensorldp_papers.papers.tvg.growth_table import growth_table

SPLITS = {"mnist": 60000, "cifar10": 50000, "svhn": 73257, "imdb": 25000, "darknet": 113184}
TESTS = {"mnist": 10000, "cifar10": 10000, "svhn": 26032, "imdb": 25000, "darknet": 28297}


def test_a_delta_that_no_run_used_is_not_decided() -> None:
    assert decided("T53", Draw()) == "not run"
    assert decided("T53", Draw([cell("tldp_type1", "mnist")])) == "holds with a condition"


def prepared(folder: Path, counts: Mapping[str, int], split: str = "train") -> None:
    for name, count in counts.items():
        records: dict[str, Any] = {"x": np.zeros((count, 1), np.uint8), "y": np.zeros(count, np.int64)}
        write_arrays(folder / "resources" / "datasets" / name / f"{split}.safetensors", records)


def test_split_sizes_need_the_training_records_too(tmp_path: Path) -> None:
    cells = [cell("tldp_type3", name) for name in SPLITS]
    draw = Draw(cells, World(cells, by({}, 0.5)), tmp_path / "results")
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
    scores = World(attacks, lambda _: {"psnr": 30.0})
    assert decided("T31", Draw(attacks, scores, tmp_path / "results")) == "not run"
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


def with_table(name: str, table: pd.DataFrame, folder: Path) -> Draw:
    (folder / "tables").mkdir(exist_ok=True)
    table.to_csv(folder / "tables" / f"{name}.csv", index=False)
    return Draw(results=folder)


def test_lines_of_table_5_are_decided_one_by_one(tmp_path: Path) -> None:
    lines = pd.DataFrame({"mechanism": ["laplace", "gaussian"], "printed_over_corrected": [1.0005, 2.0]})
    draw = with_table("tldp_table5", lines, tmp_path)
    assert decided("T18", draw) == "reproduced"
    assert decided("T19", draw) == "refuted"
    assert check("T20", draw) == ("not run", "needs mvg in results/tables/tldp_table5.csv")


def test_only_mvg_grows_faster_than_table_4_says_and_another_exponent_changes_that(tmp_path: Path) -> None:
    table = growth_table(draws=2)
    draw = with_table("tvg_table4", table, tmp_path)
    assert [decided(f"V{i}", draw) for i in range(14, 18)] == [
        "holds with a condition",
        "refuted",
        "holds with a condition",
        "reproduced",
    ]
    assert "mvg I^3.97 (printed 3; the formula with its bound I^3.47)" in check("V15", draw)[1]
    assert "a Gaussian mechanism for the whole tensor has I^2.00" in check("V14", draw)[1]
    table.loc[table["mechanism"] == "mvg", "exact_exponent"] = 3.02
    table.loc[table["mechanism"] == "udn", "exact_exponent"] = 3.2
    draw = with_table("tvg_table4", table[table["mechanism"] != "optimized"], tmp_path)
    assert [decided(id, draw) for id in ("V15", "V16")] == ["reproduced", "refuted"]
    assert check("V17", draw) == ("not run", "needs Table IV with optimized")


def test_a_part_of_a_grid_neither_stops_nor_feeds_a_comparison_with_what_it_lacks() -> None:
    """The paper's network with TLDP alone, on MNIST beside a whole grid of another, and on CIFAR-10."""
    whole = grid_of("tldp_type1", ["mnist"], ALL, (0.25, 0.5, 2, 5), model="small_cnn")
    draw = World([*own("mnist", "cifar10"), *whole], by(GOOD)).draw(4)
    (other,) = each(draw, "tldp_type1", IMAGES, BASELINES)
    assert (other.dataset, other.weak) == ("mnist", "mnist: small_cnn in the place of mobilenet_v2")
    assert [(one.dataset, one.weak) for one in each(draw, "tldp_type1", IMAGES, ())] == [("mnist", ""), ("cifar10", "")]
    with pytest.raises(NotRun, match="laplace"):
        runs(draw, "tldp_type1", "cifar10", BASELINES)


def test_a_data_set_that_was_run_with_one_arm_alone_counts_in_that_arm() -> None:
    cells = [*type3("mnist"), *(c for c in type3("cifar10") if "where=user" in c.variant)]
    draw = World(cells, by(GOOD)).draw(4)
    found = {
        arm: [one.dataset for one in each(draw, "tldp_type3", IMAGES, BASELINES, arm)] for arm in ("user", "server")
    }
    assert found == {"user": ["mnist", "cifar10"], "server": ["mnist"]}
    assert check("T61", draw)[0] != "not run"


def test_without_perturbation_is_of_the_network_that_the_releases_were_given_to() -> None:
    relu = grid_of("tldp_type2", ["mnist"], ["none"], backbone="mobilenet_v2", model="linear")
    world = World([*type2("mnist"), *relu], scored(lambda c: 0.9 if "backbone=mobilenet_v2," in c.variant else 0.6))
    assert clean(runs(world.draw(5), "tldp_type2", "mnist", ())).mean == pytest.approx(0.6, abs=0.02)


def test_means_are_of_the_seeds_that_all_cells_have() -> None:
    """T45's slopes: more seeds of TLDP-L alone change nothing."""
    cells = [*type1(epsilons=(0.5, 2, 5)), *type2()]
    means = at(lambda name, e: 0.3 + 0.1 * math.log10(e) if name == "tldp-l" else 0.8)
    made = runs(World(cells, means, seeds=6).draw(6), "tldp_type1", "mnist", ())
    few = replace(made, rows=made.rows[(made.rows["mechanism"] == "tldp-l") | (made.rows["seed"] < 3)])
    assert tldp_runs._slope(few, {0.5, 2.0, 5.0}) == tldp_runs._slope(made, {0.5, 2.0, 5.0})[:3]
    rows = pd.DataFrame({"seed": [0, 1, 2, 0, 1, 2, 3], "value": [0.0, 0.1, 0.2, 1.0, 1.1, 1.2, 1.3]})
    assert per_seed(rows).seeds == 3
    assert per_seed(rows).mean == pytest.approx(0.6)


def test_ceilings_of_perturbed_test_sets() -> None:
    assert released_ceiling("cifar10", 0.5) == pytest.approx(math.exp(0.5) / (math.exp(0.5) + 9))
    assert released_ceiling("mnist", 0.5) == pytest.approx(0.1556, abs=5e-5)


@pytest.mark.parametrize(
    ("eps", "tau", "expected"), [("e2", "t2", 0.38), ("e1", 2.0, 3.05), ("e2", 2.0, 1.51), ("e3", 2.0, 0.40)]
)
def test_the_noise_of_an_average_is_that_of_the_closed_forms(eps: str, tau: str | float, expected: float) -> None:
    """Of 70 of 100 clients, as worked out apart from the code."""
    assert average_noise(eps, tau, clients=100, share=0.7) == pytest.approx(expected, rel=0.02)
