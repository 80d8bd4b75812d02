"""multi-freq-ldpy: frequency oracles for categories, compiled by numba."""

from typing import Any

import numpy as np
from kit import Package, bits, response, supports

package = Package("multi-freq-ldpy", "0.2.5", ("numba==0.68.1", "llvmlite==0.50.0", "xxhash==3.5.0"))
E = float(np.exp(1.0))
SAYS: dict[str, Any] = {"epsilon": 1.0, "says": "epsilon: privacy guarantee", "categories": 8}


@package.randomizer("GRR_Client", where="its docstring", exact=response(E / (E + 7), 1 / (E + 7)), **SAYS)
def grr() -> Any:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    return lambda x: GRR_Client(x, 8, 1.0)


@package.randomizer("UE_Client", where="its docstring", exact=bits(0.5, 1 / (1 + E)), **SAYS)
def oue() -> Any:
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

    return lambda x: UE_Client(x, 8, 1.0)


@package.randomizer(
    "UE_Client, optimal=False", where="its docstring", exact=bits(E**0.5 / (1 + E**0.5), 1 / (1 + E**0.5)), **SAYS
)
def sue() -> Any:
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

    return lambda x: UE_Client(x, 8, 1.0, False)


@package.randomizer("HE_Client", where="its docstring", exact=1.0, **SAYS)
def histogram() -> Any:
    from multi_freq_ldpy.pure_frequency_oracles.HE import HE_Client

    return lambda x: HE_Client(x, 8, 1.0)


@package.randomizer(
    "SS_Client",
    where="its docstring",
    exact=np.inf,
    honest=False,
    note="the true entry, where the set has it, is the first; the set without its order has epsilon 1",
    **SAYS,
)
def subset() -> Any:
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client

    return lambda x: SS_Client(x, 8, 1.0)


@package.randomizer("LH_Client", where="its docstring", exact=1.0, note="decoded, as for pure-ldp", **SAYS)
def hashing() -> Any:
    from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client

    return lambda x: supports(*LH_Client(x, 8, 1.0), 4)


@package.randomizer("ADP_Client", where="its docstring", exact=1.0, **SAYS)
def adaptive() -> Any:
    from multi_freq_ldpy.pure_frequency_oracles.ADP import ADP_Client

    return lambda x: ADP_Client(x, 8, 1.0)


@package.randomizer(
    "L_SUE_Client, eps_perm 2, eps_1 1",
    epsilon=1.0,
    says="eps_1: lower bound of privacy guarantee (a single report)",
    where="its docstring",
    categories=8,
)
def longitudinal() -> Any:
    from multi_freq_ldpy.long_freq_est.L_SUE import L_SUE_Client

    return lambda x: L_SUE_Client(x, 8, 2.0, 1.0)


@package.randomizer(
    "dBitFlipPM_Client, 8 buckets, 3 bits",
    epsilon=1.0,
    says="eps_perm: upper bound of privacy guarantee",
    where="its docstring",
    categories=8,
)
def bit_flip() -> Any:
    from multi_freq_ldpy.long_freq_est.dBitFlipPM import dBitFlipPM_Client

    return lambda x: dBitFlipPM_Client(x, 8, 8, 3, 1.0)
