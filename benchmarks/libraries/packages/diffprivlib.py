"""diffprivlib: mechanisms of differential privacy."""

from typing import Any

import numpy as np
from kit import Case, Package, bits

package = Package("diffprivlib", "0.6.6", ("scikit-learn==1.6.1", "setuptools==80.9.0"))
FOLDER = "diffprivlib.mechanisms"
STATE = {"random_state": "@numpy.random.mtrand:_rand"}  # the global state, which is seeded before each call
GIVEN = STATE | {"epsilon": 1.0, "sensitivity": 1}
SAYS: dict[str, Any] = {
    "epsilon": 1.0,
    "says": "privacy parameters epsilon and delta",
    "where": "docstring of the class",
}
UTILITY = [["abcd"[a], "abcd"[b], abs(a - b)] for a in range(4) for b in range(a + 1, 4)]

package.randomizer("Laplace", target=f"{FOLDER}:Laplace.randomise", options=GIVEN, exact=1.0, **SAYS)
package.randomizer(
    "Laplace, delta 0.1",
    target=f"{FOLDER}:Laplace.randomise",
    options=GIVEN | {"delta": 0.1},
    delta=0.1,
    exact=1.0,
    **SAYS,
)
package.randomizer(
    "LaplaceBoundedDomain",
    target=f"{FOLDER}:LaplaceBoundedDomain.randomise",
    options=GIVEN | {"lower": 0.0, "upper": 1.0},
    **SAYS,
)
package.randomizer(
    "LaplaceBoundedNoise",
    target=f"{FOLDER}:LaplaceBoundedNoise.randomise",
    options=GIVEN | {"delta": 0.05},
    delta=0.05,
    exact=1.0,
    **SAYS,
)
package.randomizer("Staircase", target=f"{FOLDER}:Staircase.randomise", options=GIVEN, exact=1.0, **SAYS)
package.randomizer(
    "Uniform",
    target=f"{FOLDER}:Uniform.randomise",
    options=STATE | {"delta": 0.1, "sensitivity": 1},
    epsilon=0.0,
    delta=0.1,
    says="delta: privacy parameter",
    where="docstring of the class",
    exact=0.0,
)
package.randomizer(
    "Gaussian", target=f"{FOLDER}:Gaussian.randomise", options=GIVEN | {"delta": 1e-3}, delta=1e-3, **SAYS
)
package.randomizer(
    "GaussianAnalytic",
    target=f"{FOLDER}:GaussianAnalytic.randomise",
    options=GIVEN | {"delta": 1e-3},
    delta=1e-3,
    exact=1.0,
    **SAYS,
)
package.randomizer(
    "GaussianDiscrete",
    target=f"{FOLDER}:GaussianDiscrete.randomise",
    options=GIVEN | {"delta": 0.01},
    delta=0.01,
    categories=2,
    exact=1.0,
    **SAYS,
)
package.randomizer("Geometric", target=f"{FOLDER}:Geometric.randomise", options=GIVEN, categories=2, exact=1.0, **SAYS)
package.randomizer(
    "Snapping", target=f"{FOLDER}:Snapping.randomise", options=GIVEN | {"lower": 0.0, "upper": 1.0}, **SAYS
)
package.randomizer(
    "Binary",
    target=f"{FOLDER}:Binary.randomise",
    options=STATE | {"epsilon": 1.0, "value0": "zero", "value1": "one"},
    categories=["zero", "one"],
    exact=bits(np.e / (1 + np.e), 1 / (1 + np.e)) / 2,
    **SAYS,
)
package.randomizer(
    "ExponentialCategorical",
    target=f"{FOLDER}:ExponentialCategorical.randomise",
    options=STATE | {"epsilon": 1.0, "utility_list": UTILITY},
    categories=["a", "b", "c", "d"],
    **SAYS,
)


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
