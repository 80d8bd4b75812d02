"""What a title may compare: scores at nearly one true epsilon, whose ranges over seeds are apart.

Titles that compare use this alone. What it leaves open has a neutral title.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations

import pandas as pd

NEAR_EPSILON = 3.0  # times a true epsilon: no point further off is compared
EQUAL = 1.01  # times a true epsilon that counts as no more: calibrated guarantees differ in their last digits
RANGE_SEEDS = 2  # one seed has no range
SAME_SCORE = 0.02  # of an accuracy or an F1 score that counts as the same


class Outcome(Enum):
    """How a first point stands to a second one."""

    ABOVE = "above"
    BELOW = "below"
    ALIKE = "alike"
    OPEN = "open"


@dataclass(frozen=True)
class Point:
    """A score's mean and range over its seeds, at a true epsilon."""

    at: float
    mean: float
    low: float
    high: float
    seeds: int

    def reaches(self, least: float) -> bool | None:
        """Returns whether the whole range is at or above a threshold, or below it; None where it lies across."""
        return True if self.low >= least else False if self.high < least else None


def points(rows: pd.DataFrame, at: str = "at") -> list[Point]:
    """Returns the points of one line, by its true epsilons in the column `at`; no infinite ones.

    Rows also have the columns `seed` and `value`.
    """
    found = []
    for place, part in rows.groupby(at):
        if 0.0 < float(place) < math.inf:  # type: ignore[arg-type]
            low, high = float(part["value"].min()), float(part["value"].max())
            found.append(Point(float(place), float(part["value"].mean()), low, high, part["seed"].nunique()))  # type: ignore[arg-type]
    return found


def near(first: Point, second: Point, within: float = NEAR_EPSILON) -> bool:
    """Returns whether two true epsilons differ by no more than a factor."""
    return first.at <= within * second.at and second.at <= within * first.at


def outcome(first: Point, second: Point, margin: float) -> Outcome:
    """Compares two points.

    One is above another if it is near, their ranges are apart, and it has no larger epsilon, which alone could explain
    it. They are alike if they are near, their ranges overlap, and their means differ by no more than a margin.
    """
    if not near(first, second) or min(first.seeds, second.seeds) < RANGE_SEEDS:
        return Outcome.OPEN
    if first.low > second.high:
        return Outcome.ABOVE if first.at <= EQUAL * second.at else Outcome.OPEN
    if first.high < second.low:
        return Outcome.BELOW if EQUAL * first.at >= second.at else Outcome.OPEN
    return Outcome.ALIKE if abs(first.mean - second.mean) <= margin else Outcome.OPEN


def meetings(
    first: Sequence[Point], second: Sequence[Point], within: float = NEAR_EPSILON
) -> list[tuple[Point, Point]]:
    """Returns the pairs of near points of two lines in which each is the other's nearest."""

    def nearest(to: Point, among: Sequence[Point]) -> Point:
        return min(among, key=lambda point: abs(math.log(point.at / to.at)))

    if not first or not second:
        return []
    pairs = [(point, nearest(point, second)) for point in first]
    return [(a, b) for a, b in pairs if near(a, b, within) and nearest(b, first) is a]


Lines = dict[str, list[Point]]


def all_alike(lines: Lines, margin: float, within: float = NEAR_EPSILON) -> bool:
    """Returns whether lines are alike wherever two meet, meet as one group, and span over three margins where they do.

    Args:
        lines: by name.
        margin: of a mean.
        within: at most `NEAR_EPSILON`; less where scores change much within that.
    """
    group, scores = {next(iter(lines), "")}, []
    pairs = {(a, b): meetings(lines[a], lines[b], within) for a, b in combinations(lines, 2)}
    for met in pairs.values():
        if any(outcome(*pair, margin) is not Outcome.ALIKE for pair in met):
            return False
        scores += [point.mean for pair in met for point in pair]
    for _ in lines:
        group |= {name for pair, met in pairs.items() if met and group & set(pair) for name in pair}
    return len(group) == len(lines) > 1 and max(scores) - min(scores) > 3 * margin


def is_ahead(lines: Lines, name: str, margin: float) -> bool:
    """Returns whether a line is above every other one somewhere, and nowhere apart from one that scores more."""
    met = [meetings(lines[name], other) for key, other in lines.items() if key != name]
    return bool(met) and all(
        any(outcome(a, b, margin) is Outcome.ABOVE for a, b in pairs) and not any(a.high < b.low for a, b in pairs)
        for pairs in met
    )


def is_behind(lines: Lines, name: str, margin: float) -> bool:
    """Returns whether a line is below some other one somewhere, and nowhere apart from one that scores less."""
    met = [pair for key, other in lines.items() if key != name for pair in meetings(lines[name], other)]
    return any(outcome(a, b, margin) is Outcome.BELOW for a, b in met) and not any(a.low > b.high for a, b in met)


def as_well(own: Sequence[Point], other: Sequence[Point], margin: float) -> bool:
    """Returns whether a line does as well as another at half or more of the points that it comes near, less at none.

    As well as a point is it if its nearest one is within a margin, or one of no larger epsilon scores no less by more
    than that. It does less if a near one of no smaller epsilon is below by more than a margin, ranges apart.
    """

    def is_good(b: Point, around: list[Point]) -> bool:
        nearest = min(around, key=lambda a: abs(math.log(a.at / b.at)))
        return abs(nearest.mean - b.mean) <= margin or any(
            a.at <= EQUAL * b.at and a.mean >= b.mean - margin for a in around
        )

    met = [(b, around) for b in other if (around := [a for a in own if near(a, b)])]
    is_less = any(
        outcome(a, b, margin) is Outcome.BELOW and b.mean - a.mean > margin for b, around in met for a in around
    )
    return bool(met) and not is_less and 2 * sum(is_good(*pair) for pair in met) >= len(met)
