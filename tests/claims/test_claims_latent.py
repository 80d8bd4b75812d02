"""LATENT's claims: theorems come out as they are, and verdicts on Table 2 follow the runs."""

from __future__ import annotations

import time
from pathlib import Path

import invented
import pytest

from tensorldp.claims.base import catalogue, load_checks

THEOREMS = {"A01": "not reproduced", "A02": "refuted", "A03": "reproduced", "A04": "reproduced", "A06": "refuted",
            "A10": "reproduced", "A15": "not checkable", "A19": "refuted", "A20": "reproduced", "A21": "refuted"}
NEEDS_RUNS = ("A11", "A12", "A13", "A14", "A16", "A17")


@pytest.mark.parametrize(("id", "expected"), THEOREMS.items())
def test_what_needs_no_run_is_decided(id: str, expected: str, tmp_path: Path) -> None:
    found, observed = invented.Run((), tmp_path).check(id)
    assert found == expected
    assert expected == "not checkable" or any(character.isdigit() for character in observed)


def test_claims_without_runs_are_quick_and_the_others_are_not_decided(tmp_path: Path) -> None:
    run = invented.Run((), tmp_path)
    start = time.process_time()
    for id, claim in catalogue().items():
        if claim.source == "latent":
            assert (run.check(id)[0] == "not run") == (id in NEEDS_RUNS)
    assert time.process_time() - start < 10
    assert set(NEEDS_RUNS) < set(load_checks())


def table2(tmp_path: Path, accuracies: dict[str, float]) -> invented.Run:
    """MNIST at both epsilons: accuracy by reading, and 0.9816 without privacy, on both data sets."""
    cells = [invented.cell("latent", "mnist", "latent", epsilon, model="ann", reading=reading)
             for epsilon in ("0.5", "2", "8") for reading in "AB"]
    cells += [invented.cell("latent", name, "none", "inf", model="cnn") for name in ("mnist", "cifar10")]
    return invented.Run(tuple(cells), tmp_path).write(
        lambda cell, seed: {"accuracy": accuracies[cell.factors.get("reading", cell.dataset)] + 0.001 * seed})


def test_table_2_is_reproduced_only_if_reading_a_gives_its_numbers(tmp_path: Path) -> None:
    low = table2(tmp_path / "1", {"A": 0.1, "B": 0.963, "mnist": 0.98, "cifar10": 0.7875})
    high = table2(tmp_path / "2", {"A": 0.962, "B": 0.963, "mnist": 0.95, "cifar10": 0.7875})
    assert low.check("A12")[0] == "not reproduced"
    assert "0.101 (eps 2" in low.check("A12")[1]
    assert high.check("A12")[0] == "reproduced"
    assert (low.check("A11")[0], high.check("A11")[0]) == ("reproduced", "not reproduced")
    assert low.check("A16")[0] == "reproduced"
    assert low.check("A13")[0] == "not run"
