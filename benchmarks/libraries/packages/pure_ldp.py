"""pure-ldp: frequency oracles for categories."""

from typing import Any

import numpy as np
from kit import Package, bits, response, supports

package = Package(
    "pure-ldp", "1.2.0", ("xxhash==3.5.0", "bitstring==4.1.4", "bitarray==2.9.3", "statsmodels==0.14.6", "patsy==1.0.2")
)
E = float(np.exp(1.0))
SAYS: dict[str, Any] = {
    "epsilon": 1.0,
    "says": "epsilon: privacy budget",
    "where": "docstring of FreqOracleClient",
    "categories": 8,
}
DECODED = "released with its seed, so decoded: for each candidate, whether its hash is the answer"


@package.randomizer("DEClient", exact=response(E / (E + 7), 1 / (E + 7)), **SAYS)
def direct() -> Any:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    return DEClient(1.0, 8, index_mapper=int).privatise


@package.randomizer("UEClient", exact=bits(E**0.5 / (1 + E**0.5), 1 / (1 + E**0.5)), **SAYS)
def symmetric() -> Any:
    from pure_ldp.frequency_oracles.unary_encoding import UEClient

    return UEClient(1.0, 8, index_mapper=int).privatise


@package.randomizer("UEClient, use_oue", exact=bits(0.5, 1 / (1 + E)), **SAYS)
def optimal() -> Any:
    from pure_ldp.frequency_oracles.unary_encoding import UEClient

    return UEClient(1.0, 8, use_oue=True, index_mapper=int).privatise


@package.randomizer("HEClient", exact=1.0, **SAYS)
def histogram() -> Any:
    from pure_ldp.frequency_oracles.histogram_encoding import HEClient

    return HEClient(1.0, 8, index_mapper=int).privatise


@package.randomizer("LHClient, use_olh", note=DECODED, exact=1.0, **SAYS)
def hashing() -> Any:
    from pure_ldp.frequency_oracles.local_hashing import LHClient

    client = LHClient(1.0, 8, use_olh=True, index_mapper=int)
    return lambda x: supports(*client.privatise(x), client.g)


@package.randomizer("FastLHClient, k = 50", exact=1.0, **SAYS)
def fast_hashing() -> Any:
    from pure_ldp.frequency_oracles.local_hashing import FastLHClient

    return FastLHClient(1.0, 8, 50, use_olh=True, index_mapper=int).privatise


@package.randomizer("CMSClient", exact=1.0, **SAYS)
def sketch() -> Any:
    from pure_ldp.core import generate_hash_funcs
    from pure_ldp.frequency_oracles.apple_cms import CMSClient

    client = CMSClient(1.0, generate_hash_funcs(4, 16), 16)
    return lambda x: np.append(*client.privatise(x))


@package.randomizer("CMSClient, is_hadamard", exact=1.0, **SAYS)
def hadamard_sketch() -> Any:
    from pure_ldp.core import generate_hash_funcs
    from pure_ldp.frequency_oracles.apple_cms import CMSClient

    return CMSClient(1.0, generate_hash_funcs(4, 16), 16, is_hadamard=True).privatise


@package.randomizer("HadamardMechClient, t = 2", **SAYS)
def hadamard_mechanism() -> Any:
    from pure_ldp.frequency_oracles.hadamard_mechanism import HadamardMechClient

    client = HadamardMechClient(1.0, 8, 2, index_mapper=int)
    return lambda x: list(client.privatise(x))


@package.randomizer("HadamardResponseClient", exact=1.0, **SAYS)
def hadamard_response() -> Any:
    from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer

    hashes = HadamardResponseServer(1.0, 8).get_hash_funcs()
    return HadamardResponseClient(1.0, 8, hashes, index_mapper=int).privatise


@package.randomizer(
    "RAPPORClient, f = 0.5, 2 hashes, 1 cohort",
    epsilon=float(np.log(9.0) * 2),
    says="its epsilon by convert_f_to_eps(0.5, 2)",
    where="docstring of RAPPORClient",
    categories=8,
    minutes=0.6,
    exact=np.inf,
    honest=False,
    note="bits that are one stay one, so a cleared bit excludes records; the paper's flips them too",
)
def rappor() -> Any:
    from pure_ldp.core import generate_hash_funcs
    from pure_ldp.frequency_oracles.rappor import RAPPORClient

    client = RAPPORClient(0.5, 16, [generate_hash_funcs(2, 16)], num_of_cohorts=1, index_mapper=int)
    return lambda x: client.privatise(x)[0]
