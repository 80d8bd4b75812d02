"""The search for an event that tells two records apart, among thresholds of many statistics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tensorldp.audit.thresholds import Reals, ThresholdEvent, log_ratio_bound, tail_counts
from tensorldp.check.betting import Bet, make_bet, scores, smoothed

THRESHOLDS = 96  # that are tried on a statistic
CONSIDERED = 24  # events that are examined closely
CHOICES = tuple((above, swapped) for above in (True, False) for swapped in (False, True))


@dataclass(frozen=True)
class Event(ThresholdEvent):
    """An event of a statistic, more likely under x, or under x' if `swapped`.

    Attributes:
        epsilon, delta: the claimed point that the event is evidence against.
    """

    swapped: bool
    epsilon: float
    delta: float


@dataclass(frozen=True)
class Lead:
    """An event that looks promising on the releases it was found in.

    Attributes:
        score: standard errors by which it contradicts the claim.
        growth: the expected log growth of `bet` per block, 0 where it is too weak to bet on.
    """

    event: Event
    score: float
    hits: int
    other_hits: int
    trials: int
    bet: Bet | None
    growth: float

    def after(self, hits: int, other_hits: int, trials: int) -> Lead:
        """Returns the same event with the counts of further releases."""
        return lead_of(self.event, self.hits + hits, self.other_hits + other_hits, self.trials + trials)


def lead_of(event: Event, hits: int, other_hits: int, trials: int) -> Lead:
    """Builds the lead that an event is, from counts of releases of the likelier record and of the other."""
    p, q = smoothed(hits, trials), smoothed(other_hits, trials)
    score = float(scores(p, q, trials, event.epsilon, event.delta))
    suggested = make_bet(hits, other_hits, trials, event.epsilon, event.delta)
    bet, growth = suggested if suggested else (None, 0.0)
    return Lead(event, score, hits, other_hits, trials, bet, growth)


def best_lead(columns: dict[str, tuple[Reals, Reals]], points: tuple[tuple[float, float], ...]) -> Lead | None:
    """Finds the event with the strongest evidence against any of the claimed points.

    Args:
        columns: for each statistic its values on releases of x and of x', equally many.
        points: the claimed (epsilon, delta).
    """
    candidates = [candidate for name, values in columns.items() for candidate in _candidates(name, *values, points)]
    candidates.sort(key=lambda candidate: -candidate[0])
    near = [lead_of(event, *counts) for _, event, counts in candidates[:CONSIDERED]]
    return max(near, key=lambda lead: (lead.growth, lead.score), default=None)


def strongest(columns: dict[str, tuple[Reals, Reals]], delta: float, error: float) -> tuple[Event, float]:
    """Finds the event that would give the largest lower bound on epsilon at `delta`, and that bound."""
    best = (Event("", 0.0, True, False, 0.0, delta), 0.0)
    for name, (mine, other) in columns.items():
        quantum, thresholds, counts = tail_counts(mine, other, THRESHOLDS)
        for above, swapped in CHOICES:
            hits, others = counts[above][::-1] if swapped else counts[above]
            bounds = log_ratio_bound(hits, others, mine.size, error, delta)
            top = int(bounds.argmax())
            if bounds[top] > best[1]:
                event = Event(name, float(thresholds[top]), above, swapped, 0.0, delta, quantum=quantum)
                best = (event, float(bounds[top]))
    return best


def _candidates(
    name: str, mine: Reals, other: Reals, points: tuple[tuple[float, float], ...]
) -> list[tuple[float, Event, tuple[int, int, int]]]:
    """Finds for each direction and side the threshold and claimed point with the largest score, and their counts."""
    trials = mine.size
    quantum, thresholds, counts = tail_counts(mine, other, THRESHOLDS)
    if thresholds.size < 2:
        return []
    epsilon, delta = (np.array(side)[:, None] for side in zip(*points, strict=True))
    candidates = []
    for above, swapped in CHOICES:
        hits, others = counts[above][::-1] if swapped else counts[above]
        table = scores(smoothed(hits, trials), smoothed(others, trials), trials, epsilon, delta)
        row, column = np.unravel_index(int(table.argmax()), table.shape)
        event = Event(name, float(thresholds[column]), above, swapped, *points[row], quantum=quantum)
        candidates.append((float(table[row, column]), event, (int(hits[column]), int(others[column]), trials)))
    return candidates
