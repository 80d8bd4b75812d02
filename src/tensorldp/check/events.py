"""The search for an event that tells two records apart, among thresholds of many statistics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tensorldp.audit.confidence import log_ratio_bound
from tensorldp.check.betting import Bet, make_bet, scores, smoothed

Reals = npt.NDArray[np.float64]
QUANTUM = 1e-9  # of a statistic's largest value: finer differences are rounding errors, which ideal reals do not have
THRESHOLDS = 96
CONSIDERED = 24  # events that are looked at closely


@dataclass(frozen=True)
class Event:
    """{statistic >= threshold} or {statistic <= threshold}, more likely under x, or under x' if `swapped`.

    Attributes:
        epsilon, delta: the claimed point that the event speaks against.
        quantum: values are rounded to its multiples before they are compared.
    """

    statistic: str
    threshold: float
    above: bool
    swapped: bool
    epsilon: float
    delta: float
    quantum: float = 0.0

    def hits(self, values: Reals) -> int:
        """How many values fall into the event."""
        values = rounded(values, self.quantum)
        return int(np.count_nonzero(values >= self.threshold if self.above else values <= self.threshold))

    def __str__(self) -> str:
        return f"{self.statistic} {'>=' if self.above else '<='} {self.threshold:.6g}"


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
        """The same event with the counts of further releases."""
        return lead_of(self.event, self.hits + hits, self.other_hits + other_hits, self.trials + trials)


def rounded(values: Reals, quantum: float) -> Reals:
    """Values rounded to multiples of `quantum`; infinities stay."""
    return np.round(values / quantum) * quantum if quantum > 0.0 else values


def lead_of(event: Event, hits: int, other_hits: int, trials: int) -> Lead:
    """The lead that an event is, from counts of releases of the likelier record and of the other."""
    p, q = smoothed(hits, trials), smoothed(other_hits, trials)
    score = float(scores(p, q, trials, event.epsilon, event.delta))
    found = make_bet(hits, other_hits, trials, event.epsilon, event.delta)
    bet, growth = found if found else (None, 0.0)
    return Lead(event, score, hits, other_hits, trials, bet, growth)


def best_lead(columns: dict[str, tuple[Reals, Reals]], points: tuple[tuple[float, float], ...]) -> Lead | None:
    """The event that speaks loudest against any of the claimed points.

    Args:
        columns: for each statistic its values on releases of x and of x', equally many.
        points: the claimed (epsilon, delta).
    """
    found = [candidate for name, values in columns.items() for candidate in _candidates(name, *values, points)]
    found.sort(key=lambda candidate: -candidate[0])
    near = [lead_of(event, *counts) for _, event, counts in found[:CONSIDERED]]
    return max(near, key=lambda lead: (lead.growth, lead.score), default=None)


def strongest(columns: dict[str, tuple[Reals, Reals]], delta: float, error: float) -> tuple[Event, float]:
    """The event that would give the largest lower bound on epsilon at `delta`, and that bound."""
    best = (Event("", 0.0, True, False, 0.0, delta), 0.0)
    for name, (mine, other) in columns.items():
        sizes = np.abs(np.concatenate((mine, other)))
        quantum = QUANTUM * float(np.max(sizes, where=np.isfinite(sizes), initial=0.0))
        first, second = np.sort(rounded(mine, quantum)), np.sort(rounded(other, quantum))
        thresholds = _thresholds(first, second)
        for above in (True, False):
            counts = [np.searchsorted(side, thresholds, side="left" if above else "right") for side in (first, second)]
            if above:
                counts = [mine.size - count for count in counts]
            for swapped in (False, True):
                hits, others = counts[::-1] if swapped else counts
                bounds = log_ratio_bound(hits, others, mine.size, error, delta)
                top = int(bounds.argmax())
                if bounds[top] > best[1]:
                    event = Event(name, float(thresholds[top]), above, swapped, 0.0, delta, quantum)
                    best = (event, float(bounds[top]))
    return best


def _candidates(
    name: str, mine: Reals, other: Reals, points: tuple[tuple[float, float], ...]
) -> list[tuple[float, Event, tuple[int, int, int]]]:
    """For each direction and side the threshold and claimed point with the largest score, and their counts."""
    trials = mine.size
    sizes = np.abs(np.concatenate((mine, other)))
    quantum = QUANTUM * float(np.max(sizes, where=np.isfinite(sizes), initial=0.0))
    mine, other = np.sort(rounded(mine, quantum)), np.sort(rounded(other, quantum))
    thresholds = _thresholds(mine, other)
    if thresholds.size < 2:
        return []
    below = [np.searchsorted(values, thresholds, side="right") for values in (mine, other)]
    above = [trials - np.searchsorted(values, thresholds, side="left") for values in (mine, other)]
    epsilon, delta = (np.array(side)[:, None] for side in zip(*points, strict=True))
    found = []
    for counts, is_above in ((above, True), (below, False)):
        for swapped in (False, True):
            hits, others = counts[::-1] if swapped else counts
            table = scores(smoothed(hits, trials), smoothed(others, trials), trials, epsilon, delta)
            row, column = np.unravel_index(int(table.argmax()), table.shape)
            event = Event(name, float(thresholds[column]), is_above, swapped, *points[row], quantum=quantum)
            found.append((float(table[row, column]), event, (int(hits[column]), int(others[column]), trials)))
    return found


def _thresholds(mine: Reals, other: Reals) -> Reals:
    """Values to try: all of them if few, else ranks spaced evenly in the log from both ends of both samples."""
    both = np.concatenate((mine, other))
    values = np.unique(both[~np.isnan(both)])
    if values.size <= THRESHOLDS:
        return values
    ranks = np.unique(np.geomspace(1, mine.size, THRESHOLDS // 4).astype(np.int64)) - 1
    return np.unique(np.concatenate([sample[index] for sample in (mine, other) for index in (ranks, -1 - ranks)]))
