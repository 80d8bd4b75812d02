"""Guarantees on a grid of settings, between which the report's calculator interpolates.

The package keeps them in page/curves.json; `python -m tensorldp.figures.stored_curves` computes them again, in minutes.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from tensorldp.deltas import PROFILE_DELTAS
from tensorldp.mechanisms import Box, make

FILE = "curves.json"
SHAPES = ((8, 8), (28, 28), (32, 32, 3))
MOST_USES = 1024
STEEP = (
    "privunit",
    "duchi",
    "hybrid",
)  # few values of the loss: epsilon moves in steps with the uses, which need more points
MECHANISMS = (
    *("laplace", "gaussian", "gaussian-analytic", "mvg", "udn", "idn", "tldp-l", "tldp-g", "latent"),
    *("privunit", "duchi", "hybrid"),
)


def short(value: float) -> float | None:
    """A number to five digits, None for infinity."""
    return float(f"{value:.5g}") if math.isfinite(value) else None


def epsilons_of(name: str) -> tuple[float, ...]:
    """The nominal epsilons at which a mechanism's guarantee is kept, from 0.1 to 100."""
    steps = 8 if name in STEEP else 4  # to a factor of 10
    return tuple(float(f"{10 ** (i / steps):.6g}") for i in range(-steps, 2 * steps + 1))


def uses_of(name: str) -> tuple[int, ...]:
    """The numbers of uses at which a mechanism's guarantee is kept, from 1 to `MOST_USES`."""
    factor, steps = (2, 10) if name in STEEP else (4, 5)
    return tuple(factor**i for i in range(steps + 1))


def curves_of(name: str, shape: tuple[int, ...]) -> dict[str, list[float | None]]:
    """What a mechanism guarantees one record of a shape in [0, 1].

    Args:
        name: its registry key.
        shape: of the record.

    Returns:
        `epsilon`: for each of `epsilons_of(name)`, each of `uses_of(name)` and each of `PROFILE_DELTAS`, the last the
        quickest; `pure`: for each of `epsilons_of(name)`, of one use. None stands for infinity.

    Raises:
        InputError: if the name is unknown, or no mechanism of it has such a domain.
    """
    found: list[float | None] = []
    pure: list[float | None] = []
    for epsilon in epsilons_of(name):
        curve = make(name, epsilon=epsilon, domain=Box(0.0, 1.0, shape)).curve()
        pure.append(short(curve.epsilon(0.0)))
        for uses in uses_of(name):
            composed = curve.compose(uses)
            found += [short(composed.epsilon(delta)) for delta in PROFILE_DELTAS]
    return {"epsilon": found, "pure": pure}


def computed() -> dict[str, Any]:
    """The whole content of the file."""
    curves = {name: {"x".join(map(str, shape)): curves_of(name, shape) for shape in SHAPES} for name in MECHANISMS}
    uses = {name: uses_of(name) for name in MECHANISMS}
    epsilons = {name: epsilons_of(name) for name in MECHANISMS}
    return {"epsilons": epsilons, "uses": uses, "deltas": PROFILE_DELTAS, "curves": curves}


if __name__ == "__main__":
    text = json.dumps(computed(), allow_nan=False, separators=(",", ":"))
    Path(__file__).with_name("page").joinpath(FILE).write_text(text.replace('},"', '},\n"') + "\n")
