"""python-dp: Google's differential privacy library."""

from typing import Any

from kit import Package

package = Package("python-dp", "1.1.5")
NOTE = "its randomness cannot be seeded: another number in each run"
SAYS: dict[str, Any] = {
    "epsilon": 1.0,
    "says": "epsilon and sensitivity of the mechanism",
    "where": "its documentation",
}


@package.randomizer("LaplaceMechanism.add_noise", exact=1.0, note=NOTE, **SAYS)
def laplace() -> Any:
    from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

    return LaplaceMechanism(1.0, 1.0).add_noise


@package.randomizer("GaussianMechanism.add_noise", delta=1e-3, exact=1.0, note=NOTE, **SAYS)
def gaussian() -> Any:
    from pydp.algorithms.numerical_mechanisms import GaussianMechanism

    return GaussianMechanism(1.0, 1e-3, 1.0).add_noise
