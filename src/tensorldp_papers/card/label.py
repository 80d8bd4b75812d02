"""The label: what one record is guaranteed, of three shapes, after one and many uses, and behind a shuffler."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from tensorldp.curves.shuffling import shuffled_epsilon
from tensorldp.deltas import REPORT_DELTA
from tensorldp.errors import InputError
from tensorldp.mechanisms import Domain, Mechanism

USES = (10, 1000)  # of a mechanism on one record, after which the label states epsilon again
SHUFFLED_PEOPLE, SHUFFLED_DELTA = 10_000, 1e-6
IMAGE_SHAPES = {"an image of 28 × 28": (28, 28), "an image of 32 × 32 × 3": (32, 96)}


@dataclass(frozen=True)
class Line:
    """What a record of one shape is guaranteed.

    Attributes:
        record: the record in words.
        elements: how many numbers it has.
        pure: epsilon at delta 0.
        loose: epsilon at `REPORT_DELTA`.
        exact: whether no smaller one holds.
        uses: epsilon at `REPORT_DELTA` after each of `USES`.
        shuffled: the central epsilon at `SHUFFLED_DELTA` among `SHUFFLED_PEOPLE` releases; None without a local one.
        unit: what is protected.
        why: why there is none, in a sentence; empty as a rule.
    """

    record: str
    elements: int
    pure: float = math.inf
    loose: float = math.inf
    exact: bool = False
    uses: tuple[float, ...] = ()
    shuffled: float | None = None
    unit: str = "record"
    why: str = ""

    @property
    def true(self) -> float:
        """Returns the pure epsilon, or where there is none that at `REPORT_DELTA`."""
        return self.pure if math.isfinite(self.pure) else self.loose

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values for JSON."""
        return {**asdict(self), "true": self.true}


def label(
    build: Callable[[Domain], Mechanism], domain: Domain, others: Mapping[str, tuple[int, ...]] = IMAGE_SHAPES
) -> list[Line]:
    """Computes a line for the domain of the user's records, and one for that of each of the `others` by their names.

    `build` makes the mechanism on a domain.
    """
    numbers = " numbers" if len(domain.shape) == 1 else ""
    given = f"a record of {' × '.join(map(str, domain.shape))}{numbers}"
    return [
        _line(record, build, replace(domain, shape=shape)) for record, shape in {given: domain.shape, **others}.items()
    ]


def _line(record: str, build: Callable[[Domain], Mechanism], domain: Domain) -> Line:
    try:
        mechanism = build(domain)
    except InputError as error:
        return Line(record, domain.size, why=str(error))
    one, curve = mechanism.guarantee(REPORT_DELTA), mechanism.curve()
    pure = mechanism.guarantee(0.0).epsilon
    shuffled = shuffled_epsilon(pure, SHUFFLED_PEOPLE, SHUFFLED_DELTA) if 0.0 < pure < math.inf else None
    uses = tuple(curve.compose(count).epsilon(REPORT_DELTA) for count in USES)
    return Line(record, domain.size, pure, one.epsilon, one.exact, uses, shuffled, one.unit)
