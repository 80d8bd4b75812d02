"""TLDP's claims: theorems come out as they are, and verdicts follow the runs."""

from __future__ import annotations

import json
from pathlib import Path

import invented
import numpy as np
import pandas as pd
import pytest

from tensorldp.claims import tldp_theorems
from tensorldp.config.cell import AnyCell
from tensorldp.runtime.files import write_arrays

SPLITS = {"mnist": 60000, "cifar10": 50000, "svhn": 73257, "imdb": 25000, "darknet": 113184}


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
    assert run.check("T02")[0] == "reproduced"


def test_a_delta_that_no_run_used_is_not_decided(tmp_path: Path) -> None:
    assert invented.Run((), tmp_path).check("T53")[0] == "not run"
    run = invented.Run((invented.cell("tldp_type1", "mnist", "none", "inf"),), tmp_path)
    assert run.check("T53")[0] == "reproduced"


def prepared(folder: Path, counts: dict[str, int]) -> None:
    for name, count in counts.items():
        write_arrays(
            folder / "resources" / "datasets" / name / "train.safetensors",
            {"x": np.zeros((count, 1), np.uint8), "y": np.zeros(count, np.int64)},
        )


def test_split_sizes_need_the_training_records_too(tmp_path: Path) -> None:
    cells = tuple(invented.cell("tldp_type3", name, "none", "inf") for name in SPLITS)
    tests = {"svhn": 26032, "imdb": 25000, "darknet": 28297}
    run = invented.Run(cells, tmp_path / "results").write(lambda *_: {"weighted_f1": 0.5}, tests=tests)
    assert run.check("T31") == ("not run", "needs the prepared data set mnist")
    prepared(tmp_path, SPLITS)
    assert run.check("T31")[0] == "reproduced"
    prepared(tmp_path, {"darknet": 113183})
    found, observed = run.check("T31")
    assert found == "not reproduced"
    assert "darknet 113,183 training and [28297] test records" in observed


def test_split_sizes_are_not_read_from_attacks_which_score_no_test_set(tmp_path: Path) -> None:
    cell = invented.cell("reconstruction", "mnist", "none", "inf", attack="dlg", defence="none")
    run = invented.Run((cell,), tmp_path / "results").write(lambda *_: {"psnr": 30.0})
    path = tmp_path / "results" / "metrics" / f"{cell.path}.json"
    written = json.loads(path.read_text())
    del written["test_set"]
    path.write_text(json.dumps(written))
    prepared(tmp_path, SPLITS)
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


@pytest.mark.parametrize(
    ("score", "expected"), [(0.84, "not reproduced"), (0.9, "reproduced"), (0.99, "not reproduced")]
)
def test_about_90_percent_is_not_more_either(score: float, expected: str, tmp_path: Path) -> None:
    cells = tuple(
        invented.cell("tldp_type1", "mnist", name, epsilon)
        for name in ("none", "tldp-l", "tldp-g")
        for epsilon in (("inf",) if name == "none" else ("0.5", "2"))
    )

    def scores(cell: AnyCell, seed: int) -> dict[str, float]:
        return {"weighted_f1": score - 0.001 * seed}

    assert invented.Run(cells, tmp_path).write(scores).check("T35")[0] == expected


def test_lower_error_holds_at_nominal_and_not_at_true_epsilon(tmp_path: Path) -> None:
    found, observed = invented.Run((), tmp_path).check("T17")
    assert found == "refuted"
    assert "at most 0.249 of a baseline's at nominal epsilon 1" in observed
    assert "1.0000 of laplace's, 1.0000 of gaussian's, 1.0000 of mvg's, 1.0000 of idn's" in observed


def grid(study: str, datasets: tuple[str, ...], epsilons: tuple[str, ...], *, seeds: int = 3) -> tuple[AnyCell, ...]:
    """The unperturbed cell, TLDP and its baselines on the data sets."""
    noisy = ("tldp-l", "tldp-g", "laplace", "gaussian", "mvg", "idn")
    return tuple(
        invented.cell(study, dataset, name, epsilon, seeds=seeds)
        for dataset in datasets
        for name in ("none", *noisy)
        for epsilon in (("inf",) if name == "none" else epsilons)
    )


@pytest.mark.parametrize(
    ("lead", "expected"),
    [({"1": 0.1}, "reproduced"), ({"100": 0.1}, "not reproduced"), ({"1": 0.01}, "not reproduced")],
)
def test_tldp_l_may_lead_in_one_data_set_alone(lead: dict[str, float], expected: str, tmp_path: Path) -> None:
    def score(cell: AnyCell, seed: int) -> dict[str, float]:
        own = lead.get(cell.epsilon, 0.0) if (cell.dataset, cell.mechanism) == ("svhn", "tldp-l") else 0.0
        return {"weighted_f1": 0.5 + own + (0.0 if cell.mechanism == "tldp-l" else 0.0005 * seed)}

    run = invented.Run(grid("tldp_type3", ("mnist", "svhn"), ("1", "10", "100")), tmp_path).write(score)
    assert run.check("T47")[0] == expected


@pytest.mark.parametrize(
    ("at_1", "baseline_at_100", "expected"),
    [(0.8, 0.4, "reproduced"), (0.7, 0.4, "not reproduced"), (0.8, 0.48, "not reproduced")],
)
def test_imdb_is_consistent_at_every_epsilon(
    at_1: float, baseline_at_100: float, expected: str, tmp_path: Path
) -> None:
    def score(cell: AnyCell, seed: int) -> dict[str, float]:
        if cell.mechanism.startswith("tldp"):
            return {"weighted_f1": at_1 if cell.epsilon == "1" else 0.8}
        return {"weighted_f1": (baseline_at_100 if cell.epsilon == "100" else 0.39) + 0.001 * seed}

    run = invented.Run(grid("tldp_type3", ("imdb",), ("1", "10", "100")), tmp_path).write(score)
    assert run.check("T48")[0] == expected


@pytest.mark.parametrize(("slope", "expected"), [(0.1, "reproduced"), (0.3, "not reproduced")])
def test_type_2_is_compared_by_its_slope_on_shared_epsilons(slope: float, expected: str, tmp_path: Path) -> None:
    def score(cell: AnyCell, seed: int) -> dict[str, float]:
        rate = slope if cell.study == "tldp_type2" else 0.2
        return {
            "weighted_f1": 0.4
            + rate * np.log10(min(float(cell.epsilon), 1e3))
            + 0.002 * seed
            + (0.01 if cell.mechanism == "tldp-g" else 0.0)
        }

    cells = (
        *grid("tldp_type1", ("mnist", "svhn"), ("0.1", "1", "10", "20")),
        *grid("tldp_type2", ("mnist",), ("0.1", "1", "10", "50"), seeds=2),
    )
    found, observed = invented.Run(cells, tmp_path).write(score).check("T45")
    assert found == expected
    assert "over 3 shared epsilons of mnist: 0.2 [0.2, 0.2] over 2 values (Type I)" in observed


def test_one_seed_has_a_verdict_and_says_that_it_has_no_interval(tmp_path: Path) -> None:
    def score(cell: AnyCell, seed: int) -> dict[str, float]:
        return {
            "weighted_f1": 0.5
            + (0.1 if cell.mechanism == "tldp-g" else 0.0)
            + 0.05 * seed * (cell.mechanism == "tldp-l")
        }

    cells = grid("tldp_type1", ("mnist",), ("0.5", "1", "2"), seeds=1)
    found, observed = invented.Run(cells, tmp_path / "1").write(score).check("T40")
    assert found == "reproduced"
    assert "0.1 (one seed, no interval)" in observed
    found, observed = (
        invented.Run(grid("tldp_type1", ("mnist",), ("0.5", "1", "2"), seeds=2), tmp_path / "2")
        .write(score)
        .check("T40")
    )
    assert found == "not reproduced"  # six differences of two seeds are two values
    assert "over 2 values" in observed
