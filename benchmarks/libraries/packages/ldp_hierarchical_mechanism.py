"""LDP-hierarchical-mechanism: range queries by frequency oracles on the levels of a tree."""

from typing import Any

import numpy as np
from kit import Package

from tensorldp.commands.target import imported

package = Package(
    "LDP-hierarchical-mechanism",
    "0.1.3",
    ("pure-ldp==1.2.0", "xxhash==3.5.0", "bitstring==4.1.4", "bitarray==2.9.3", "statsmodels==0.14.6", "patsy==1.0.2"),
)
SAYS: dict[str, Any] = {"epsilon": 2.0, "says": "eps: privacy parameter", "where": "docstring of Private_TreeBary"}
PARENT = "its client takes categories from 1, the tree's intervals are numbered from 0"


@package.randomizer(
    "Private_TreeBary of 16, b = 4, direct_encoding", categories=16, exact=np.inf, honest=False, note=PARENT, **SAYS
)
def direct() -> Any:
    tree = imported("hierarchical_mechanism_LDP:Private_TreeBary")(16, 4, 2.0, "direct_encoding")
    return lambda x: tree.clients[0].privatise(tree.find_interval_index(x, 1))


@package.randomizer("Private_TreeBary of 16, b = 4, unary_encoding", categories=16, **SAYS)
def unary() -> Any:
    tree = imported("hierarchical_mechanism_LDP:Private_TreeBary")(16, 4, 2.0, "unary_encoding")
    return lambda x: tree.clients[0].privatise(tree.find_interval_index(x, 1))
