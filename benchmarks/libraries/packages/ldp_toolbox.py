"""ldp-toolbox: frequency oracles for categories, compiled by numba."""

from typing import Any

import numpy as np
from kit import Package, bits, response

package = Package("ldp-toolbox", "0.1.3", ("numba==0.68.1", "llvmlite==0.50.0", "xxhash==3.5.0"))
E = float(np.exp(1.0))
SAYS: dict[str, Any] = {
    "epsilon": 1.0,
    "says": "privacy budget for the LDP mechanism",
    "where": "docstring",
    "categories": 8,
}
FOLDER = "ldp_toolbox.protocols.frequency"
GIVEN = {"k": 8, "epsilon": 1.0}

package.randomizer(
    "GeneralizedRandomizedResponse",
    target=f"{FOLDER}.grr:GeneralizedRandomizedResponse.obfuscate",
    options=GIVEN,
    exact=response(E / (E + 7), 1 / (E + 7)),
    **SAYS,
)
package.randomizer("SubsetSelection", target=f"{FOLDER}.ss:SubsetSelection.obfuscate", options=GIVEN, exact=1.0, **SAYS)
package.randomizer(
    "HistogramEncoding, thresholding=False",
    target=f"{FOLDER}.he:HistogramEncoding.obfuscate",
    options=GIVEN | {"thresholding": False},
    exact=1.0,
    **SAYS,
)
package.randomizer(
    "HistogramEncoding",
    target=f"{FOLDER}.he:HistogramEncoding.obfuscate",
    options=GIVEN,
    note="a list of indices, of varying length",
    **SAYS,
)
package.randomizer(
    "UnaryEncoding, optimal",
    target=f"{FOLDER}.ue:UnaryEncoding.obfuscate",
    options=GIVEN | {"optimal": True},
    exact=bits(0.5, 1 / (1 + E)),
    **SAYS,
)
package.randomizer(
    "LocalHashing, optimal",
    target=f"{FOLDER}.lh:LocalHashing.obfuscate",
    options=GIVEN | {"optimal": True},
    exact=1.0,
    note="decoded, as for pure-ldp",
    **SAYS,
)
