"""trasgodp: columns of tables, numbers, categories and places."""

from typing import Any

import numpy as np
import pandas as pd
from kit import Package, response

from tensorldp.commands.target import imported

package = Package("trasgodp", "2.1.0", ("folium==0.20.0", "branca==0.8.2", "xyzservices==2026.9.1"))
SAYS: dict[str, Any] = {"epsilon": 1.0, "says": "epsilon: privacy budget", "where": "its docstring"}
HALF = float(np.exp(0.5))


@package.randomizer("dp_clip_laplace_array", batch=True, exact=1.0, **SAYS)
def laplace() -> Any:
    from trasgodp.numerical import dp_clip_laplace_array

    return lambda x: dp_clip_laplace_array(x, 1.0, 0.0, 1.0)


@package.randomizer("dp_clip_gaussian_array", batch=True, delta=1e-3, **SAYS)
def gaussian() -> Any:
    from trasgodp.numerical import dp_clip_gaussian_array

    return lambda x: dp_clip_gaussian_array(x, 1.0, 0.0, 1.0, 1e-3)


@package.randomizer(
    "dp_exponential_array",
    categories=8,
    batch=True,
    exact=response(HALF, 1.0),
    note="spends half of what it is given; categories are taken from the batch, so the wrapper adds one of each",
    **SAYS,
)
def exponential() -> Any:
    from trasgodp.categorical import dp_exponential_array

    return lambda x: dp_exponential_array(np.append(x, range(8)).astype(str), 1.0)[:-8].astype(int)


@package.randomizer(
    "metric_privacy, two places 1 m apart",
    epsilon=1.0,
    says="epsilon: privacy budget of geo-indistinguishability, so 1 for each metre",
    where="its docstring",
    categories=2,
    batch=True,
    exact=np.inf,
    honest=False,
    note="draws the same noise in each call unless a seed is given: the default is 42",
)
def places() -> Any:
    moved = imported("trasgodp.geoindis:metric_privacy")
    return lambda x: moved(pd.DataFrame({"a": x * 1e-5 / 1.112, "b": 0.0}), "a", "b", 1.0)[["a", "b"]].to_numpy() * 1e5
