"""Verdicts on the lecture's Table 1 and on gradient inversion follow the runs."""

from __future__ import annotations

from invented import World, cell, check, factors_of, found
from truths import RECONSTRUCTION, attack

from tensorldp_papers.run.cell import AnyCell


def test_noise_beyond_the_bound_is_a_condition_and_no_point_is_left_out_for_its_error() -> None:
    def loud(c: AnyCell) -> dict[str, float]:
        noisy = factors_of(c)["attack"] == "tensor" and factors_of(c)["defence"] == "noise"
        return dict(attack(6.0 if noisy else 0.6)(c))

    finding = found("L16", World(RECONSTRUCTION, loud).draw(1))
    assert finding.holds
    assert finding.condition == "low noise only, up to B + sigma = 4"
    assert "in 5 points; beyond that error over the bound" in finding.observed


def test_a_perfect_recovery_among_good_ones_does_not_make_inversion_fail() -> None:
    cells = [cell("reconstruction", "mnist", attack=name, defence="none") for name in ("dlg", "cosine")]
    assert check("L11", World(cells, lambda _: {"psnr": (47.0, 43.0, 100.0)}).draw(2))[0] == "reproduced"
