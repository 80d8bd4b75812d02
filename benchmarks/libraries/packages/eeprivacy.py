"""eeprivacy: statistics of energy use."""

from typing import Any

import numpy as np
from kit import Package

package = Package("eeprivacy", "0.0.5")
SAYS: dict[str, Any] = {"epsilon": 1.0, "says": "noise to realize differential privacy at epsilon"}


@package.randomizer("LaplaceMechanism.execute", where="its docstring", exact=1.0, **SAYS)
def laplace() -> Any:
    from eeprivacy.mechanisms import LaplaceMechanism

    return lambda x: LaplaceMechanism.execute(value=x, epsilon=1.0, sensitivity=1.0)


@package.randomizer("GaussianMechanism.execute", where="its docstring", delta=1e-3, **SAYS)
def gaussian() -> Any:
    from eeprivacy.mechanisms import GaussianMechanism

    return lambda x: GaussianMechanism.execute(value=x, epsilon=1.0, delta=1e-3, sensitivity=1.0)


@package.randomizer("PrivateClampedSum of one value", where="docstring of the mechanism", exact=1.0, **SAYS)
def total() -> Any:
    from eeprivacy.operations import PrivateClampedSum

    return lambda x: PrivateClampedSum(lower_bound=0.0, upper_bound=1.0).execute(values=[x], epsilon=1.0)


@package.randomizer(
    "PrivateVectorClampedMeanLaplace of one vector of 4",
    epsilon=1.0,
    says="noise is scaled to the L1 norm of the dataset",
    where="its docstring",
    box=(0.0, 1.0, 4),
    exact=np.inf,
    honest=False,
    note="the same noise is added to every element: their differences are exact",
)
def vector() -> Any:
    from eeprivacy.operations import PrivateVectorClampedMeanLaplace as Mean

    return lambda x: Mean(lower_bound=0.0, upper_bound=1.0, k=4, N=1).execute(vectors=[x], epsilon=1.0, delta=0.0)
