"""binomialdpy: tests of private counts."""

from typing import Any

import numpy as np
from kit import Package

package = Package("binomialdpy", "0.1.5")


@package.randomizer(
    "tulap.random",
    epsilon=1.0,
    says="Tulap noise with b = exp(-epsilon)",
    where="its docstring",
    categories=2,
    exact=1.0,
)
def tulap() -> Any:
    from binomialdpy.tulap import random

    return lambda x: random(1, x, float(np.exp(-1.0)), 0)[:1]
