"""A title compares scores at near true epsilons whose ranges over seeds are apart, and says nothing of others."""

from __future__ import annotations

import pandas as pd
import pytest

from tensorldp_papers.plots.comparing import (
    Outcome,
    Point,
    all_alike,
    as_well,
    is_ahead,
    is_behind,
    meetings,
    outcome,
    points,
)

MARGIN = 0.03


def point(at: float, low: float, high: float, seeds: int = 5) -> Point:
    return Point(at, (low + high) / 2, low, high, seeds)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((1.0, 0.50, 0.54), (1.0, 0.51, 0.55), Outcome.ALIKE),
        ((1.0, 0.50, 0.54), (2.9, 0.51, 0.55), Outcome.ALIKE),
        ((1.0, 0.50, 0.54), (3.1, 0.51, 0.55), Outcome.OPEN),  # too far
        ((1.0, 0.80, 0.84), (1.0, 0.50, 0.55), Outcome.ABOVE),
        ((1.0, 0.80, 0.84), (2.0, 0.50, 0.55), Outcome.ABOVE),
        ((2.0, 0.80, 0.84), (1.0, 0.50, 0.55), Outcome.OPEN),  # its larger epsilon could explain it
        ((2.0, 0.50, 0.55), (1.0, 0.80, 0.84), Outcome.BELOW),
        ((1.0, 0.50, 0.55), (1000.0, 0.80, 0.84), Outcome.OPEN),
        ((1.0, 0.40, 0.70), (1.0, 0.60, 0.90), Outcome.OPEN),  # ranges overlap, means do not agree
        ((1.0, 0.286, 0.300), (1.0, 0.253, 0.386), Outcome.ALIKE),
        ((1.0, 0.80, 0.84, 1), (1.0, 0.50, 0.55, 5), Outcome.OPEN),  # one seed has no range
    ],
)
def test_two_points_compare_only_if_they_are_near_and_apart_or_overlap(
    first: tuple[float, float, float], second: tuple[float, float, float], expected: Outcome
) -> None:
    assert outcome(point(*first), point(*second), MARGIN) is expected
    mirrored = {Outcome.ABOVE: Outcome.BELOW, Outcome.BELOW: Outcome.ABOVE}
    assert outcome(point(*second), point(*first), MARGIN) is mirrored.get(expected, expected)


def test_a_threshold_is_reached_or_missed_by_a_whole_range() -> None:
    assert point(1.0, 0.31, 0.33).reaches(0.3) is True
    assert point(1.0, 0.27, 0.29).reaches(0.3) is False
    assert point(1.0, 0.253, 0.386).reaches(0.3) is None


def test_points_are_means_and_ranges_at_finite_places() -> None:
    rows = pd.DataFrame({"at": [1.0, 1.0, float("inf")], "seed": [0, 1, 0], "value": [0.25, 0.75, 1.0]})
    assert points(rows) == [Point(1.0, 0.5, 0.25, 0.75, 2)]


def test_each_point_meets_the_nearest_of_another_line_alone() -> None:
    first = [point(1.0, 0.1, 0.2), point(2.0, 0.2, 0.3)]
    second = [point(2.2, 0.2, 0.3), point(900.0, 0.8, 0.9)]
    assert meetings(first, second) == [(first[1], second[0])]


def test_lines_whose_points_are_far_apart_are_neither_alike_nor_ahead() -> None:
    """The Gaussian has 0.11 at 3 and 0.81 at 3,097: a straight line between them says nothing of what is at 100."""
    lines = {
        "gaussian": [point(3.0, 0.10, 0.12), point(3097.0, 0.80, 0.82)],
        "idn": [point(30.0, 0.10, 0.12), point(300.0, 0.30, 0.32)],
    }
    assert not all_alike(lines, MARGIN)
    assert not is_ahead(lines, "gaussian", MARGIN)
    assert not is_behind(lines, "idn", MARGIN)


def test_lines_that_are_apart_at_near_epsilons_are_not_alike() -> None:
    """MVG had 0.598 at 3,189 under the title that all score alike, and the analytic Gaussian 0.832 at 3,587."""
    low = [point(3.0, 0.10, 0.12)]
    lines = {"mvg": [*low, point(3189.0, 0.572, 0.633)], "gaussian": [*low, point(3587.0, 0.828, 0.839)]}
    assert not all_alike(lines, MARGIN)
    lines["mvg"][1] = point(3189.0, 0.828, 0.839)
    assert all_alike(lines, MARGIN)
    assert not all_alike({name: line[:1] for name, line in lines.items()}, MARGIN)  # at chance all are alike


def test_a_line_does_as_well_if_it_is_nowhere_below_and_mostly_alike() -> None:
    own = [point(1.0, 0.50, 0.54), point(10.0, 0.70, 0.74), point(100.0, 0.90, 0.94)]
    assert as_well(own, own, MARGIN)
    assert not as_well([*own[:2], point(100.0, 0.80, 0.84)], own, MARGIN)
    assert not as_well([point(1000.0, 0.90, 0.94)], own, MARGIN)
    assert as_well([point(0.5, 0.60, 0.64), point(5.0, 0.80, 0.84)], own, MARGIN)  # more with a smaller epsilon
    assert not as_well([point(2.0, 0.60, 0.64), point(20.0, 0.80, 0.84)], own, MARGIN)  # more with a larger one
