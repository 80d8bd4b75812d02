"""What a mechanism promises: numbers with a unit."""

from __future__ import annotations

from dataclasses import dataclass

from tensorldp.errors import InputError

UNITS = ("record", "element", "step", "client-round", "run", "batch")


@dataclass(frozen=True)
class Guarantee:
    """An (epsilon, delta) guarantee for one unit.

    Attributes:
        epsilon: in nats; `math.inf` where none holds at this delta.
        delta: in [0, 1).
        unit: what may change between neighbours, one of `UNITS`.
        exact: True if no smaller epsilon holds, False for an upper bound.
        note: what the guarantee leaves out, or why it is infinite; empty if there is nothing to say.
    """

    epsilon: float
    delta: float
    unit: str
    exact: bool
    note: str = ""

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise InputError(f"a guarantee needs a unit out of {', '.join(UNITS)}, got {self.unit!r}")
