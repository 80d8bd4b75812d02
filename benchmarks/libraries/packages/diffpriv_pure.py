"""diffpriv-pure: mechanisms without dependencies."""

from typing import Any

import numpy as np
from kit import Case, Package

package = Package("diffpriv-pure", "0.1.0")


@package.randomizer(
    "private_count",
    epsilon=1.0,
    says="shifted geometric for pure eps-DP integer counts",
    where="docstring of geometric_noise",
    categories=2,
    exact=np.inf,
    honest=False,
    note="the noise has one sign: a result below the larger count excludes it",
)
def count() -> Any:
    from diffpriv_pure import private_count

    return lambda x: private_count(x, 1.0)


@package.randomizer(
    "private_sum of one value",
    epsilon=1.0,
    says="Lap(0, b) - pure eps-DP",
    where="docstring of laplace_noise",
    exact=1.0,
)
def total() -> Any:
    from diffpriv_pure import private_sum

    return lambda x: private_sum([x], (0.0, 1.0), 1.0)


@package.accountant(
    "PrivacyBudget.advanced_composition", kinds="laplace response", says="advanced composition", where="its name"
)
def advanced(case: Case) -> float:
    from diffpriv_pure import PrivacyBudget

    each = 1 / case.noise if case.kind == "laplace" else case.noise
    return float(PrivacyBudget(1e9).advanced_composition(case.steps, each, case.delta / case.steps)[0])
