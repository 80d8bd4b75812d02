"""syndp: synthetic tables."""

from typing import Any

import numpy as np
from kit import Package

package = Package("syndp", "0.5.2")


@package.randomizer(
    "laplace_mechanism",
    epsilon=1.0,
    says="local differential privacy, with epsilon as parameter",
    where="its summary",
    exact=np.inf,
    honest=False,
    note="draws the same noise in each call unless a seed is given: the default is 0",
)
def laplace() -> Any:
    from syndp.laplace_mechanism import laplace_mechanism

    return lambda x: laplace_mechanism(x, 1.0, 1.0)
