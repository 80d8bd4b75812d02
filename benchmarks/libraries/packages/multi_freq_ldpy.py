"""multi-freq-ldpy: frequency oracles for categories, compiled by numba."""

from typing import Any

import numpy as np
from kit import Package, bits, response

package = Package("multi-freq-ldpy", "0.2.5", ("numba==0.68.1", "llvmlite==0.50.0", "xxhash==3.5.0"))
E = float(np.exp(1.0))
SAYS: dict[str, Any] = {"epsilon": 1.0, "where": "its docstring", "categories": 8}
GUARANTEE: dict[str, Any] = SAYS | {"says": "epsilon: privacy guarantee"}
FOLDER = "multi_freq_ldpy.pure_frequency_oracles"
GIVEN = {"k": 8, "epsilon": 1.0}

package.randomizer(
    "GRR_Client",
    target=f"{FOLDER}.GRR:GRR_Client",
    options=GIVEN,
    exact=response(E / (E + 7), 1 / (E + 7)),
    **GUARANTEE,
)
package.randomizer(
    "UE_Client", target=f"{FOLDER}.UE:UE_Client", options=GIVEN, exact=bits(0.5, 1 / (1 + E)), **GUARANTEE
)
package.randomizer(
    "UE_Client, optimal=False",
    target=f"{FOLDER}.UE:UE_Client",
    options=GIVEN | {"optimal": False},
    exact=bits(E**0.5 / (1 + E**0.5), 1 / (1 + E**0.5)),
    **GUARANTEE,
)
package.randomizer("HE_Client", target=f"{FOLDER}.HE:HE_Client", options=GIVEN, exact=1.0, **GUARANTEE)
package.randomizer(
    "SS_Client",
    target=f"{FOLDER}.SS:SS_Client",
    options=GIVEN,
    exact=np.inf,
    honest=False,
    note="the true entry, where the set has it, is the first; the set without its order has epsilon 1",
    **GUARANTEE,
)
package.randomizer(
    "LH_Client", target=f"{FOLDER}.LH:LH_Client", options=GIVEN, exact=1.0, note="decoded, as for pure-ldp", **GUARANTEE
)
package.randomizer("ADP_Client", target=f"{FOLDER}.ADP:ADP_Client", options=GIVEN, exact=1.0, **GUARANTEE)
package.randomizer(
    "L_SUE_Client, eps_perm 2, eps_1 1",
    target="multi_freq_ldpy.long_freq_est.L_SUE:L_SUE_Client",
    options={"k": 8, "eps_perm": 2.0, "eps_1": 1.0},
    says="eps_1: lower bound of privacy guarantee (a single report)",
    **SAYS,
)
package.randomizer(
    "dBitFlipPM_Client, 8 buckets, 3 bits",
    target="multi_freq_ldpy.long_freq_est.dBitFlipPM:dBitFlipPM_Client",
    options={"k": 8, "b": 8, "d_bits": 3, "eps_perm": 1.0},
    says="eps_perm: upper bound of privacy guarantee",
    **SAYS,
)
