"""The lecture's claims: theorems come out as they are, and verdicts on its Table 1 follow the runs."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import invented
import pytest

from tensorldp_papers.claims.base import catalogue, load_checks
from tensorldp_papers.run.cell import AnyCell, variant_factors

THEOREMS = {
    **dict.fromkeys(("L01", "L03", "L05", "L07", "L08", "L10"), "reproduced"),
    **dict.fromkeys(("L02", "L04", "L06", "L09"), "refuted"),
    **dict.fromkeys(("L12", "L21"), "not checkable"),
}
ATTACKS = ("L13", "L14", "L15", "L16", "L17", "L18", "L19")
BASE: dict[str, Any] = {"m": 20000, "d": 30, "B": 4}
DP_SGD = {"1000": 3.6, "10000": 1.1, "100000": 0.33, "1000000": 0.1}
STRENGTHS = {
    "local": (2, 3),
    "noise": (0.25, 0.5, 1, 2),
    "clip": (0.1, 1, 10),
    "dropout": (0.25, 0.5),
    "prune": (0.5, 0.9),
}


@pytest.mark.parametrize(("id", "expected"), THEOREMS.items())
def test_what_needs_no_run_is_decided(id: str, expected: str, tmp_path: Path) -> None:
    found, observed = invented.Run((), tmp_path).check(id)
    assert found == expected
    assert expected == "not checkable" or any(character.isdigit() for character in observed)


def test_claims_without_runs_are_quick_and_the_others_are_not_decided(tmp_path: Path) -> None:
    run = invented.Run((), tmp_path)
    load_checks()
    start = time.process_time()
    undecided = [
        id for id, claim in catalogue().items() if claim.source == "dp-lecture" and run.check(id)[0] == "not run"
    ]
    assert undecided == ["L11", *ATTACKS, "L20"]
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("L02", "100-DP"),
        ("L02", "3.1e-44, that of (100) with 0.697"),
        ("L04", "Eq. 4.4 is 0.0e+00"),
        ("L09", "l2 norm m^1.5 d^1.0 epsilon^-1"),
        ("L09", "l1 norm m^2.0 d^1.5 epsilon^-1"),
    ],
)
def test_numbers_are_those_of_the_independent_derivation(id: str, words: str, tmp_path: Path) -> None:
    assert words in invented.Run((), tmp_path).check(id)[1]


def error(
    cell: AnyCell,
    *,
    noise: float = 3.0,
    power_of_m: float = -0.5,
    local: float = 1.0,
    clip: float = 0.0,
    power_of_p: float = -0.5,
) -> float:
    """An error that is as printed, or larger; local steps level off before the attack fails."""
    named = variant_factors(cell.variant)
    m, d, batch = (float(named[key]) for key in ("m", "d", "B"))
    strength = float(named.get("strength", 1))
    own: float = 0.6 * batch * (d / 20000) ** 0.5 * (m / 20000) ** power_of_m
    match named["defence"]:
        case "local":
            return own * min(float(strength**local), 7.0)
        case "noise":
            return math.hypot(own, noise * strength * (d / m) ** 0.5)
        case "mechanism":
            return math.hypot(own, noise * DP_SGD[cell.epsilon] * (d / m) ** 0.5)
        case "clip":
            return own * (1 + clip / strength)
        case "dropout":
            return own * float(strength**power_of_p)
        case "prune":
            return 2.5 * own
    return own


def attacks(tmp_path: Path, *, psnr: float = 40.0, **growth: float) -> invented.Run:
    """All cells of the tensor attack, and gradient inversion on digits."""

    def tensor(mechanism: str = "none", epsilon: str = "inf", **factors: Any) -> AnyCell:
        return invented.cell("reconstruction", "synthetic", mechanism, epsilon, attack="tensor", **factors)

    sizes: list[dict[str, Any]] = [
        {**BASE, key: value}
        for key, values in (("m", (5000, 10000, 20000, 50000)), ("d", (20, 40, 50)), ("B", (2, 3, 6, 8)))
        for value in values
    ]
    cells = [tensor(defence="none", **size) for size in sizes]
    cells += [tensor(defence=name, strength=s, **BASE) for name, strengths in STRENGTHS.items() for s in strengths]
    cells += [tensor("gaussian-analytic", epsilon, defence="mechanism", strength=1, **BASE) for epsilon in DP_SGD]
    cells += [
        invented.cell("reconstruction", "digits", "none", "inf", attack=name, defence="none")
        for name in ("dlg", "cosine")
    ]

    def score(cell: AnyCell, seed: int) -> dict[str, float]:
        attack = variant_factors(cell.variant)["attack"]
        if attack != "tensor":
            return {"psnr": psnr - (30 if attack == "dlg" else 0) + seed}
        drawn = {"noise": DP_SGD[cell.epsilon]} if cell.mechanism != "none" else {}
        return {"error": error(cell, **growth) * (1 + 0.01 * seed), **drawn}

    return invented.Run(tuple(cells), tmp_path).write(score)


def test_noise_beyond_the_bound_is_a_condition_and_no_point_is_left_out_for_its_error(tmp_path: Path) -> None:
    finding = load_checks()["L16"].check(attacks(tmp_path, noise=80.0).evidence)
    assert finding.holds
    assert finding.condition == "low noise only, up to B + sigma = 4"
    assert "in 5 points; beyond that error over the bound" in finding.observed


def test_a_perfect_recovery_among_good_ones_does_not_make_inversion_fail(tmp_path: Path) -> None:
    cells = tuple(
        invented.cell("reconstruction", "mnist", "none", "inf", attack=attack, defence="none")
        for attack in ("dlg", "cosine")
    )
    run = invented.Run(cells, tmp_path).write(lambda _, seed: {"psnr": (47.0, 43.0, 100.0)[seed]})
    assert run.check("L11")[0] == "reproduced"


def test_one_missing_sweep_is_not_run(tmp_path: Path) -> None:
    run = attacks(tmp_path)
    invented.edit(run.results, lambda rows: rows[~rows["variant"].str.contains("defence=clip")])
    assert run.check("L17")[0] == "not run"
    assert run.check("L16")[0] == "reproduced"
