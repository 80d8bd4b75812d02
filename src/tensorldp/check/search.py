"""The sequential search: releases of many pairs are examined, and capital is bet on what looks like a breach.

One gambler, with a capital for each observer. Before each bet the event, the claimed point and the stake are fixed from
earlier releases; the bet is settled on fresh ones. Under a true claim each capital is a supermartingale, so one of V
capitals reaches V / error with a chance of at most `error`. That holds however pairs, statistics and events were
searched, and whenever the search stops.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from tensorldp.audit.thresholds import Reals
from tensorldp.check.calls import Foreign
from tensorldp.check.claim import Claim
from tensorldp.check.distinguishers import Columns, Distinguisher, Observations, Scene, Statistic
from tensorldp.check.events import Event, Lead, best_lead
from tensorldp.check.gambling import Stages, gamble
from tensorldp.check.observers import MOST_COLUMNS, Observer
from tensorldp.check.pairs import Pair, changed, moved, pairs, same, subset
from tensorldp.check.response import farthest_corners
from tensorldp.check.target import Target

PATIENCE = 10.0  # wall time over processor time, on a machine that others use too


@dataclass
class Pace:
    """What calls take: a call of a few records, and each further record, as the batches seen so far had it.

    Attributes:
        call: seconds of a call, without its records.
        record: seconds of a record.
    """

    call: float = 0.0
    record: float = 0.0
    _few: float = math.inf
    _most: int = 0

    def note(self, calls: float, records: int, seconds: float) -> None:
        """Learns from what some calls took: the fewest records tell what a call takes, the most what a record does.

        A first call that prepares something makes all look slow, until a later one is faster.
        """
        each, batch = seconds / calls, records / calls
        self._few = min(self._few, each)
        if records >= self._most:
            self._most = records
            self.record = (each - self._few) / (batch - 2.0) if batch > 2.0 else each / 2.0
        self.call = max(0.0, self._few - 2.0 * self.record) if batch > 2.0 else self._few

    def __call__(self, calls: float, records: float) -> float:
        """Estimates the seconds of so many calls with so many records in all."""
        return calls * self.call + records * self.record


@dataclass
class Budget:
    """Processor time, releases of each record for one pair, and the releases drawn so far.

    Attributes:
        seconds: the processor time that is allowed, which is a tenth of the wall time that is allowed.
        samples: releases of each record that one pair may be given to learn from.
        rounds: the most rounds of a search, None for as many as there is time for; a search that they end, and not the
            time, draws the same on every machine.
        starts: the most pairs that a search starts from, None for all.
        paced: whether sizes are cut to what is left of the time; without it the draw does not depend on the machine.
        pace: what calls take.
    """

    seconds: float
    samples: int
    rounds: int | None = None
    starts: int | None = None
    drawn: int = 0
    paced: bool = False
    pace: Pace = field(default_factory=Pace)
    start: float = field(default_factory=lambda: time.process_time())
    wall: float = field(default_factory=time.monotonic)

    @property
    def spent(self) -> float:
        """Returns the seconds of processor time since the start, or a tenth of the wall time if that is more."""
        return max(time.process_time() - self.start, (time.monotonic() - self.wall) / PATIENCE)

    def took(self, since: tuple[float, float]) -> float:
        """Returns the seconds since a moment that was (process_time, monotonic), as `spent` counts them."""
        return max(time.process_time() - since[0], (time.monotonic() - since[1]) / PATIENCE)

    @property
    def over(self) -> bool:
        """Returns whether the time is up."""
        return self.spent >= self.seconds

    def ends(self, rounds: int) -> bool:
        """Returns whether the time or the rounds are up after this many rounds."""
        return self.over or (self.rounds is not None and rounds >= self.rounds)

    def part(self, share: float) -> Budget:
        """Returns a budget that is a share of what is left."""
        seconds = self.left * share
        return Budget(seconds, self.samples, self.rounds, self.starts, paced=self.paced, pace=self.pace)

    @property
    def left(self) -> float:
        """Returns the seconds that are left, at least 0."""
        return max(0.0, self.seconds - self.spent)

    def affordable(self, count: int, seconds: float, share: float) -> int:
        """Returns how many of `count` things of so many seconds fit in a share of what is left; all if not paced."""
        if not self.paced or seconds * count <= share * self.left:
            return count
        return int(share * self.left / seconds)


FAST, SLOW, GROWTH = 400, 64, 4  # releases of each record at first, fast or not, and the factor between rounds
SLOW_PAIRS = 2  # pairs that are examined among other records
SMALLER, LARGER = "two random points", "centre and all high"  # seen beside the smaller, and beside the larger one
SLOW_TOO = (SMALLER, LARGER, "last element low and high")  # which differ in size, not only in sign, or at the end only
VALUES = 1 << 23  # numbers of one pair's observations that are kept
RELEASED = 1 << 26  # elements of a record's first releases at most, or as few releases as there may be
EASY = 0.1  # of what is left of the time: a draw of less is made at once
FIRST_SHARE, OTHER_SHARE = 1 / 3, 1 / 8  # of it, that a look at the first pair, or at another one, may take
DEPTH = 0.5  # of the time, that the first looks at other pairs leave over where looks take long
LEAST_LOOK = 64  # releases of each record that are worth a look
LEAST_GROWN = 1.25  # times the releases of a look are worth the next one
FITTED = 1  # the first round after which pairs are fitted: a gross lie is found before
AT_FIRST = 16  # releases among which one is looked for that shows an event
NOTHING = ((0.0, 0.0),)  # what a local guarantee says about the releases of other records


@dataclass
class Trail:
    """One pair as one observer sees it, with the releases seen so far and the best event in them.

    Attributes:
        drawn: releases of each record in all, those that were bet on too.
    """

    observer: Observer
    pair: Pair
    points: tuple[tuple[float, float], ...]
    mine: Observations | None = None
    other: Observations | None = None
    lead: Lead | None = None
    drawn: int = 0
    statistics: Columns = field(default_factory=dict)

    @property
    def samples(self) -> int:
        """Counts the releases of each record seen so far."""
        return 0 if self.mine is None else len(self.mine)

    @property
    def score(self) -> tuple[float, float]:
        """Returns how promising it is."""
        return (self.lead.growth, self.lead.score) if self.lead else (0.0, -math.inf)


@dataclass(frozen=True)
class Breach:
    """An event whose probabilities contradict a claimed point.

    Attributes:
        lead: the event, with counts of the releases that it was bet on and of those that suggested it.
    """

    trail: Trail
    lead: Lead
    log_evidence: float

    @property
    def event(self) -> Event:
        """Returns what was bet on."""
        return self.lead.event


class Search:
    """A search for a breach of a claim.

    Args:
        target: what is checked.
        claim: what it claims.
        observers: how releases are observed.
        distinguishers: where statistics come from.
        error: the chance that a true claim is refuted.
        seed: for pairs and releases.
        budget: when to stop.
        given: a pair of the user's.
        fitted: whether pairs are also chosen by how releases respond to records.
        progress: called with a line after each round.
    """

    def __init__(
        self,
        target: Target,
        claim: Claim,
        observers: Sequence[Observer],
        distinguishers: Sequence[Distinguisher],
        *,
        error: float,
        seed: int,
        budget: Budget,
        given: tuple[torch.Tensor, torch.Tensor] | None = None,
        fitted: bool = False,
        progress: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.fitted = fitted
        self.target, self.claim, self.distinguishers = target, claim, distinguishers
        self.seed, self.budget, self.progress = seed, budget, progress
        self.goal = math.log(len(observers) / error)
        self.capitals = {observer.name: 0.0 for observer in observers}
        self.draws = self.level = 0
        self.trails: list[Trail] = []
        for index, pair in enumerate(subset(pairs(target, seed, given, claim), budget.starts, seed)):
            turned = Pair(pair.name, pair.x_prime, pair.x) if self._turns(index, pair) else pair  # x is what is beside
            for observer in observers:
                if observer.fast or index < SLOW_PAIRS or pair.name in SLOW_TOO:
                    points = NOTHING if observer.local else claim.countable_at(pair.x, pair.x_prime)
                    self.trails.append(Trail(observer, pair if observer.fast else turned, points))
        huge = target.size > RELEASED // FAST  # where calls of their own take the time of all else, they come last
        # a draw shared by a batch fools the fast observer
        self.trails.sort(key=lambda trail: trail.observer.fast != huge)
        self.waiting = list(self.trails)
        own = [trail for trail in self.trails if not trail.observer.local]
        fast, slow = ([trail for trail in own if trail.observer.fast == kind][:1] for kind in (True, False))
        self.first = fast[0]
        self.firsts = (*fast, *slow)  # the first pair in the two kinds of views, kept in all rounds
        self.looks: list[tuple[Trail, int, dict[bool, int]]] = []  # at these: what chose an event, and `drawn` by then
        self.paces: dict[str, float] = {}  # seconds of an observation, of observers whose calls are their own
        self.thinking: dict[bool, float] = {}  # seconds a release of a look takes beside the calls
        self.short = False  # whether a look was left out or made smaller, as time was short
        self.drawn = {True: 0, False: 0}  # releases of each record, by whether many were released at once

    def _turns(self, index: int, pair: Pair) -> bool:
        """Returns whether either is seen beside x' as the known record: by turns, or by sizes about the centre."""
        if pair.name not in (SMALLER, LARGER):
            return index % 2 == 1
        sizes = [float((record - self.target.domain.as_box().centre).norm()) for record in (pair.x, pair.x_prime)]
        return sizes[0] > sizes[1] if pair.name == SMALLER else sizes[0] < sizes[1]

    @property
    def stages(self) -> tuple[Stages, ...]:
        """Returns the looks at the first pair, and the blocks it could bet on after each: as many as were drawn since.

        Where each takes calls of its own, those that were drawn in batches do not count.
        """
        since = [
            (trail, chose, {fast: self.drawn[fast] - drawn[fast] for fast in drawn})
            for trail, chose, drawn in self.looks
        ]
        return tuple(
            tuple(
                (chose, more[False] + (more[True] if first.observer.fast else 0))
                for trail, chose, more in since
                if trail is first
            )
            for first in self.firsts
        )

    @property
    def capital(self) -> float:
        """Returns the log of the largest capital."""
        return max(self.capitals.values())

    def run(self, rounds: float = math.inf) -> Breach | None:
        """Returns the first proved breach, or None when the budget or these rounds are spent; can be called again."""
        while self.waiting and self.level < rounds and not self.budget.ends(self.level):
            grown = False
            for trail in self.waiting:
                if self.budget.over:
                    break
                size = self._size(trail, self.level)
                if size <= trail.samples:
                    continue
                size = self._fitting(trail, size)
                if size <= trail.samples or not self._look(trail, size):
                    continue
                grown = True
                breach = self._bet(trail, limit=4 * size)
                if breach is not None:
                    return breach
            for trail in sorted(self.waiting, key=lambda trail: trail.score, reverse=True)[:3]:
                if not self.budget.over and (breach := self._bet(trail, limit=1 << 26)) is not None:
                    return breach
            self.progress(
                f"round {self.level + 1}: {len(self.waiting)} pairs, {self.budget.drawn} releases, "
                f"capital e^{self.capital:.1f} of e^{self.goal:.1f}"
            )
            self.waiting = self._kept() if grown and self.claim.countable else []
            self.level += 1
        return None

    def best(self) -> list[Trail]:
        """Returns the trails on the changed record's own releases, the most promising first."""
        seen = [trail for trail in self.trails if trail.samples and not trail.observer.local]
        return sorted(seen, key=lambda trail: trail.score, reverse=True)

    def _size(self, trail: Trail, level: int) -> int:
        if not trail.observer.fast:
            return max(64, min(self.budget.samples // 4, VALUES // 64, SLOW * int(GROWTH**level)))
        most = min(self.budget.samples, VALUES // min(self.target.width, MOST_COLUMNS))
        return max(64, min(most, min(FAST, RELEASED // self.target.size) * int(GROWTH**level)))

    def _kept(self) -> list[Trail]:
        """Returns the better half, the first pairs of all observers, and changed copies of the best."""
        ranked = sorted(self.waiting, key=lambda trail: trail.score, reverse=True)
        kept = ranked[: max(4, len(ranked) // 2)]
        first = {trail.observer.name: trail for trail in reversed(self.trails)}
        for trail in [*[trail for trail in self.trails if trail.observer.fast][:2], *first.values()]:
            if not any(trail is old for old in kept):
                kept.append(trail)
        if self.target.size > 1:
            for trail in [trail for trail in kept if trail.observer.fast][:2]:
                self._add(kept, trail, changed(self.target, trail.pair, self.seed, len(self.trails)))
        if self.claim.metric is not None:
            factor = 2.0 if self.level % 2 else 0.5
            for trail in [trail for trail in kept if trail.observer.fast][:2]:
                self._add(kept, trail, moved(self.target, trail.pair, factor))
        if self.fitted and self.level >= FITTED and not self.budget.ends(self.level + 1):
            count = self._size(self.first, self.level + 1)
            count = self.budget.affordable(count, self.budget.pace(0.0, 1.0), EASY)
            found = [] if count < LEAST_LOOK else farthest_corners(self.target, count, self.seed)
            self.budget.drawn += count if found else 0
            for pair in found:
                self._add(kept, self.first, pair)
        return kept

    def _add(self, kept: list[Trail], like: Trail, pair: Pair) -> None:
        """Adds a pair to what is searched, seen as `like` is, unless it is there already or has one record twice."""
        there = [trail.pair for trail in self.trails if trail.observer is like.observer]
        if not torch.equal(pair.x, pair.x_prime) and not any(same(pair.x, pair.x_prime, old) for old in there):
            points = self.claim.countable_at(pair.x, pair.x_prime)
            if points:
                kept.append(Trail(like.observer, pair, points))
                self.trails.append(kept[-1])

    def seconds(self, trail: Trail, count: int) -> float:
        """Estimates the seconds that observations of both records of a pair take."""
        if trail.observer.name in self.paces:
            return count * self.paces[trail.observer.name]
        calls, records = trail.observer.cost(self.target)
        calls = math.ceil(calls * count) if trail.observer.fast else calls * count
        return self.budget.pace(calls, records * count)

    def _fitting(self, trail: Trail, size: int) -> int:
        """Returns how many releases of each record a look may have, that of a pair at hand if more are not worth it."""
        budget, more = self.budget, size - trail.samples
        first = any(trail is one for one in self.firsts[:1])
        share = FIRST_SHARE if first else OTHER_SHARE
        if not budget.paced:
            return size
        takes = self.seconds(trail, more) + size * self.thinking.get(trail.observer.fast, 0.0)
        if takes <= EASY * budget.left:
            return size
        if first and trail.observer.fast and not trail.samples:
            return size  # the first draw of all tells the pace, and ends when it has had its share of the time
        if not first and self.level == 0 and budget.left < DEPTH * budget.seconds:
            self.short = True
            return trail.samples
        if takes > share * budget.left:
            self.short = True
            more = int(more * share * budget.left / takes)
        worth = max(LEAST_LOOK, math.ceil(LEAST_GROWN * trail.samples))
        return trail.samples + more if trail.samples + more >= worth else trail.samples

    def draw(
        self, trail: Trail, count: int, statistic: Statistic | None = None, share: float = 1.0
    ) -> list[Observations]:
        """Draws fresh observations of either record as `observe`, but fewer or none where time is short.

        Of a slow function they come in parts, each at most twice as large as the one before, until the next part would
        take more than what is left of that share of the time.
        """
        budget = self.budget
        known = trail.observer.fast or trail.observer.name in self.paces  # calls of its own are tried with a few first
        if not budget.paced or (known and self.seconds(trail, count) <= EASY * budget.left):
            return self.observe(trail, count, statistic)
        end = budget.spent + share * budget.left
        parts: list[list[Observations]] = []
        done, part = 0, 0
        while done < count:
            left = end - budget.spent
            one = self.seconds(trail, 1)
            fits = count if self.seconds(trail, count) <= left else int(count * left / self.seconds(trail, count))
            fits = max(fits, 1 if one <= left or (trail.observer.fast and not done and not budget.over) else 0)
            part = min(count - done, fits, 2 * part if part else max(1, fits // 16))
            if part < 1 or left <= 0.0:
                self.short = True
                break
            parts.append(self.observe(trail, part, statistic))
            done += part
        return [np.concatenate(side) for side in zip(*parts, strict=True)] if parts else []

    def observe(self, trail: Trail, count: int, statistic: Statistic | None = None) -> list[Observations]:
        """Draws fresh observations of either record, or one statistic of each."""
        self.draws += 1
        trail.drawn += count
        begun = time.process_time(), time.monotonic()
        self.budget.drawn += count
        self.drawn[trail.observer.fast] += count
        observer = trail.observer
        sides: tuple[list[Observations], list[Observations]] = ([], [])
        for both in observer.observe(self.target, trail.pair, count, self.seed, observer.name, self.draws):
            for side, block in zip(sides, both, strict=True):
                if len(block):
                    side.append(block if statistic is None else statistic(block))
        took = self.budget.took(begun)
        if observer.fast:
            calls, records = observer.cost(self.target)
            self.budget.pace.note(math.ceil(calls * count), round(records * count), took)
        else:
            self.paces[observer.name] = took / count
        return [np.concatenate(side) for side in sides]

    def _look(self, trail: Trail, size: int) -> bool:
        """Draws releases up to `size` of each record and looks for the best event in them; False if too few came.

        The older half of the releases trains the statistics, the younger half chooses the event.
        """
        seen = self.draw(trail, size - trail.samples, share=FIRST_SHARE)
        if not seen:
            return False
        begun = time.process_time(), time.monotonic()
        mine, other = seen
        trail.mine = mine if trail.mine is None else np.concatenate((trail.mine, mine))
        trail.other = other if trail.other is None else np.concatenate((trail.other, other))
        if len(trail.mine) < LEAST_LOOK:
            return False
        size = len(trail.mine)
        half = _learning(size)
        if any(trail is first for first in self.firsts):
            self.looks.append((trail, size - half, dict(self.drawn)))
        scene = self._scene(trail)
        trail.statistics = {}
        # a release that is not finite is an outcome like any other, but no statistic can work with it
        for distinguisher in self.distinguishers:
            exact, raw = distinguisher.exact, distinguisher.raw
            with np.errstate(all="ignore"):
                mine, other = (_finite(side[:half], exact, raw) for side in (trail.mine, trail.other))
                statistics = distinguisher.statistics(scene, mine, other)
            trail.statistics |= {name: _guarded(statistic, exact, raw) for name, statistic in statistics.items()}
        trail.statistics["not finite"] = lambda y: np.asarray((~np.isfinite(y)).sum(axis=1), dtype=np.float64)
        trail.lead = best_lead(self.columns(trail), trail.points) if trail.points else None
        self.thinking[trail.observer.fast] = self.budget.took(begun) / size
        return True

    def columns(self, trail: Trail) -> dict[str, tuple[Reals, Reals]]:
        """Computes each statistic on the releases of x and of x' that chose the trail's event."""
        if trail.mine is None or trail.other is None:
            return {}
        half = _learning(len(trail.mine))
        return {
            name: (statistic(trail.mine[half:]), statistic(trail.other[half:]))
            for name, statistic in trail.statistics.items()
        }

    def _scene(self, trail: Trail) -> Scene:
        """Returns what an observer of the trail knows."""
        target = self.target
        x, x_prime = (trail.observer.expected(target, trail.pair, second) for second in (False, True))
        likelihood: Statistic | None = None
        if trail.observer.fast and x is not None and x.size == target.size:
            ratio = target.likelihood_ratio(trail.pair.x, trail.pair.x_prime)
            if ratio is not None:
                likelihood = lambda y: ratio(torch.from_numpy(np.ascontiguousarray(y))).cpu().numpy()  # noqa: E731
        box, form = target.domain.as_box(), target.form
        return Scene(x, x_prime, box.low, box.high, target.dtype if form is None else form.floats, likelihood)

    def _bet(self, trail: Trail, limit: int) -> Breach | None:
        """Bets on the trail's event while it pays; one that needs more than `limit` blocks waits for a later round."""
        observer = trail.observer.name
        each = self.seconds(trail, limit) / limit if self.budget.paced else 0.0
        limit = self.budget.affordable(limit, each, 1.0)
        trail.lead, self.capitals[observer], _ = gamble(
            trail.lead,
            self.capitals[observer],
            self.goal,
            limit,
            lambda event, blocks: self.settle(trail, event, blocks),
            lambda: self.budget.over,
        )
        if trail.lead is None or self.capitals[observer] < self.goal:
            return None
        return Breach(trail, trail.lead, self.capitals[observer])

    def settle(self, trail: Trail, event: Event, blocks: int, *, fitting: bool = True) -> tuple[int, int, int]:
        """Counts how many of fresh releases of the likelier record, and of the other, fall into the event.

        Returns both counts, and how many releases of each record there were: `blocks`, or if `fitting` as many as
        what is left of the time has room for.
        """
        statistic = trail.statistics[event.statistic]
        seen = self.draw(trail, blocks, statistic) if fitting else self.observe(trail, blocks, statistic)
        if not seen:
            return 0, 0, 0
        sides = [event.hits(side) for side in seen]
        return (*((sides[1], sides[0]) if event.swapped else (sides[0], sides[1])), len(seen[0]))

    def example(self, trail: Trail, event: Event, most: int) -> str:
        """Draws a release that an event of one release holds, as a function returned it; empty if none of `most` is."""
        target, function = self.target, self.target.function
        if not isinstance(function, Foreign) or not trail.observer.is_whole(target):
            return ""
        statistic, drawn = trail.statistics[event.statistic], 0
        with function.keeping() as kept:
            while drawn < most:
                count = min(most - drawn, max(AT_FIRST, drawn))
                for both in trail.observer.observe(target, trail.pair, count, self.seed, "example", drawn):
                    rows = both[event.swapped]
                    for row, value in zip(rows, statistic(rows) if len(rows) else (), strict=True):
                        if event.hits(np.array([value])) and row.tobytes() in kept:
                            return kept[row.tobytes()]
                drawn += count
        return ""

    @property
    def untried(self) -> list[str]:
        """Returns the names of observers through which no pair was looked at."""
        names = dict.fromkeys(trail.observer.name for trail in self.trails)
        return [name for name in names if not any(t.samples for t in self.trails if t.observer.name == name)]

    @property
    def rests_on(self) -> int:
        """Returns how many releases of each record were drawn of the pair that was seen most."""
        return max((trail.drawn for trail in self.trails if not trail.observer.local), default=0)


def _learning(size: int) -> int:
    """Returns how many of the oldest releases train statistics."""
    return max(32, min(size // 2, 1 << 15))


def _finite(values: Observations, exact: bool, raw: bool) -> Observations:
    """Returns observations without NaN and infinity unless `raw`; those whole by their type stay so if `exact`."""
    if values.dtype == np.int64:
        return values if exact else values.astype(np.float64)
    return values if raw else np.nan_to_num(values, nan=0.0, posinf=1e30, neginf=-1e30)


def _guarded(statistic: Statistic, exact: bool, raw: bool) -> Statistic:
    """Returns the statistic on observations made finite; what is not a number counts as 0."""

    def guarded(values: Observations) -> Reals:
        with np.errstate(all="ignore"):
            numbers = np.asarray(statistic(_finite(values, exact, raw)), dtype=np.float64)
        return np.nan_to_num(numbers, nan=0.0, posinf=math.inf, neginf=-math.inf)

    return guarded


BINS = 40


def histogram(search: Search, breach: Breach) -> dict[str, list[float]]:
    """Counts a breach's statistic under both records, as `histogram_of` does."""
    return histogram_of(search.columns(breach.trail)[breach.event.statistic], breach.event.threshold)


def histogram_of(sides: tuple[Reals, Reals], threshold: float) -> dict[str, list[float]]:
    """Counts a statistic's values under both records, in bins of equal width between extreme quantiles."""
    values = [side[np.isfinite(side)] for side in sides]
    both = np.concatenate(values)
    if both.size == 0:
        return {}
    low, high = (float(v) for v in np.quantile(both, [0.005, 0.995]))
    edges = np.linspace(low, high if high > low else low + 1.0, BINS + 1)
    counts = [np.histogram(side.clip(edges[0], edges[-1]), edges)[0].astype(float).tolist() for side in values]
    return {"edges": edges.tolist(), "x": counts[0], "x'": counts[1], "threshold": [threshold]}
