"""What each client asks for: its epsilon and the safe range of its weights (PLDP-FL, 6.1.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tensorldp.errors import InputError, check_budget, check_positive, check_real, check_whole, shown, unknown

EPSILON_MODES: dict[str, tuple[float, ...]] = {
    "e1": (0.1, 0.2),
    "e2": tuple(i / 10 for i in range(1, 11)),
    "e3": (0.9, 1.0),
    "same": (1.0,),
}
RANGE_MODES: dict[str, tuple[float, ...]] = {
    "t1": (0.2, 0.4),
    "t2": tuple(i / 5 for i in range(1, 11)),
    "t3": (1.8, 2.0),
}


@dataclass(frozen=True)
class Preference:
    """One client's (tau, epsilon): the safe range [low, high] of a weight and its privacy budget.

    Raises:
        InputError: naming the client, if epsilon is not in [1e-12, 1e12] or the range has no width.
    """

    client: int
    epsilon: float
    low: float
    high: float

    def __post_init__(self) -> None:
        check_budget(f"epsilon of client {self.client}", self.epsilon, infinite=True)
        low = check_real(f"the lower end of the safe range of client {self.client}", self.low)
        high = check_real(f"the upper end of the safe range of client {self.client}", self.high)
        if not low < high:
            raise InputError(
                f"the safe range of client {self.client} must have a width above 0, got [{low:g}, {high:g}]"
            )


def epsilon_levels(mode: str | Sequence[float], clients: int, largest: float) -> list[float]:
    """Every client's epsilon: the mode's levels, repeated in turn and scaled so that the largest client's is `largest`.

    Args:
        mode: `e1`, `e2`, `e3` (PLDP-FL, 6.1.3), `same`, or the levels of the first clients.
        clients: how many.
        largest: the epsilon of the client with the most.

    Raises:
        InputError: if the mode is unknown or a level is not in [1e-12, 1e12], naming the client.
    """
    levels = _levels("epsilon mode", mode, EPSILON_MODES)
    levels = [check_budget(f"epsilon of client {i}", level) for i, level in enumerate(levels)]
    if math.isinf(largest):
        return [math.inf] * clients
    top = max(levels[:clients])
    return [largest * (levels[i % len(levels)] / top) for i in range(clients)]


def range_lengths(mode: str | float | Sequence[float], clients: int) -> list[float]:
    """Every client's length L of its safe range: the mode's lengths, repeated in turn.

    Args:
        mode: `t1`, `t2`, `t3` (PLDP-FL, 6.1.3), one length for all, or the lengths of the first clients.
        clients: how many.

    Raises:
        InputError: if the mode is unknown or a length is not above 0, naming the client.
    """
    lengths = _levels("safe range mode", [mode] if isinstance(mode, (int, float)) else mode, RANGE_MODES)
    lengths = [check_positive(f"the width of the safe range of client {i}", length) for i, length in enumerate(lengths)]
    return [lengths[i % len(lengths)] for i in range(clients)]


def _levels(kind: str, mode: str | Sequence[float], modes: dict[str, tuple[float, ...]]) -> Sequence[float]:
    if isinstance(mode, str):
        if mode not in modes:
            raise unknown(kind, mode, modes)
        return modes[mode]
    if not mode:
        raise InputError(f"the {kind} must have at least one level, got {shown(mode)}")
    return mode


def preferences(
    epsilons: str | Sequence[float],
    ranges: str | float | Sequence[float],
    *,
    clients: int,
    largest: float,
    centre: float = 0.0,
) -> list[Preference]:
    """The (tau, epsilon) of every client.

    Args:
        epsilons: see `epsilon_levels`.
        ranges: see `range_lengths`.
        clients: how many.
        largest: the largest client's epsilon.
        centre: of every safe range, in the unit of a weight; the paper does not print its own.

    Raises:
        InputError: if a client's epsilon is 0 or its range has no width, naming it.
    """
    check_whole("clients", clients, low=1)
    return [
        Preference(i, epsilon, centre - length / 2, centre + length / 2)
        for i, (epsilon, length) in enumerate(
            zip(epsilon_levels(epsilons, clients, largest), range_lengths(ranges, clients), strict=True)
        )
    ]


def participant_count(clients: int, participation: float) -> int:
    """gamma N, rounded to at least one.

    Raises:
        InputError: if that is more than there are clients, or participation is not above 0.
    """
    fraction = check_positive("participation", participation)
    count = max(1, round(fraction * clients))
    if count > clients:
        raise InputError(
            f"participation = {fraction:g} asks for {count} participants of {clients} clients; "
            "it must be a number in (0, 1]"
        )
    return count
