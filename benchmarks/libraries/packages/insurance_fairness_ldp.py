"""insurance-fairness-ldp: randomized response for a sensitive attribute."""

from typing import Any

import numpy as np
from kit import Package

from tensorldp.commands.target import imported

package = Package("insurance-fairness-ldp", "0.1.1")
SAYS: dict[str, Any] = {"epsilon": 1.0, "says": "epsilon-LDP", "where": "docstring of KaryRandomisedResponse"}
LABELS = np.array(["No", "Yes", "Unknown"])


@package.randomizer(
    "KaryRandomisedResponse.privatise of a list",
    categories=["No", "Yes"],
    exact=np.inf,
    honest=False,
    note="answers are cut to the length of the longest label in the call: the true label's, if it is alone",
    **SAYS,
)
def one() -> Any:
    krr = imported("insurance_fairness_ldp:KaryRandomisedResponse")(1.0, list(LABELS))
    return lambda x, seed: krr.privatise([x], seed)


@package.randomizer("KaryRandomisedResponse.privatise of an array", categories=3, batch=True, exact=1.0, **SAYS)
def many() -> Any:
    krr = imported("insurance_fairness_ldp:KaryRandomisedResponse")(1.0, list(LABELS))
    return lambda x, seed: krr.privatise(LABELS[x], seed)
