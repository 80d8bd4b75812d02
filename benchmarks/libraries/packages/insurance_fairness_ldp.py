"""insurance-fairness-ldp: randomized response for a sensitive attribute."""

from typing import Any

import numpy as np
from kit import Package

package = Package("insurance-fairness-ldp", "0.1.1")
SAYS: dict[str, Any] = {"epsilon": 1.0, "says": "epsilon-LDP", "where": "docstring of KaryRandomisedResponse"}
LABELS = np.array(["No", "Yes", "Unknown"])


@package.randomizer(
    "KaryRandomisedResponse.privatise of a list",
    categories=2,
    exact=np.inf,
    honest=False,
    note="answers are cut to the length of the longest label in the call: the true label's, if it is alone",
    **SAYS,
)
def one() -> Any:
    from insurance_fairness_ldp import KaryRandomisedResponse

    krr = KaryRandomisedResponse(1.0, list(LABELS))
    random_state = lambda: int(np.random.randint(2**31))  # noqa: E731
    return lambda x: [len(krr.privatise([str(LABELS[x])], random_state())[0])]


@package.randomizer("KaryRandomisedResponse.privatise of an array", categories=3, batch=True, exact=1.0, **SAYS)
def many() -> Any:
    from insurance_fairness_ldp import KaryRandomisedResponse

    krr = KaryRandomisedResponse(1.0, list(LABELS))
    places = lambda labels: np.argmax(labels[:, None] == LABELS, 1)  # noqa: E731
    return lambda x: places(krr.privatise(LABELS[x], int(np.random.randint(2**31))))
