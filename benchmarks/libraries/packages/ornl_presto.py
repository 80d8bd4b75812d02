"""ornl-presto: choice of a mechanism for data."""

from typing import Any

import numpy as np
import torch
from kit import Package

from tensorldp.curves.gaussian import GaussianCurve

package = Package(
    "ornl-presto",
    "0.1.29",
    (
        "bayesian-optimization==3.4.0",
        "colorama==0.4.6",
        "gpytorch==1.15.2",
        "linear-operator==0.6.1",
        "jaxtyping==0.3.11",
        "wadler-lindig==0.1.8",
    ),
)
SAYS: dict[str, Any] = {"epsilon": 1.0, "says": "epsilon: privacy parameter", "where": "its docstring"}
ROOT = float(np.sqrt(np.log(1.25e5)))


@package.randomizer(
    "applyDPGaussian, sensitivity 1",
    delta=1e-5,
    batch=True,
    exact=GaussianCurve(1 / ROOT).epsilon(1e-5),
    honest=False,
    note="sigma lacks the factor sqrt(2); delta is too small to be seen by counting",
    **SAYS,
)
def gaussian() -> Any:
    from ornl_presto.privacy_mechanisms import applyDPGaussian

    return lambda x: applyDPGaussian(x, 1.0, 1e-5, 1.0)


@package.randomizer(
    "applyDPGaussian, sensitivity 10",
    delta=1e-5,
    box=(0.0, 10.0, 1),
    batch=True,
    exact=GaussianCurve(10**0.5 / ROOT).epsilon(1e-5),
    honest=False,
    note="sigma grows with the root of the sensitivity",
    **SAYS,
)
def wide_gaussian() -> Any:
    from ornl_presto.privacy_mechanisms import applyDPGaussian

    return lambda x: applyDPGaussian(x, 10.0, 1e-5, 1.0)


@package.randomizer("applyDPLaplace", batch=True, exact=1.0, **SAYS)
def laplace() -> Any:
    from ornl_presto.privacy_mechanisms import applyDPLaplace

    return lambda x: applyDPLaplace(x, 1.0, 1.0)


@package.randomizer("applyDPExponential", batch=True, exact=1.0, note="its noise is Laplace", **SAYS)
def exponential() -> Any:
    from ornl_presto.privacy_mechanisms import applyDPExponential

    return lambda x: applyDPExponential(x, 1.0, 1.0)


@package.randomizer(
    "hadamard_response of one value",
    categories=8,
    exact=np.inf,
    honest=False,
    note="the number of categories is the largest value of the call",
    **SAYS,
)
def hadamard_response() -> Any:
    from ornl_presto.privacy_mechanisms import hadamard_response

    return lambda x: hadamard_response([x], 1.0).numpy()


@package.randomizer(
    "applySVTAboveThreshold_full of one value",
    exact=np.inf,
    honest=False,
    note="returns values, where the sparse vector technique returns whether they are above",
    **SAYS,
)
def sparse_vector() -> Any:
    from ornl_presto.privacy_mechanisms import applySVTAboveThreshold_full

    return lambda x: applySVTAboveThreshold_full([x], 1.0)


@package.randomizer("rappor", categories=8, note="releases the number of ones", **SAYS)
def rappor() -> Any:
    from ornl_presto.privacy_mechanisms import rappor

    return lambda x: rappor(torch.tensor([x]), 1.0).numpy()
