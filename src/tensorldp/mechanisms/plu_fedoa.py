"""PLU-FedOA: Laplace noise per parameter, and the server's weights for clients of different budgets."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.errors import InputError, check_positive
from tensorldp.mechanisms.additive_noise import LAPLACE, AdditiveNoise
from tensorldp.mechanisms.registry import register


@register
class PluFedOa(AdditiveNoise):
    """PLU-FedOA: Lap(2c / epsilon) per parameter clipped to [-c, c]; the server's weights are `fedoa_weights`.

    Rebuilt from what PLDP-FL says of it. The nominal epsilon is per element: a record of I elements has I epsilon.
    """

    name = "plu-fedoa"
    formula = r"x_i + \mathrm{Lap}(R / \varepsilon)"
    label = "PLU-FedOA (reconstructed)"
    family = "laplace"
    epsilon_unit = "element"
    domain_kind = "box"
    law = LAPLACE
    server_weights = "inverse variance"
    source = "[yang2021], after what PLDP-FL says of it"
    status = "reconstructed"
    note = "the nominal epsilon is per element (one parameter), not per record"

    @property
    def scale(self) -> float:
        """2c / epsilon, the Laplace scale, in the unit of the data."""
        return self.box.width / self.epsilon

    def curve(self) -> PrivacyCurve:
        return LaplaceCurve(shift=self.epsilon, count=self.size)


def fedoa_weights(epsilons: Sequence[float], counts: Sequence[float]) -> list[float]:
    """The server's weights a_i = n_i epsilon_i^2 / sum_j n_j epsilon_j^2 (inverse noise variance), which sum to 1.

    Clients without noise (epsilon `math.inf`) divide all the weight by their counts, in the limit.

    Raises:
        InputError: if the lengths differ or are 0, or a value is not positive.
    """
    if len(epsilons) != len(counts) or not epsilons:
        raise InputError(
            f"fedoa_weights needs one epsilon and one count per client, got {len(epsilons)} and {len(counts)}"
        )
    eps = [check_positive("epsilon of a client", e, infinite=True) for e in epsilons]
    number = [check_positive("count of a client", n) for n in counts]
    top = max(eps)
    weights = [
        n * ((1.0 if e == top else 0.0) if math.isinf(top) else (e / top) ** 2)
        for e, n in zip(eps, number, strict=True)
    ]
    total = math.fsum(weights)
    return [weight / total for weight in weights]
