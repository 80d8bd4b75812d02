"""privateAB: two-sample tests on private categories."""

from typing import Any

import numpy as np
import torch
from kit import Package, bits, response

package = Package("privateAB", "0.0.2")
SAYS: dict[str, Any] = {
    "epsilon": 1.0,
    "says": "local differential privacy, with privacy_level as parameter",
    "where": "its summary",
}
E = float(np.exp(1.0))


@package.randomizer("client.lapu", categories=8, batch=True, exact=1.0, **SAYS)
def laplace() -> Any:
    from privateAB.client import lapu

    return lambda x: lapu().privatize(torch.tensor(x), 8, 1.0, "cpu").numpy()


@package.randomizer(
    "client.disclapu",
    categories=8,
    batch=True,
    exact=np.inf,
    honest=False,
    note="whole noise on entries of sqrt(8): what is not whole names the category",
    **SAYS,
)
def discrete_laplace() -> Any:
    from privateAB.client import disclapu

    return lambda x: disclapu().privatize(torch.tensor(x), 8, 1.0, "cpu").numpy()


@package.randomizer("client.genrr", categories=8, batch=True, exact=response(E / (E + 7), 1 / (E + 7)), **SAYS)
def grr() -> Any:
    from privateAB.client import genrr

    return lambda x: genrr().privatize(torch.tensor(x), 8, 1.0, "cpu").numpy()


@package.randomizer(
    "client.bitflip", categories=8, batch=True, exact=bits(E**0.5 / (1 + E**0.5), 1 / (1 + E**0.5)), **SAYS
)
def bit_flip() -> Any:
    from privateAB.client import bitflip

    return lambda x: bitflip().privatize(torch.tensor(x), 8, 1.0, "cpu").numpy()
