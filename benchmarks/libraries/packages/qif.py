"""qif: quantitative information flow, with geo-indistinguishability and channels."""

from typing import Any

import numpy as np
from kit import Package

from tensorldp.commands.target import imported

package = Package("qif", "1.6.0")
SAYS: dict[str, Any] = {"epsilon": 1.0, "where": "the name of its module and of its parameter", "exact": 1.0}
NOTE = "its randomness comes from its own generator: another number in each run"


def at(point: Any) -> tuple[float, float]:
    """Returns the coordinates of a point."""
    return point.x, point.y


@package.randomizer(
    "geo_ind.planar_laplace_sample, two places 1 apart",
    categories=2,
    says="geo-indistinguishability with epsilon for each unit of distance",
    note=NOTE,
    **SAYS,
)
def planar() -> Any:
    noise = imported("qif:mechanism.geo_ind.planar_laplace_sample")
    return lambda x: np.add((x, 0.0), at(noise(1.0)))


@package.randomizer(
    "geo_ind.planar_geometric_sample, two cells 1 apart",
    categories=2,
    says="geo-indistinguishability with epsilon for each unit of distance",
    note=NOTE,
    **SAYS,
)
def grid() -> Any:
    noise = imported("qif:mechanism.geo_ind.planar_geometric_sample")
    return lambda x: np.add((x, 0.0), at(noise(1.0, 1.0)))


@package.randomizer("d_privacy.geometric, drawn by probab.sample", categories=2, says="d-privacy, epsilon", **SAYS)
def geometric() -> Any:
    channel, draw = imported("qif:mechanism.d_privacy.geometric")(8, 1.0), imported("qif:probab.sample")
    return lambda x: draw(channel[x].copy())


@package.randomizer(
    "d_privacy.randomized_response, drawn by probab.sample", categories=8, says="d-privacy, epsilon", **SAYS
)
def response() -> Any:
    channel, draw = imported("qif:mechanism.d_privacy.randomized_response")(8, 1.0), imported("qif:probab.sample")
    return lambda x: draw(channel[x].copy())
