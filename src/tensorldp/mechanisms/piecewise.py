"""The piecewise mechanism on a few sampled coordinates [wang2019]."""

from __future__ import annotations

import math

from tensorldp.mechanisms.registry import register
from tensorldp.mechanisms.sampled_coordinates import SampledCoordinates


def piecewise_variance(t: float, epsilon: float) -> float:
    """t^2 / (z - 1) + (z + 3) / (3 (z - 1)^2), z = e^(epsilon/2), in terms that do not overflow."""
    w = math.exp(-epsilon / 2.0)
    gap = -math.expm1(-epsilon / 2.0)
    return t * t * w / gap + w * (1.0 + 3.0 * w) / (3.0 * gap * gap)


@register
class Piecewise(SampledCoordinates):
    """The piecewise mechanism on k = max(1, min(d, floor(epsilon/2.5))) coordinates: exactly epsilon-LDP."""

    name = "piecewise"
    formula = r"(d/k) \, \mathrm{PM}_{\varepsilon/k}(x_j) \text{ at } k \text{ sampled elements, else } 0"
    label = "Piecewise"
    family = "mean estimation"
    source = "[wang2019], Algorithms 2 and 4"

    @property
    def piecewise_weight(self) -> float:
        return 1.0

    def variance(self, t: float) -> float:
        return piecewise_variance(t, self.coordinate_epsilon)
