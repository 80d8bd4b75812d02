"""I.i.d. Laplace noise on every element."""

from __future__ import annotations

from tensorldp.mechanisms.additive_noise import LAPLACE, StatedRange
from tensorldp.mechanisms.registry import register


@register
class Laplace(StatedRange):
    """Lap(0, I Delta / epsilon) per element: exactly epsilon-LDP for the whole record (TLDP, Theorem 2(1)).

    Args:
        delta_range: Delta, the range that the formula uses; default high - low.
    """

    name = "laplace"
    formula = r"x + \mathrm{Lap}(I \Delta / \varepsilon)^I"
    label = "Laplace"
    family = "laplace"
    source = "TLDP, Theorem 2(1), Eq. 5"
    law = LAPLACE

    @property
    def scale(self) -> float:
        """b, the Laplace scale, in the unit of the data."""
        return self.size * self.range / self.epsilon
