"""The hybrid mechanism: piecewise or Duchi's two points, on a few sampled coordinates [wang2019]."""

from __future__ import annotations

import math

from tensorldp.mechanisms.piecewise import piecewise_variance
from tensorldp.mechanisms.registry import register
from tensorldp.mechanisms.sampled_coordinates import SampledCoordinates, duchi_variance

# above this epsilon per coordinate hybrid mixes in the piecewise mechanism ([wang2019], Eq. 6)
HYBRID_THRESHOLD = math.log(
    (-5.0 + 2.0 * (6353.0 - 405.0 * math.sqrt(241.0)) ** (1 / 3) + 2.0 * (6353.0 + 405.0 * math.sqrt(241.0)) ** (1 / 3))
    / 27.0
)


def piecewise_probability(epsilon: float) -> float:
    """The probability that hybrid takes the piecewise mechanism: 1 - e^(-epsilon/2) above the threshold, else 0."""
    return -math.expm1(-epsilon / 2.0) if epsilon > HYBRID_THRESHOLD else 0.0


def hybrid_variance(t: float, epsilon: float) -> float:
    """The variance of the mixture, constant in t above the threshold."""
    weight = piecewise_probability(epsilon)
    return weight * piecewise_variance(t, epsilon) + (1.0 - weight) * duchi_variance(t, epsilon)


@register
class Hybrid(SampledCoordinates):
    """Piecewise with probability 1 - e^(-epsilon/(2k)), else Duchi's two points, on k sampled coordinates."""

    name = "hybrid"
    formula = r"(d/k) \, \mathrm{HM}_{\varepsilon/k}(x_j) \text{ at } k \text{ sampled elements, else } 0"
    label = "Hybrid"
    family = "mean estimation"
    source = "[wang2019], section III.C and Algorithm 4"

    @property
    def piecewise_weight(self) -> float:
        return piecewise_probability(self.coordinate_epsilon)

    def variance(self, t: float) -> float:
        return hybrid_variance(t, self.coordinate_epsilon)
