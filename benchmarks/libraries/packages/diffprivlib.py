"""diffprivlib: mechanisms of differential privacy."""

from typing import Any

import numpy as np
from kit import Case, Package, bits

package = Package("diffprivlib", "0.6.6", ("scikit-learn==1.6.1", "setuptools==80.9.0"))
STATE = np.random.mtrand._rand  # the global state, which is seeded before each call
SAYS: dict[str, Any] = {
    "epsilon": 1.0,
    "says": "privacy parameters epsilon and delta",
    "where": "docstring of the class",
}


@package.randomizer("Laplace", exact=1.0, **SAYS)
def laplace() -> Any:
    from diffprivlib.mechanisms import Laplace

    return Laplace(epsilon=1.0, sensitivity=1.0, random_state=STATE).randomise


@package.randomizer("Laplace, delta 0.1", delta=0.1, exact=1.0, **SAYS)
def approximate_laplace() -> Any:
    from diffprivlib.mechanisms import Laplace

    return Laplace(epsilon=1.0, delta=0.1, sensitivity=1.0, random_state=STATE).randomise


@package.randomizer("LaplaceBoundedDomain", **SAYS)
def bounded_domain() -> Any:
    from diffprivlib.mechanisms import LaplaceBoundedDomain

    return LaplaceBoundedDomain(epsilon=1.0, sensitivity=1.0, lower=0.0, upper=1.0, random_state=STATE).randomise


@package.randomizer("LaplaceBoundedNoise", delta=0.05, exact=1.0, **SAYS)
def bounded_noise() -> Any:
    from diffprivlib.mechanisms import LaplaceBoundedNoise

    return LaplaceBoundedNoise(epsilon=1.0, delta=0.05, sensitivity=1.0, random_state=STATE).randomise


@package.randomizer("Staircase", exact=1.0, **SAYS)
def staircase() -> Any:
    from diffprivlib.mechanisms import Staircase

    return Staircase(epsilon=1.0, sensitivity=1.0, random_state=STATE).randomise


@package.randomizer(
    "Uniform", epsilon=0.0, delta=0.1, says="delta: privacy parameter", where="docstring of the class", exact=0.0
)
def uniform() -> Any:
    from diffprivlib.mechanisms import Uniform

    return Uniform(delta=0.1, sensitivity=1.0, random_state=STATE).randomise


@package.randomizer("Gaussian", delta=1e-3, **SAYS)
def gaussian() -> Any:
    from diffprivlib.mechanisms import Gaussian

    return Gaussian(epsilon=1.0, delta=1e-3, sensitivity=1.0, random_state=STATE).randomise


@package.randomizer("GaussianAnalytic", delta=1e-3, exact=1.0, **SAYS)
def analytic() -> Any:
    from diffprivlib.mechanisms import GaussianAnalytic

    return GaussianAnalytic(epsilon=1.0, delta=1e-3, sensitivity=1.0, random_state=STATE).randomise


@package.randomizer("GaussianDiscrete", delta=0.01, categories=2, exact=1.0, **SAYS)
def discrete() -> Any:
    from diffprivlib.mechanisms import GaussianDiscrete

    return GaussianDiscrete(epsilon=1.0, delta=0.01, sensitivity=1, random_state=STATE).randomise


@package.randomizer("Geometric", categories=2, exact=1.0, **SAYS)
def geometric() -> Any:
    from diffprivlib.mechanisms import Geometric

    return Geometric(epsilon=1.0, sensitivity=1, random_state=STATE).randomise


@package.randomizer("Binary", categories=2, exact=bits(np.e / (1 + np.e), 1 / (1 + np.e)) / 2, **SAYS)
def binary() -> Any:
    from diffprivlib.mechanisms import Binary

    mechanism = Binary(epsilon=1.0, value0="0", value1="1", random_state=STATE)
    return lambda x: int(mechanism.randomise(str(x)))


@package.randomizer("ExponentialCategorical", categories=4, **SAYS)
def exponential() -> Any:
    from diffprivlib.mechanisms import ExponentialCategorical

    utility = [[str(a), str(b), abs(a - b)] for a in range(4) for b in range(a + 1, 4)]
    mechanism = ExponentialCategorical(epsilon=1.0, utility_list=utility, random_state=STATE)
    return lambda x: int(mechanism.randomise(str(x)))


@package.randomizer("Snapping", **SAYS)
def snapping() -> Any:
    from diffprivlib.mechanisms import Snapping

    return Snapping(epsilon=1.0, sensitivity=1.0, lower=0.0, upper=1.0, random_state=STATE).randomise


@package.accountant(
    "BudgetAccountant",
    kinds="laplace response",
    says="total spend, optimal composition with slack",
    where="its docstring",
)
def budget(case: Case) -> float:
    from diffprivlib.accountant import BudgetAccountant

    each = 1 / case.noise if case.kind == "laplace" else case.noise
    accountant = BudgetAccountant(slack=case.delta, spent_budget=[(each, 0.0)] * case.steps)
    return float(accountant.total()[0])
