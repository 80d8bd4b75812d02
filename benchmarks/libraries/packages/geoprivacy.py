"""GeoPrivacy: places by geo-indistinguishability."""

from typing import Any

import numpy as np
from kit import Package

package = Package("GeoPrivacy", "0.0.4", ("geopy==2.4.1", "geographiclib==2.0", "gurobipy==12.0.1"))


@package.randomizer(
    "random_laplace_noise, two places 1 apart",
    epsilon=1.0,
    says="privacy level eps for each unit of distance",
    where="its docstring",
    categories=2,
    exact=1.0,
)
def planar() -> Any:
    from GeoPrivacy.mechanism import random_laplace_noise

    return lambda x: np.add((x, 0.0), random_laplace_noise(1.0))
