"""hll-py: counting words by private hashes."""

from typing import Any

from kit import Package

package = Package("hll-py", "0.1.13")


@package.randomizer(
    "HyperLogLogLDP._random_or_true_hash",
    epsilon=1.0,
    says="local differentially private counting, with epsilon as parameter",
    where="its summary",
    categories=[*"abcdefgh"],
    exact=45.4,
    honest=False,
    note="the true hash with probability e / (e + 1), else one of 2^64: epsilon is about 64 ln 2",
)
def hashes() -> Any:
    from hll_py import HyperLogLogLDP, SketchConfig

    return HyperLogLogLDP(SketchConfig(epsilon=1.0))._random_or_true_hash
