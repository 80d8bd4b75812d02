"""nprr: nonparametric randomized response for bounded numbers."""

import sys
from typing import Any
from unittest.mock import MagicMock

import numpy as np
from kit import Package, bits

package = Package("nprr", "0.1.4")
for name in ("", ".betting", ".betting_strategies", ".boundaries", ".conjmix_bounded"):
    sys.modules.setdefault(f"confseq{name}", MagicMock())  # its confidence sequences are not used, and need a compiler
setattr(np, "float_", np.float64)  # noqa: B010 the package names it at import; NumPy 2 has dropped it


@package.randomizer(
    "nprr, r_from_G_eps(1, eps)",
    epsilon=1,
    says="r value in NPRR to achieve a given epsilon given G",
    where="docstring of r_from_G_eps",
    batch=True,
    exact=1.0,
)
def coarse() -> Any:
    from nprr.mechanisms import nprr, r_from_G_eps

    return lambda x: nprr(x, r_from_G_eps(1, 1.0), 1)


R = (np.e - 1) / (np.e + 10)


@package.randomizer(
    "nprr, r_from_G_eps(10, eps)",
    epsilon=1,
    says="r value in NPRR to achieve a given epsilon given G",
    where="docstring of r_from_G_eps",
    batch=True,
    exact=float(np.log1p(20 * R / (1 - R))),
    honest=False,
    note="the uniform draw is rounded, so that each end of the grid has half the chance of the rest",
)
def fine() -> Any:
    from nprr.mechanisms import nprr, r_from_G_eps

    return lambda x: nprr(x, r_from_G_eps(10, 1.0), 10)


@package.randomizer("laplace", epsilon=1, says="privacy parameter", where="docstring of laplace", batch=True, exact=1.0)
def laplace() -> Any:
    from nprr.mechanisms import laplace

    return lambda x: laplace(x, 1.0)


@package.randomizer(
    "warner_rr, r = tanh(1/2)",
    epsilon=1,
    says="r: probability of responding truthfully, so epsilon is ln((1 + r) / (1 - r))",
    where="docstring of warner_rr",
    categories=2,
    batch=True,
    exact=bits((1 + np.tanh(0.5)) / 2, (1 - np.tanh(0.5)) / 2) / 2,
)
def warner() -> Any:
    from nprr.mechanisms import warner_rr

    return lambda x: warner_rr(x, float(np.tanh(0.5)))
