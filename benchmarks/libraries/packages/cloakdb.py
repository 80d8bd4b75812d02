"""cloakdb: columns of databases."""

import random
from typing import Any

from kit import Package

from tensorldp.commands.target import imported

package = Package("cloakdb", "1.0.0", ("faker==40.63.0",))
SAYS: dict[str, Any] = {
    "epsilon": 1.0,
    "says": "epsilon-differential privacy, or (epsilon, delta)",
    "where": "docstring of DifferentialPrivacyStrategy",
}
STRATEGY = "cloakdb.strategies.differential_privacy:DifferentialPrivacyStrategy"


def context(salt: str) -> Any:
    """Returns a cell of a table."""
    return imported("cloakdb.core.context:TransformationContext")("table", "column", 0, salt)


@package.randomizer(
    "DifferentialPrivacyStrategy, a new salt in each call",
    exact=1.0,
    note="the noise is a function of the value, its row and the salt: with a salt that is known it hides nothing",
    **SAYS,
)
def salted() -> Any:
    strategy = imported(STRATEGY)
    return lambda x: strategy().transform(x, context(str(random.random())))


@package.randomizer("DifferentialPrivacyStrategy, deterministic=False", exact=1.0, **SAYS)
def laplace() -> Any:
    strategy, cell = imported(STRATEGY), context("salt")
    return lambda x: strategy().transform(x, cell, deterministic=False)


@package.randomizer("DifferentialPrivacyStrategy of whole numbers", categories=2, exact=1.0, **SAYS)
def whole() -> Any:
    strategy, cell = imported(STRATEGY), context("salt")
    return lambda x: strategy().transform(x, cell, deterministic=False)


@package.randomizer("DifferentialPrivacyStrategy, gaussian", delta=1e-3, **SAYS)
def gaussian() -> Any:
    strategy, cell = imported(STRATEGY), context("salt")
    return lambda x: strategy().transform(x, cell, mechanism="gaussian", delta=1e-3, deterministic=False)
