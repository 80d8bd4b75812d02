"""What many uses of one mechanism on the same record guarantee."""

from __future__ import annotations

from tensorldp.curves.guarantee import Guarantee
from tensorldp.errors import MOST_USES, check_whole
from tensorldp.mechanisms.base import Mechanism, check_instance

RUN_OF = frozenset({"record", "step"})  # units whose repeated use makes a run


def compose(mechanism: Mechanism, *, count: int, delta: float, distance: float | None = None) -> Guarantee:
    """Computes the guarantee of `count` adaptive uses of a mechanism on one record, such as weights x rounds.

    Args:
        mechanism: the mechanism that is used repeatedly.
        count: number of uses, from 1 to 10^12.
        delta: the delta of the whole composition, in [0, 1); 0 asks for the pure guarantee.
        distance: of the two records that are to be told apart, by the mechanism's `metric`; None for any two.

    Returns:
        A guarantee whose unit is "run" where several uses of a record or step compose, else the mechanism's own.

    Raises:
        InputError: if an argument is out of range or `mechanism` is not a mechanism.
    """
    check_instance("compose", mechanism)
    count = check_whole("count", count, low=1, high=MOST_USES)
    curve = (mechanism.curve() if distance is None else mechanism.curve_at(distance)).compose(count)
    unit = "run" if count > 1 and mechanism.unit in RUN_OF else mechanism.unit
    return Guarantee.of(curve, delta, unit, mechanism.note)
