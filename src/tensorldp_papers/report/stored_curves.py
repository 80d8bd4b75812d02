"""Guarantees on a grid of settings, between which the report's calculator interpolates, and laws that it composes.

The package keeps them in page/curves.json; `python -m tensorldp_papers.report.stored_curves` makes them, in minutes.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from tensorldp.curves.discrete import DiscreteCurve
from tensorldp.deltas import PROFILE_DELTAS
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.sampled_coordinates import HYBRID_THRESHOLD
from tensorldp_papers.plots.words import json_number

FILE = "curves.json"
SHAPES = ((8, 8), (28, 28), (32, 32, 3))  # of the data sets that the calculator offers
MOST_USES = 1024
DIGITS = 5  # significant ones, of an epsilon in the file
COORDINATE = 2.5  # the epsilon of each coordinate that is sampled [wang2019]
STEPPED = {"privunit": None, "duchi": None, "hybrid": COORDINATE}
"""Mechanisms for which one part of a use has a loss of l, 0 or -l; a part is one use, or so much of its epsilon.

Their epsilon moves in steps with the uses, which no interpolation follows: the page composes them from the
probability of 0.
"""
MECHANISMS = (
    *("laplace", "gaussian", "gaussian-analytic", "mvg", "udn", "idn", "tvg"),
    *("tldp-l", "tldp-g", "latent", "pdpm", "k-rr"),
    *STEPPED,
)
EPSILONS = tuple(float(f"{10 ** (i / 4):.6g}") for i in range(-4, 9))  # nominal ones, from 0.1 to 100
USES = tuple(4**i for i in range(6))  # from 1 to `MOST_USES`


def curves_of(name: str, shape: tuple[int, ...]) -> dict[str, list[float | None]]:
    """Computes what the mechanism of a registry key guarantees one record of a shape in [0, 1].

    Returns:
        `epsilon`: for each of `EPSILONS`, each of `USES` and each of `PROFILE_DELTAS`, the last the quickest;
        `pure`: for each of `EPSILONS`, for one use. None means infinity.

    Raises:
        InputError: if the name is unknown, or no mechanism of it has such a domain.
    """
    epsilons: list[float | None] = []
    pure: list[float | None] = []
    for epsilon in EPSILONS:
        curve = make(name, epsilon=epsilon, domain=Box(0.0, 1.0, shape)).curve()
        pure.append(json_number(curve.epsilon(0.0), DIGITS))
        for uses in USES:
            composed = curve.compose(uses)
            epsilons += [json_number(composed.epsilon(delta), DIGITS) for delta in PROFILE_DELTAS]
    return {"epsilon": epsilons, "pure": pure}


def steps_of(name: str) -> list[float]:
    """Returns the epsilons of a part at which the law of a stepped mechanism's loss is kept."""
    steps = [10 ** (i / 16) for i in range(-16, 33)]
    if name == "hybrid":  # its law jumps at the threshold
        steps = sorted([*steps, HYBRID_THRESHOLD, math.nextafter(HYBRID_THRESHOLD, math.inf), 1.999 * COORDINATE])
    part = STEPPED[name]
    return [step for step in steps if part is None or step < 2.0 * part]


def zeros_of(name: str, shape: tuple[int, ...]) -> list[float]:
    """Computes the probability of a loss of 0 in one part, at each of `steps_of(name)`; others are ±epsilon.

    Raises:
        InputError: if the name is unknown, the loss has another law, or no mechanism of it has such a domain.
    """
    zeros = []
    for epsilon in steps_of(name):
        curve = make(name, epsilon=epsilon, domain=Box(0.0, 1.0, shape)).curve()
        if not isinstance(curve, DiscreteCurve) or curve.count != 1:
            raise InputError(f"one part of {name} at epsilon {epsilon} must have a discrete loss of its own")
        law = {round((p - q) / epsilon, 6): math.exp(p) for p, q in zip(curve.log_p, curve.log_q, strict=True)}
        if not {1.0, -1.0} <= set(law) <= {1.0, 0.0, -1.0}:
            raise InputError(f"the loss of {name} at epsilon {epsilon} must be epsilon, 0 or -epsilon")
        zeros.append(float(f"{law.get(0.0, 0.0):.8g}"))
    return zeros


def computed() -> dict[str, Any]:
    """Computes the whole content of the file."""
    shapes = {"x".join(map(str, shape)): shape for shape in SHAPES}
    curves = {
        name: {key: curves_of(name, shape) for key, shape in shapes.items()}
        for name in MECHANISMS
        if name not in STEPPED
    }
    laws = {
        name: {
            "part": part,
            "epsilons": steps_of(name),
            "zeros": {key: zeros_of(name, shape) for key, shape in shapes.items()},
        }
        for name, part in STEPPED.items()
    }
    return {"epsilons": EPSILONS, "uses": USES, "deltas": PROFILE_DELTAS, "curves": curves, "laws": laws}


if __name__ == "__main__":
    text = json.dumps(computed(), allow_nan=False, separators=(",", ":"))
    Path(__file__).with_name("page").joinpath(FILE).write_text(text.replace('},"', '},\n"') + "\n")
