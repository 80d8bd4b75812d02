"""pure-ldp: frequency oracles for categories."""

from typing import Any

import numpy as np
from kit import Package, bits, response

from tensorldp.commands.target import imported

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
FOLDER = "pure_ldp.frequency_oracles"
GIVEN = {"epsilon": 1.0, "d": 8, "index_mapper": "@builtins:int"}
DECODED = "released with its seed, so decoded: for each candidate, whether its hash is the answer"

package.randomizer(
    "DEClient",
    target=f"{FOLDER}.direct_encoding:DEClient.privatise",
    options=GIVEN,
    exact=response(E / (E + 7), 1 / (E + 7)),
    **SAYS,
)
package.randomizer(
    "UEClient",
    target=f"{FOLDER}.unary_encoding:UEClient.privatise",
    options=GIVEN,
    exact=bits(E**0.5 / (1 + E**0.5), 1 / (1 + E**0.5)),
    **SAYS,
)
package.randomizer(
    "UEClient, use_oue",
    target=f"{FOLDER}.unary_encoding:UEClient.privatise",
    options=GIVEN | {"use_oue": True},
    exact=bits(0.5, 1 / (1 + E)),
    **SAYS,
)
package.randomizer(
    "HEClient", target=f"{FOLDER}.histogram_encoding:HEClient.privatise", options=GIVEN, exact=1.0, **SAYS
)
package.randomizer(
    "LHClient, use_olh",
    target=f"{FOLDER}.local_hashing:LHClient.privatise",
    options=GIVEN | {"use_olh": True},
    note=DECODED,
    exact=1.0,
    **SAYS,
)
package.randomizer(
    "FastLHClient, k = 50",
    target=f"{FOLDER}.local_hashing:FastLHClient.privatise",
    options=GIVEN | {"k": 50, "use_olh": True},
    exact=1.0,
    **SAYS,
)
package.randomizer(
    "HadamardMechClient, t = 2",
    target=f"{FOLDER}.hadamard_mechanism:HadamardMechClient.privatise",
    options=GIVEN | {"t": 2},
    **SAYS,
)


@package.randomizer("CMSClient", exact=1.0, **SAYS)
def sketch() -> Any:
    hashes = imported("pure_ldp.core:generate_hash_funcs")(4, 16)
    return imported(f"{FOLDER}.apple_cms:CMSClient")(1.0, hashes, 16).privatise


@package.randomizer("CMSClient, is_hadamard", exact=1.0, **SAYS)
def hadamard_sketch() -> Any:
    hashes = imported("pure_ldp.core:generate_hash_funcs")(4, 16)
    return imported(f"{FOLDER}.apple_cms:CMSClient")(1.0, hashes, 16, is_hadamard=True).privatise


@package.randomizer("HadamardResponseClient", exact=1.0, **SAYS)
def hadamard_response() -> Any:
    hashes = imported(f"{FOLDER}.hadamard_response:HadamardResponseServer")(1.0, 8).get_hash_funcs()
    return imported(f"{FOLDER}.hadamard_response:HadamardResponseClient")(1.0, 8, hashes, index_mapper=int).privatise


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
    hashes = [imported("pure_ldp.core:generate_hash_funcs")(2, 16)]
    return imported(f"{FOLDER}.rappor:RAPPORClient")(0.5, 16, hashes, num_of_cohorts=1, index_mapper=int).privatise
