"""What a mechanism promises: numbers with a unit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tensorldp.curves.base import PrivacyCurve
from tensorldp.errors import InputError

UNITS = ("record", "element", "step", "client-round", "run", "batch")


@dataclass(frozen=True)
class Guarantee:
    """An (epsilon, delta) guarantee for one unit.

    Attributes:
        epsilon: in nats; `math.inf` where none holds at this delta.
        epsilon_without_atom: the same over the outputs that do not give their record away; equal to `epsilon` where no
            output does. At delta = 0 no finite epsilon covers such outputs.
        delta: in [0, 1).
        unit: what may change between neighbours, one of `UNITS`.
        exact: True if no smaller epsilon holds, False for an upper bound.
        note: what the guarantee leaves out, or why it is infinite; empty if there is nothing to say.
    """

    epsilon: float
    delta: float
    unit: str
    exact: bool
    note: str = field(default="", repr=False)
    epsilon_without_atom: float = field(kw_only=True)

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise InputError(f"a guarantee needs a unit out of {', '.join(UNITS)}, got {self.unit!r}")

    @classmethod
    def of(cls, curve: PrivacyCurve, delta: float, unit: str, note: str = "") -> Guarantee:
        """Computes what a privacy curve guarantees at `delta`.

        Args:
            curve: the curve of everything that is released.
            delta: in [0, 1); 0 asks for the pure guarantee.
            unit: what the curve's neighbours differ in, one of `UNITS`.
            note: what the guarantee leaves out.
        """
        epsilon = curve.epsilon(delta)
        without = epsilon if curve.log_atom == -math.inf else curve.epsilon_without_atom(delta)
        return cls(epsilon, float(delta), unit, curve.exact, note, epsilon_without_atom=without)
