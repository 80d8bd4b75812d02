"""How much more noise TVG's bounds and earlier ones need than the analytic Gaussian mechanism, at one guarantee."""

from __future__ import annotations

import math

from tensorldp.mechanisms import Box, make

IMAGE = Box(-1, 1, (28, 28))
EPSILON, DELTA = 1.0, 1e-5  # the guarantee that all are given
COMPARED = ("gaussian-classical", "idn", "udn", "tvg", "mvg")


def looseness() -> dict[str, float]:
    """Computes each mechanism's noise deviation over the analytic Gaussian's, at (1, 1e-5) for 28 x 28."""
    least = _error("gaussian-analytic")
    return {name: math.sqrt(_error(name) / least) for name in COMPARED}


def _error(name: str) -> float:
    error = make(name, epsilon=EPSILON, domain=IMAGE, delta=DELTA).squared_error()
    assert error is not None  # all of these have a closed form
    return error
