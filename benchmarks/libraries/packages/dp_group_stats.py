"""dp-group-stats: statistics of groups."""

import random
from typing import Any

from kit import Package

package = Package("dp-group-stats", "0.1.2")


@package.randomizer(
    "laplace_noise added to a value",
    epsilon=1.0,
    says="a Laplace distribution calibrated to (epsilon, sensitivity)",
    where="its docstring",
    exact=1.0,
)
def laplace() -> Any:
    from dp_group_stats.mechanisms import laplace_noise

    return lambda x: x + laplace_noise(1.0, 1.0, random)  # type: ignore[arg-type]
