"""ldp-toolbox: frequency oracles for categories, compiled by numba."""

from typing import Any

import numpy as np
from kit import Package, bits, response, supports

package = Package("ldp-toolbox", "0.1.3", ("numba==0.68.1", "llvmlite==0.50.0", "xxhash==3.5.0"))
E = float(np.exp(1.0))
SAYS: dict[str, Any] = {"epsilon": 1.0, "says": "privacy budget for the LDP mechanism", "categories": 8}


@package.randomizer(
    "GeneralizedRandomizedResponse", where="docstring", exact=response(E / (E + 7), 1 / (E + 7)), **SAYS
)
def grr() -> Any:
    from ldp_toolbox.protocols.frequency.grr import GeneralizedRandomizedResponse

    return GeneralizedRandomizedResponse(8, 1.0).obfuscate


@package.randomizer("SubsetSelection", where="docstring", exact=1.0, **SAYS)
def subset() -> Any:
    from ldp_toolbox.protocols.frequency.ss import SubsetSelection

    return SubsetSelection(8, 1.0).obfuscate


@package.randomizer("HistogramEncoding, thresholding=False", where="docstring", exact=1.0, **SAYS)
def histogram() -> Any:
    from ldp_toolbox.protocols.frequency.he import HistogramEncoding

    return HistogramEncoding(8, 1.0, thresholding=False).obfuscate


@package.randomizer("HistogramEncoding", where="docstring", note="the set of indices as 8 bits", **SAYS)
def thresholded() -> Any:
    from ldp_toolbox.protocols.frequency.he import HistogramEncoding

    client = HistogramEncoding(8, 1.0)
    return lambda x: np.isin(np.arange(8), client.obfuscate(x))


@package.randomizer("UnaryEncoding, optimal", where="docstring", exact=bits(0.5, 1 / (1 + E)), **SAYS)
def oue() -> Any:
    from ldp_toolbox.protocols.frequency.ue import UnaryEncoding

    return UnaryEncoding(8, 1.0, optimal=True).obfuscate


@package.randomizer("LocalHashing, optimal", where="docstring", note="decoded, as for pure-ldp", exact=1.0, **SAYS)
def hashing() -> Any:
    from ldp_toolbox.protocols.frequency.lh import LocalHashing

    client = LocalHashing(8, 1.0, optimal=True)
    return lambda x: supports(*client.obfuscate(x), client.g)
