"""The sequential search: releases of many pairs are looked at, and capital is bet on what looks like a breach.

One gambler, with a capital for each view. Before each bet the event, the claimed point and the stake are fixed from
earlier releases; the bet is settled on fresh ones. Under a true claim each capital is a supermartingale, so one of V
reaches V / error with a chance of at most `error`, however pairs, statistics and events were searched and whenever the
search stops.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from tensorldp.check.claim import Claim
from tensorldp.check.distinguishers import Columns, Distinguisher, Reals, Scene, Statistic
from tensorldp.check.events import Event, Lead, best_lead
from tensorldp.check.observers import MOST, Seen, View
from tensorldp.check.pairs import Pair, changed, pairs, some
from tensorldp.check.target import Subject

PATIENCE = 10.0  # wall time over processor time, on a machine that others use too


@dataclass
class Budget:
    """Processor time, releases of each record for one pair, and the releases drawn so far.

    Attributes:
        seconds: of processor time, and a tenth of the wall time that is allowed.
        samples: releases of each record that one pair may be given to learn from.
        rounds: of a search at most, None for as many as there is time for; a search that ends by them and not by the
            time draws the same on every machine.
        starts: pairs that a search starts from at most, None for all.
    """

    seconds: float
    samples: int
    rounds: int | None = None
    starts: int | None = None
    drawn: int = 0
    start: float = field(default_factory=time.process_time)
    wall: float = field(default_factory=time.monotonic)

    @property
    def spent(self) -> float:
        """Seconds of processor time since the start, or a tenth of the wall time if that is more."""
        return max(time.process_time() - self.start, (time.monotonic() - self.wall) / PATIENCE)

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return self.spent >= self.seconds

    def ends(self, rounds: int) -> bool:
        """Whether the time or the rounds are up after so many of these."""
        return self.over or (self.rounds is not None and rounds >= self.rounds)

    def part(self, share: float) -> Budget:
        """A budget of a share of what is left."""
        return Budget(max(0.0, self.seconds - self.spent) * share, self.samples, self.rounds, self.starts)


FAST, SLOW, GROWTH = 400, 64, 4  # releases of each record at first, by view, and the factor between rounds
SLOW_PAIRS = 2  # pairs that are looked at among other records
SLOW_TOO = ("two random points", "centre and all high")  # which differ in size, not only in sign
VALUES = 1 << 23  # numbers of one pair's observations that are kept
RELEASED = 1 << 26  # elements of a record's first releases at most, or as few releases as there may be
BETS = 40  # bets on one event in a row
LOSS = 1.5  # nats lost on an event before it is left
NOTHING = ((0.0, 0.0),)  # what a local guarantee says of the releases of other records


@dataclass
class Trail:
    """One pair in one view, with the releases seen so far and the best event in them."""

    view: View
    pair: Pair
    points: tuple[tuple[float, float], ...]
    mine: Seen | None = None
    other: Seen | None = None
    lead: Lead | None = None
    statistics: Columns = field(default_factory=dict)
    samples: int = 0

    @property
    def score(self) -> tuple[float, float]:
        """How promising it is."""
        return (self.lead.growth, self.lead.score) if self.lead else (0.0, -math.inf)


@dataclass(frozen=True)
class Breach:
    """An event whose probabilities contradict a claimed point.

    Attributes:
        hits, other_hits, trials: counts of the releases that the event was bet on and of those that suggested it.
        samples: releases of each record drawn in the whole search when it was found.
    """

    trail: Trail
    event: Event
    hits: int
    other_hits: int
    trials: int
    samples: int
    log_evidence: float


class Search:
    """A search for a breach of a claim.

    Args:
        subject: what is checked.
        claim: what it claims.
        views: how releases are observed.
        distinguishers: where statistics come from.
        error: the chance that a true claim is refuted.
        seed: of pairs and releases.
        budget: when to stop.
        given: a pair of the user's.
        progress: called with a line after each round.
    """

    def __init__(
        self,
        subject: Subject,
        claim: Claim,
        views: Sequence[View],
        distinguishers: Sequence[Distinguisher],
        *,
        error: float,
        seed: int,
        budget: Budget,
        given: tuple[torch.Tensor, torch.Tensor] | None = None,
        progress: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.subject, self.claim, self.distinguishers = subject, claim, distinguishers
        self.seed, self.budget, self.progress = seed, budget, progress
        self.target = math.log(len(views) / error)
        self.capitals = {view.name: 0.0 for view in views}
        self.draws = 0
        self.trails: list[Trail] = []
        for index, pair in enumerate(some(pairs(subject, seed, given), budget.starts, seed)):
            turned = Pair(pair.name, pair.x_prime, pair.x) if index % 2 else pair  # x is the record that stands beside
            for view in views:
                if view.fast or index < SLOW_PAIRS or pair.name in SLOW_TOO:
                    points = NOTHING if view.local else claim.countable
                    self.trails.append(Trail(view, pair if view.fast else turned, points))
        huge = subject.size > RELEASED // FAST  # where calls of their own take the time of all else, they come last
        self.trails.sort(key=lambda trail: trail.view.fast != huge)  # a draw shared by a batch fools the fast view

    @property
    def capital(self) -> float:
        """Log of the largest capital."""
        return max(self.capitals.values())

    def run(self) -> Breach | None:
        """The first breach that is proved, or None when the budget is spent."""
        waiting, level = list(self.trails), 0
        while waiting and not self.budget.ends(level):
            grown = False
            for trail in waiting:
                if self.budget.over:
                    break
                size = self._size(trail, level)
                if trail.mine is not None and size <= len(trail.mine):
                    continue
                grown = True
                self._look(trail, size)
                breach = self._bet(trail, limit=4 * size)
                if breach is not None:
                    return breach
            for trail in sorted(waiting, key=lambda trail: trail.score, reverse=True)[:3]:
                if not self.budget.over and (breach := self._bet(trail, limit=1 << 26)) is not None:
                    return breach
            self.progress(
                f"round {level + 1}: {len(waiting)} pairs, {self.budget.drawn} releases, "
                f"capital e^{self.capital:.1f} of e^{self.target:.1f}"
            )
            if not grown or not self.claim.countable:
                break
            waiting, level = self._kept(waiting, level), level + 1
        return None

    def best(self) -> list[Trail]:
        """The trails that looked at the changed record's own releases, the most promising first."""
        seen = [trail for trail in self.trails if trail.mine is not None and not trail.view.local]
        return sorted(seen, key=lambda trail: trail.score, reverse=True)

    def _size(self, trail: Trail, level: int) -> int:
        if not trail.view.fast:
            return max(64, min(self.budget.samples // 4, VALUES // 64, SLOW * int(GROWTH**level)))
        most = min(self.budget.samples, VALUES // min(self.subject.width, MOST))
        return max(64, min(most, min(FAST, RELEASED // self.subject.size) * int(GROWTH**level)))

    def _kept(self, waiting: list[Trail], level: int) -> list[Trail]:
        """The better half, the first pairs always, and changed copies of the best."""
        ranked = sorted(waiting, key=lambda trail: trail.score, reverse=True)
        kept = ranked[: max(4, len(ranked) // 2)]
        for trail in [trail for trail in self.trails if trail.view.fast][:2]:
            if not any(trail is old for old in kept):
                kept.append(trail)
        if self.subject.size > 1:
            for trail in [trail for trail in kept if trail.view.fast][:2]:
                pair = changed(self.subject, trail.pair, self.seed, len(self.trails))
                if not torch.equal(pair.x, pair.x_prime):
                    kept.append(Trail(trail.view, pair, trail.points))
                    self.trails.append(kept[-1])
        return kept

    def observe(self, trail: Trail, second: bool, count: int, statistic: Statistic | None = None) -> Seen:
        """Fresh observations, or one statistic of each."""
        self.draws += 1
        self.budget.drawn += count
        found = trail.view.observe(self.subject, trail.pair, second, count, self.seed, trail.view.name, self.draws)
        return np.concatenate([block if statistic is None else statistic(block) for block in found])

    def _look(self, trail: Trail, size: int) -> None:
        """Draw releases up to `size` of each record and look for the best event in them.

        The older half of the releases trains the statistics, the younger half chooses the event.
        """
        more = size - (0 if trail.mine is None else len(trail.mine))
        mine, other = (self.observe(trail, second, more) for second in (False, True))
        trail.samples += more
        trail.mine = mine if trail.mine is None else np.concatenate((trail.mine, mine))
        trail.other = other if trail.other is None else np.concatenate((trail.other, other))
        half = _learning(size)
        scene = self.scene(trail)
        trail.statistics = {}
        # a release that is not finite is an outcome like any other, but no statistic can work with it
        for distinguisher in self.distinguishers:
            exact = distinguisher.exact
            with np.errstate(all="ignore"):
                mine, other = (_finite(side[:half], exact) for side in (trail.mine, trail.other))
                found = distinguisher.statistics(scene, mine, other)
                trail.statistics |= {name: _guarded(statistic, exact) for name, statistic in found.items()}
        trail.statistics["not finite"] = _not_finite
        trail.lead = best_lead(self.columns(trail), trail.points) if trail.points else None

    def columns(self, trail: Trail) -> dict[str, tuple[Reals, Reals]]:
        """Each statistic on the releases of x and of x' that chose the trail's event."""
        if trail.mine is None or trail.other is None:
            return {}
        half = _learning(len(trail.mine))
        return {
            name: (statistic(trail.mine[half:]), statistic(trail.other[half:]))
            for name, statistic in trail.statistics.items()
        }

    def scene(self, trail: Trail) -> Scene:
        """What an observer of the trail knows."""
        x, x_prime = (trail.view.expected(self.subject, trail.pair, second) for second in (False, True))
        box, form = self.subject.domain.as_box(), self.subject.form
        likelihood = None
        if trail.view.fast and x is not None and x.size == self.subject.size:
            ratio = self.subject.likelihood_ratio(trail.pair.x, trail.pair.x_prime)
            if ratio is not None:
                likelihood = _numpy(ratio)
        dtype = self.subject.dtype if form is None else form.floats
        return Scene(x, x_prime, box.low, box.high, dtype, likelihood)

    def _bet(self, trail: Trail, limit: int) -> Breach | None:
        """Bet on the trail's event while it pays.

        Args:
            trail: what is bet on.
            limit: blocks that may be drawn; an event that needs more waits for a later round.
        """
        lead, drawn, view = trail.lead, 0, trail.view.name
        start = self.capitals[view]
        for _ in range(BETS):
            if lead is None or lead.bet is None or self.budget.over or self.capitals[view] < start - LOSS:
                break
            needed = math.ceil(1.1 * (self.target - self.capitals[view]) / lead.growth) + 8
            if needed > limit - drawn:
                break
            blocks = min(needed, max(64, 2 * lead.trials))
            hits, others = self.settle(trail, lead.event, blocks)
            self.capitals[view] += lead.bet.log_value(hits, others, blocks)
            drawn += blocks
            lead = lead.after(hits, others, blocks)
            trail.lead = lead
            if self.capitals[view] >= self.target:
                counts = (lead.hits, lead.other_hits, lead.trials)
                return Breach(trail, lead.event, *counts, self.budget.drawn, self.capitals[view])
        return None

    def settle(self, trail: Trail, event: Event, blocks: int) -> tuple[int, int]:
        """How many of `blocks` fresh releases of the likelier record, and of the other, fall into the event."""
        statistic = trail.statistics[event.statistic]
        sides = [event.hits(self.observe(trail, second, blocks, statistic)) for second in (False, True)]
        return (sides[1], sides[0]) if event.swapped else (sides[0], sides[1])


def _learning(size: int) -> int:
    """How many of the oldest releases train statistics."""
    return max(32, min(size // 2, 1 << 15))


def _finite(values: Seen, exact: bool) -> Seen:
    """Observations without NaN and infinity; those that are whole by their type as they are if `exact`."""
    if values.dtype == np.int64:
        return values if exact else values.astype(np.float64)
    return np.nan_to_num(values, nan=0.0, posinf=1e30, neginf=-1e30)


def _not_finite(values: Seen) -> Reals:
    return np.asarray((~np.isfinite(values)).sum(axis=1), dtype=np.float64)


def _guarded(statistic: Statistic, exact: bool) -> Statistic:
    """The statistic of observations made finite; what is not a number counts as 0."""

    def guarded(values: Seen) -> Reals:
        with np.errstate(all="ignore"):
            found = np.asarray(statistic(_finite(values, exact)), dtype=np.float64)
        return np.nan_to_num(found, nan=0.0, posinf=math.inf, neginf=-math.inf)

    return guarded


def _numpy(ratio: Callable[[torch.Tensor], torch.Tensor]) -> Statistic:
    return lambda y: ratio(torch.from_numpy(np.ascontiguousarray(y))).cpu().numpy()


BINS = 40


def histogram(search: Search, breach: Breach) -> dict[str, list[float]]:
    """Counts of the event's statistic under both records, in bins of equal width between extreme quantiles."""
    trail = breach.trail
    values = [side[np.isfinite(side)] for side in search.columns(trail)[breach.event.statistic]]
    both = np.concatenate(values)
    if both.size == 0:
        return {}
    low, high = (float(v) for v in np.quantile(both, [0.005, 0.995]))
    edges = np.linspace(low, high if high > low else low + 1.0, BINS + 1)
    counts = [np.histogram(side.clip(edges[0], edges[-1]), edges)[0].astype(float).tolist() for side in values]
    return {"edges": edges.tolist(), "x": counts[0], "x'": counts[1], "threshold": [breach.event.threshold]}
