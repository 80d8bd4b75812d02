"""TLDP's claims: theorems come out as they are, and verdicts follow the runs."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import invented
import numpy as np
import pandas as pd
import pytest
from truths_tldp import ALL, BASELINES, GOOD, IMAGES, TLDP, type1, type2
from worlds import F1, Truth, World, decided, grid_of, means_by, score_by

from tensorldp.files import write_arrays
from tensorldp_papers.claims.base import NotRun
from tensorldp_papers.claims.statements import per_seed
from tensorldp_papers.papers.tldp.claims import runs as tldp_runs
from tensorldp_papers.papers.tldp.claims import theorems as tldp_theorems
from tensorldp_papers.papers.tldp.claims.runs import clean, each, runs
from tensorldp_papers.run.cell import AnyCell

SPLITS = {"mnist": 60000, "cifar10": 50000, "svhn": 73257, "imdb": 25000, "darknet": 113184}
TESTS = {"svhn": 26032, "imdb": 25000, "darknet": 28297}


def test_retention_is_refuted_because_it_gains_nothing_in_the_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check compares two mechanisms: where retention does gain, it says so."""
    run = invented.Run((), tmp_path)
    found, observed = run.check("T02")
    assert found == "refuted"
    assert "1.000000 at 10," in observed
    gains = [float(word.split(" at ")[0].split()[-1]) for word in observed.split(", ") if " at 1" in word]
    assert max(gains) > 1.001
    monkeypatch.setattr(tldp_theorems, "SHARED", tldp_theorems.LARGE)
    assert tldp_theorems.retention_substitutes_noise().holds


def test_a_delta_that_no_run_used_is_not_decided(tmp_path: Path) -> None:
    assert invented.Run((), tmp_path).check("T53")[0] == "not run"
    run = invented.Run((invented.cell("tldp_type1", "mnist", "none", "inf"),), tmp_path)
    assert run.check("T53")[0] == "reproduced"


def prepared(folder: Path, counts: dict[str, int], split: str = "train") -> None:
    for name, count in counts.items():
        write_arrays(
            folder / "resources" / "datasets" / name / f"{split}.safetensors",
            {"x": np.zeros((count, 1), np.uint8), "y": np.zeros(count, np.int64)},
        )


def test_split_sizes_need_the_training_records_too(tmp_path: Path) -> None:
    cells = tuple(invented.cell("tldp_type3", name, "none", "inf") for name in SPLITS)
    run = invented.Run(cells, tmp_path / "results").write(lambda *_: {"weighted_f1": 0.5})
    prepared(tmp_path, {name: TESTS.get(name, 10_000) for name in SPLITS}, "test")
    assert run.check("T31") == ("not run", "needs the prepared data set mnist")
    prepared(tmp_path, {"mnist": 60000, "imdb": 25000})
    found, observed = run.check("T31")
    assert found == "holds with a condition"
    assert observed == "mnist 60,000 training and 10,000 test records; imdb 25,000 training and 25,000 test records"
    prepared(tmp_path, SPLITS)
    assert run.check("T31")[0] == "reproduced"
    prepared(tmp_path, {"darknet": 113183})
    found, observed = run.check("T31")
    assert found == "not reproduced"
    assert "darknet 113,183 training and 28,297 test records" in observed


def test_split_sizes_are_not_read_from_attacks_which_score_no_test_set(tmp_path: Path) -> None:
    cell = invented.cell("reconstruction", "mnist", "none", "inf", attack="dlg", defence="none")
    run = invented.Run((cell,), tmp_path / "results").write(lambda *_: {"psnr": 30.0})
    for split in ("train", "test"):
        prepared(tmp_path, SPLITS, split)
    assert run.check("T31")[0] == "not run"


@pytest.mark.parametrize(("largest", "expected"), [(1.0, "reproduced"), (1.001, "refuted")])
def test_features_that_float32_rounds_to_one_are_in_range(largest: float, expected: str, tmp_path: Path) -> None:
    run = invented.Run((invented.cell("tldp_type2", "mnist", "none", "inf", backbone="b"),), tmp_path)
    assert run.check("T33")[0] == "not run"
    write_arrays(
        tmp_path / "features" / "mnist" / "b" / "train.safetensors", {"x": np.array([[-0.5, largest]], np.float32)}
    )
    assert run.check("T33")[0] == expected


def test_a_line_that_table_5_lacks_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    pd.DataFrame({"mechanism": ["laplace"], "printed_over_corrected": [1.0005]}).to_csv(
        tmp_path / "tables" / "tldp_table5.csv", index=False
    )
    run = invented.Run((), tmp_path)
    assert run.check("T18")[0] == "reproduced"
    assert run.check("T20") == ("not run", "needs mvg in results/tables/tldp_table5.csv")


def test_lower_error_holds_at_nominal_and_not_at_true_epsilon(tmp_path: Path) -> None:
    found, observed = invented.Run((), tmp_path).check("T17")
    assert found == "holds with a condition"
    assert "at most 0.249 of a baseline's at nominal epsilon 1" in observed
    assert "1.0000 of laplace's, 1.0000 of gaussian's, 1.0000 of mvg's, 1.0000 of idn's" in observed


def test_one_of_two_data_sets_is_enough_for_a_statement_about_both() -> None:
    """TLDP's Figure 2 on CIFAR-10 and SVHN, of which CIFAR-10 alone is at hand."""
    colour = Truth(type2("cifar10"), means_by(F1, {}, 0.4), means_by(F1, {}, 0.6))
    verdicts = [decided("T43", colour.world(true, 3).draw(np.random.default_rng(3))) for true in (True, False)]
    assert verdicts == ["holds with a condition", "undecided"]  # with Delta = 2, where 256 is printed, no run refutes


def test_a_part_of_a_grid_neither_stops_nor_feeds_a_comparison_with_what_it_lacks() -> None:
    """The paper's network with TLDP alone, on MNIST beside a whole grid of another, and on CIFAR-10."""
    epsilons = (0.25, 0.5, 2, 5)
    own = grid_of("tldp_type1", ("mnist", "cifar10"), ("none", *TLDP), epsilons, model="mobilenet_v2")
    whole = grid_of("tldp_type1", ["mnist"], ALL, epsilons, model="small_cnn")
    draw = World([*own, *whole], means_by(F1, GOOD)).draw(np.random.default_rng(4))
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
    grids = [
        grid_of("tldp_type1", ["mnist"], ("none", *TLDP), (0.5, 2), model=m) for m in ("mobilenet_v2", "small_cnn")
    ]
    grids[0] = [replace(c, training=c.training.model_copy(update={"limit": limit})) for c in grids[0]]
    world = World([*grids[0], *grids[1]], lambda c: {F1: papers if "mobilenet" in c.variant else stand_in})
    assert decided("T35", world.draw(np.random.default_rng(6))) == expected


def test_a_stand_in_cannot_make_a_data_set_go_away() -> None:
    """CIFAR-10, where no other network was run, keeps its say beside MNIST, where one was."""
    epsilons = (0.25, 0.5, 2, 5)
    own = grid_of("tldp_type1", ("mnist", "cifar10"), ("none", *TLDP), epsilons, model="mobilenet_v2")
    own = [replace(c, training=c.training.model_copy(update={"limit": 4000})) for c in own]
    other = grid_of("tldp_type1", ["mnist"], ("none", *TLDP), epsilons, model="small_cnn")

    def means(c: AnyCell) -> dict[Any, float]:
        better = c.mechanism == "tldp-g" and "small_cnn" in c.variant
        return {F1: 0.8 if better else 0.6}

    assert decided("T40", World([*own, *other], means).draw(np.random.default_rng(7))) == "undecided"


def test_without_perturbation_is_of_the_network_that_the_releases_were_given_to() -> None:
    relu = grid_of("tldp_type2", ["mnist"], ["none"], (), backbone="mobilenet_v2", model="linear")
    draw = World([*type2("mnist"), *relu], lambda c: {F1: 0.9 if "backbone=mobilenet_v2," in c.variant else 0.6}).draw(
        np.random.default_rng(5)
    )
    assert clean(runs(draw, "tldp_type2", "mnist", ())).mean == pytest.approx(0.6, abs=0.02)


def test_a_mean_over_two_mechanisms_is_of_the_seeds_that_both_have() -> None:
    """T45's slopes: more seeds of TLDP-L alone change nothing."""
    cells = [*type1(epsilons=(0.5, 2, 5)), *type2()]
    means = score_by(F1, lambda name, e: 0.3 + 0.1 * math.log10(e) if name == "tldp-l" else 0.8)
    draw = World(cells, means, seeds=6).draw(np.random.default_rng(6))
    own = runs(draw, "tldp_type1", "mnist", ())
    few = replace(own, rows=own.rows[(own.rows["mechanism"] == "tldp-l") | (own.rows["seed"] < 3)])
    assert tldp_runs._slope(few, {0.5, 2.0, 5.0}) == tldp_runs._slope(own, {0.5, 2.0, 5.0})[:3]


def test_seeds_that_some_cells_lack_are_left_out_of_means_over_cells() -> None:
    rows = pd.DataFrame({"seed": [0, 1, 2, 0, 1, 2, 3], "value": [0.0, 0.1, 0.2, 1.0, 1.1, 1.2, 1.3]})
    made = per_seed(rows)
    assert made.seeds == 3
    assert made.mean == pytest.approx(0.6)
