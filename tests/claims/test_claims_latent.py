"""LATENT's claims: theorems come out as they are, and verdicts on Table 2 follow the runs."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import invented
import pytest

from tensorldp_papers.claims import laws
from tensorldp_papers.claims.base import catalogue, load_checks
from tensorldp_papers.papers.latent.claims.runs import clean_ceiling, perturbed_ceiling
from tensorldp_papers.run.cell import AnyCell, variant_factors

THEOREMS = {
    "A01": "not reproduced",
    "A02": "refuted",
    "A03": "reproduced",
    "A04": "holds with a condition",
    "A06": "refuted",
    "A10": "reproduced",
    "A15": "not checkable",
    "A19": "refuted",
    "A20": "reproduced",
    "A21": "holds with a condition",
    "A25": "holds with a condition",
    "A26": "refuted",
}
NEEDS_RUNS = ("A11", "A12", "A13", "A14", "A16", "A17", "A22", "A23", "A24")


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


def paper_cells(**changed: Any) -> tuple[AnyCell, ...]:
    """The study's cells as the paper has them, but for some settings of the training."""
    settings = {"epochs": 100, "width": 256, "limit": None, **changed}
    return tuple(
        replace(c, training=c.training.model_copy(update=settings)) for c in invented.paper_cells("latent", seeds=3)
    )


def as_printed(cell: AnyCell, seed: int) -> dict[str, float]:
    """The accuracies of Table 2 and of section 4.1.3."""
    test = {"mnist": 0.963, "cifar10": 0.916}[cell.dataset]
    train = {"mnist": 0.993, "cifar10": 0.957}[cell.dataset]
    if variant_factors(cell.variant)["model"] == "cnn":
        test = {"mnist": 0.9816, "cifar10": 0.7875}[cell.dataset]
    elif cell.mechanism == "none":
        test, train = 0.95, 0.98
    if variant_factors(cell.variant).get("labels") == "permuted":
        test = 0.1
    return {"accuracy": test + 0.001 * seed, "train_accuracy": train}


def test_the_study_at_paper_scale_has_every_cell_that_claims_ask_for(tmp_path: Path) -> None:
    run = invented.Run(paper_cells(), tmp_path).write(as_printed)
    found = {id: run.check(id)[0] for id in NEEDS_RUNS}
    # no network learns MNIST or CIFAR-10 from releases at eps = 0.5 with the coins of Eq. 6; here the bits stay below
    # the CNN on MNIST
    others = dict.fromkeys(("A12", "A13", "A24"), "holds with a condition")
    others |= {"A22": "not reproduced", "A23": "not reproduced"}
    assert found == {**dict.fromkeys(NEEDS_RUNS, "reproduced"), **others}


def test_networks_that_learn_no_more_than_from_permuted_labels_decide_nothing_on_constancy(tmp_path: Path) -> None:
    def chance(cell: AnyCell, seed: int) -> dict[str, float]:
        made = as_printed(cell, seed)
        if variant_factors(cell.variant).get("reading") == "A":
            made["accuracy"] = 0.3 + 0.02 * seed
        if variant_factors(cell.variant).get("reading") == "B":
            made["accuracy"] = 0.6 + 0.03 * float(cell.epsilon) + 0.001 * seed
        return made

    run = invented.Run(paper_cells(), tmp_path).write(chance)
    finding = load_checks()["A16"].check(run.evidence)
    assert finding.holds is None
    assert "no better than the same networks on permuted labels" in finding.wanted
    assert "on permuted labels 0.32 " in load_checks()["A12"].check(run.evidence).observed


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"limit": 6_000}, "mnist: 6,000 of 60,000 training records"),
        ({"width": 32}, "mnist: a width of 32, not 64"),
        ({"epochs": 4}, "mnist: 4 of 50 epochs"),
    ],
)
def test_a_smaller_run_decides_nothing_against_the_paper(changed: dict[str, int], told: str, tmp_path: Path) -> None:
    def low(cell: AnyCell, seed: int) -> dict[str, float]:
        return {**as_printed(cell, seed), "accuracy": 0.8 + 0.001 * seed}

    finding = load_checks()["A12"].check(invented.Run(paper_cells(**changed), tmp_path).write(low).evidence)
    assert finding.holds is None
    assert told in finding.wanted
    assert "no classifier that learns from 60,000 releases alone has more than 0." in finding.observed
    whole = invented.Run(paper_cells(), tmp_path / "whole").write(low)
    assert load_checks()["A12"].check(whole.evidence).holds is False


@pytest.mark.parametrize(("late", "holds"), [(0.8, False), (0.7, None)])
def test_a_short_training_counts_where_its_score_had_stopped_rising(
    late: float, holds: bool | None, tmp_path: Path
) -> None:
    def curve(cell: AnyCell, seed: int) -> dict[Any, float]:
        rising = {("accuracy_by_epoch", epoch): value for epoch, value in ((1, 0.5), (2, late), (3, 0.8), (4, 0.8))}
        return {**as_printed(cell, seed), "accuracy": 0.8 + 0.001 * seed, **rising}

    run = invented.Run(paper_cells(epochs=4), tmp_path).write(curve)
    assert load_checks()["A12"].check(run.evidence).holds is holds


def test_shortfalls_are_those_of_the_readings_that_a_verdict_rests_on(tmp_path: Path) -> None:
    def low(cell: AnyCell, seed: int) -> dict[str, float]:
        return {**as_printed(cell, seed), "accuracy": 0.8 + 0.001 * seed}

    few = tuple(
        replace(c, training=c.training.model_copy(update={"limit": 6_000}))
        if variant_factors(c.variant).get("reading") == "A"
        else c
        for c in paper_cells()
    )
    run = invented.Run(few, tmp_path).write(low)
    assert load_checks()["A12"].check(run.evidence).holds is False  # no run of reading A is needed


def test_ceilings_of_clean_and_perturbed_test_sets() -> None:
    """21.4 % and 51.7 % for MNIST, 28.4 % and 83.7 % for CIFAR-10's 50,000 records."""
    for made, records, chance, expected in (
        (laws.latent(0.5, "A"), 60_000, 0.1135, 0.2145),
        (laws.latent(2.0, "A"), 60_000, 0.1135, 0.5174),
        (laws.cifar_latent(0.5, "A"), 50_000, 0.1, 0.2842),
        (laws.cifar_latent(2.0, "A"), 50_000, 0.1, 0.8366),
    ):
        assert clean_ceiling(made, records, chance) == pytest.approx(expected, abs=5e-4)
    assert clean_ceiling(laws.cifar_latent(2.0, "A"), 100_000, 0.1) == 1.0
    assert perturbed_ceiling(0.5, 0.1) == pytest.approx(0.1548, abs=5e-5)
    assert perturbed_ceiling(2.0, 0.1135) == pytest.approx(0.486, abs=5e-4)


def test_a_failure_counts_on_the_data_set_whose_networks_are_the_papers(tmp_path: Path) -> None:
    cells = [
        replace(c, training=c.training.model_copy(update={"width": 32})) if c.dataset == "mnist" else c
        for c in paper_cells()
    ]

    def below(cell: AnyCell, seed: int) -> dict[str, float]:
        lost = 0.5 if cell.dataset == "cifar10" and variant_factors(cell.variant)["model"] == "ann" else 0.0
        made = as_printed(cell, seed)
        return {**made, "accuracy": made["accuracy"] - lost}

    assert load_checks()["A22"].check(invented.Run(tuple(cells), tmp_path).write(below).evidence).holds is False


def test_networks_that_learned_from_altered_images_stand_for_the_papers(tmp_path: Path) -> None:
    def only_altered(cell: AnyCell, seed: int) -> dict[str, float]:
        factors = variant_factors(cell.variant)
        made = as_printed(cell, seed)
        if cell.dataset == "cifar10" and factors.get("reading") and not factors.get("augment"):
            made["accuracy"] = 0.5 + 0.001 * seed
        return made

    run = invented.Run(paper_cells(), tmp_path).write(only_altered)
    finding = load_checks()["A13"].check(run.evidence)
    assert finding.holds
    assert "reading B and altered images at eps 2" in finding.observed


def test_another_draw_of_the_untrained_body_excuses_a_near_miss_of_table_2(tmp_path: Path) -> None:
    def close(cell: AnyCell, seed: int) -> dict[str, float]:
        return {**as_printed(cell, seed), "accuracy": 0.94 + 0.001 * seed}

    finding = load_checks()["A12"].check(invented.Run(paper_cells(), tmp_path).write(close).evidence)
    assert finding.holds is None
    assert "short with our draws of the body, which the paper does not train" in finding.wanted


def test_table_2_may_be_of_released_test_strings(tmp_path: Path) -> None:
    def released(cell: AnyCell, seed: int) -> dict[str, float]:
        made = as_printed(cell, seed)
        return {**made, "accuracy": 0.8 + 0.001 * seed, "accuracy_perturbed_test": made["accuracy"]}

    finding = load_checks()["A12"].check(invented.Run(paper_cells(), tmp_path).write(released).evidence)
    assert finding.holds
    assert "accuracy on released test images with reading B" in finding.observed
