"""Worlds in which a claim of the lecture is true, and others in which it is false."""

from __future__ import annotations

import math

from invented import paper_cells
from worlds import SEEDS, Means, Truth, factors_of

from tensorldp_papers.run.cell import AnyCell

RECONSTRUCTION = tuple(
    planned
    for planned in paper_cells("reconstruction", seeds=SEEDS)
    if factors_of(planned)["attack"] == "tensor"
    or (
        planned.dataset == "mnist"
        and factors_of(planned)["attack"] in ("dlg", "cosine")
        and planned.mechanism == "none"
    )
)


def _bound(c: AnyCell) -> float:
    """The printed bound of a cell's defence."""
    size = {key: float(factors_of(c)[key]) for key in ("m", "d", "B")}
    strength = float(factors_of(c).get("strength", 0))
    factor = {
        "local": strength * size["B"],
        "noise": size["B"] + strength,
        "mechanism": size["B"] + _noise(c),
        "dropout": size["B"] / math.sqrt(strength or 1),
    }.get(str(factors_of(c)["defence"]), size["B"])
    return factor * math.sqrt(size["d"] / size["m"])


def _noise(c: AnyCell) -> float:
    return 10.0 / float(c.epsilon) * 100


def _attack(share: float, decibels: float = 40.0, growth: float = 1.0) -> Means:
    def means(c: AnyCell) -> dict[str, float]:
        if factors_of(c).get("attack") != "tensor":
            return {"psnr": decibels}
        found = {"error": share * _bound(c) ** growth}
        return {**found, "noise": _noise(c)} if factors_of(c)["defence"] == "mechanism" else found

    return means


LECTURE_TRUTHS = {
    "L11": Truth(RECONSTRUCTION, _attack(0.6), _attack(0.6, decibels=10)),
    "L13": Truth(RECONSTRUCTION, _attack(0.6), _attack(0.6, growth=2.0)),
    **{id: Truth(RECONSTRUCTION, _attack(0.6), _attack(6.0)) for id in ("L14", "L15", "L16", "L17", "L18", "L19")},
}
