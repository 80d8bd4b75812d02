"""opendp: measurements with proofs."""

from typing import Any

import numpy as np
from kit import Package, response

package = Package("opendp", "0.16.0", ("deprecated==1.3.1", "wrapt==2.0.1"))
NOTE = "its randomness cannot be seeded: another number in each run"
SAYS: dict[str, Any] = {"says": "map(1) of the measurement", "where": "its documentation"}


def prelude() -> Any:
    """Returns the package with the features that its measurements need."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp


@package.randomizer(
    "make_randomized_response, 4 categories", epsilon=1.0, categories=4, exact=response(np.e, 1.0), note=NOTE, **SAYS
)
def grr() -> Any:
    dp = prelude()
    return dp.m.make_randomized_response(categories=[0, 1, 2, 3], prob=float(np.e / (np.e + 3)))


@package.randomizer("make_laplace, scale 1", epsilon=1.0, exact=1.0, note=NOTE, **SAYS)
def laplace() -> Any:
    dp = prelude()
    return dp.m.make_laplace(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=1.0)


@package.randomizer("make_geometric, scale 1", epsilon=1.0, categories=2, exact=1.0, note=NOTE, **SAYS)
def geometric() -> Any:
    dp = prelude()
    return dp.m.make_geometric(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=1.0)
