"""What an observer of releases sees: one release, from a batch of any size or the first, among others, or others."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tensorldp.audit.thresholds import Reals
from tensorldp.check.distinguishers import Observations
from tensorldp.check.pairs import Pair
from tensorldp.check.target import AT_ONCE, Target
from tensorldp.randomness import derive_seed, generator, numpy_generator

Places = npt.NDArray[np.int64]
ROWS = 1 << 14
MOST_COLUMNS = 1 << 14  # columns of a release that are examined
AMONG_OTHERS = 8  # elements of a record that are examined among other records
BEFORE = 4  # calls before a release that is among the first, at most
AFTER = 16  # releases of a known record after the first, at most
ODD = 64  # columns of a release of another size that are examined among others


def releases(target: Target, record: Tensor, count: int, source: torch.Generator) -> Iterator[Tensor]:
    """Yields `count` independent releases of a record in batches that a few times 8 MB hold or that have one record."""
    step = min(ROWS, count, max(1, AT_ONCE // max(target.size, target.width)))
    for start in range(0, count, step):
        yield target.release(record.expand(min(step, count - start), *record.shape), source)


def side_by_side(target: Target, pair: Pair, count: int, source: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """Yields `count` releases of each record of a pair, by turns that coins decide, in the same calls if they fit."""
    first = torch.rand(count, generator=source) < 0.5
    seconds = torch.stack((first, ~first), dim=1).reshape(-1)
    step = min(ROWS, max(1, AT_ONCE // max(target.size, target.width)))
    for second in seconds.split(step):
        batch = pair.x.expand(len(second), *pair.x.shape).clone()
        batch[second] = pair.x_prime
        seen = target.release(batch, source)
        yield seen[~second], seen[second]


Both = tuple[Observations, Observations]
"""Observations of the one record of a pair and of the other."""


@dataclass(frozen=True)
class Observer(ABC):
    """How releases of one record are observed.

    What is checked may remember, and change its noise from call to call. So both records of a pair are observed by
    turns, which coins decide: a change is not taken for a difference between the records.

    Attributes:
        name: in findings, and part of the seeds.
        fast: whether an observation is one row of a batch rather than separate calls.
        local: whether the observation leaves the changed record's own release out, so that nothing may differ.
    """

    name: str
    fast: bool = True
    local: bool = False

    @abstractmethod
    def cost(self, target: Target) -> tuple[float, float]:
        """Returns how many calls an observation of each record takes on average, and how many records they have."""

    @abstractmethod
    def observe(self, target: Target, pair: Pair, count: int, *seed: object) -> Iterator[Both]:
        """Yields blocks of observations of pair.x and of pair.x_prime: `count` rows of each in all."""

    @abstractmethod
    def expected(self, target: Target, pair: Pair, second: bool) -> Observations | None:
        """Returns the observation without noise, to judge distances by; None if a release is not of a record's size."""

    def is_whole(self, target: Target) -> bool:
        """Returns whether an observation is all of the record's release, and nothing else."""
        return False


@dataclass(frozen=True)
class OneRelease(Observer):
    """Independent releases of the record, many in a batch.

    Of more than `MOST_COLUMNS` elements, it examines those in which the records differ most, some others, and the sum
    along the difference of the records.
    """

    name: str = "one release"

    def is_whole(self, target: Target) -> bool:
        return target.width <= MOST_COLUMNS

    def cost(self, target: Target) -> tuple[float, float]:
        return 2.0 / min(ROWS, max(1, AT_ONCE // max(target.size, target.width))), 2.0

    def observe(self, target: Target, pair: Pair, count: int, *seed: object) -> Iterator[Both]:
        source = generator("check", "release", target.name, *seed)
        narrowed: Callable[[Observations], Observations] | None = None
        for both in side_by_side(target, pair, count, source):
            mine, other = (block.numpy() for block in both)
            if narrowed is None:  # the width is known from the first release on
                narrowed = _narrowed(target, pair, mine.dtype)
            yield narrowed(mine), narrowed(other)

    def expected(self, target: Target, pair: Pair, second: bool) -> Observations | None:
        record = (pair.x_prime if second else pair.x).reshape(1, -1).numpy()
        if target.width != target.size:
            return None
        return np.asarray(_narrowed(target, pair, record.dtype)(record)[0])


def _most_changed_columns(target: Target, pair: Pair) -> Places:
    """Returns `MOST_COLUMNS` of a wide release: those in which the records differ most, by chance among equals."""
    source = numpy_generator(generator("check", "columns", target.name, pair.name))
    keys = source.random(target.width, dtype=np.float32)
    if target.width == target.size:
        change = (pair.x - pair.x_prime).abs().reshape(-1).numpy()
        keys += 1e3 * (change / change.max()).astype(np.float32)
        keys[source.integers(target.width, size=MOST_COLUMNS // 8)] += 1e4  # and some in which they may not differ
    return np.sort(np.argpartition(-keys, MOST_COLUMNS)[:MOST_COLUMNS])


def _narrowed(target: Target, pair: Pair, dtype: npt.DTypeLike) -> Callable[[Observations], Observations]:
    """Returns what cuts releases to `MOST_COLUMNS` and, where they are like their records, their sum along x - x'."""
    if target.width <= MOST_COLUMNS:
        return lambda seen: seen
    places = _most_changed_columns(target, pair)
    if target.width != target.size:
        return lambda seen: seen[:, places]
    signs = (pair.x - pair.x_prime).reshape(-1).sign().numpy().astype(dtype)
    return lambda seen: np.concatenate((seen[:, places], (seen @ signs)[:, None]), axis=1)


@dataclass(frozen=True)
class SeparateCalls(Observer):
    """Observations of a few columns, each with calls of its own."""

    fast: bool = False

    @abstractmethod
    def rows(
        self, target: Target, known: Tensor, mine: Tensor, count: int, places: Tensor, seeds: tuple[object, ...]
    ) -> Iterator[Tensor]:
        """Yields `count` observations of the record `mine` among records `known`, at the columns `places`."""

    @abstractmethod
    def clean(self, target: Target, known: Reals, mine: Reals) -> Reals:
        """Returns an observation without noise, from the two records at the columns."""

    def observe(self, target: Target, pair: Pair, count: int, *seed: object) -> Iterator[Both]:
        places = torch.from_numpy(_few_columns(target, pair))
        mine, other = (
            self.rows(target, *_sides(pair, second), count, places, (target.name, second, *seed))
            for second in (False, True)
        )
        turns = torch.rand(count, generator=generator("check", "turns", target.name, *seed)) < 0.5
        for some in turns.split(ROWS // 16):
            rows = [(next(mine), next(other)) if turn else (next(other), next(mine))[::-1] for turn in some.tolist()]
            first, second = (torch.stack(side).numpy() for side in zip(*rows, strict=True))
            yield first, second

    def expected(self, target: Target, pair: Pair, second: bool) -> Observations | None:
        if target.width != target.size:
            return None
        places = _few_columns(target, pair)
        return self.clean(target, *(record.reshape(-1).numpy()[places] for record in _sides(pair, second)))


def _sides(pair: Pair, second: bool) -> tuple[Tensor, Tensor]:
    """Returns the known record, and the record that is observed."""
    return pair.x, pair.x_prime if second else pair.x


@dataclass(frozen=True)
class BesideOthers(SeparateCalls):
    """Releases of a known record: beside the record or in the call after, in a further call, with another generator.

    A draw shared by the records of a batch, or by all calls, cancels in the difference of two releases. Whether the
    record comes alone is drawn for each observation, without regard to the record. Where `local`, its own release is
    left out, as a local guarantee leaves the others alone, and a batch in which the known record comes first makes way
    for the other generator.
    """

    def cost(self, target: Target) -> tuple[float, float]:
        return (6.0, 10.0) if self.local else (7.0, 8.0)

    def rows(
        self, target: Target, known: Tensor, mine: Tensor, count: int, places: Tensor, seeds: tuple[object, ...]
    ) -> Iterator[Tensor]:
        both, alone, own = torch.stack([mine, known]), known.unsqueeze(0), mine.unsqueeze(0)
        first = derive_seed("check", "together", *seeds)
        apart = torch.rand(count, generator=generator("check", "apart", first)) < 0.5
        for index in range(count):
            source = torch.Generator().manual_seed((first + 2 * index) % (1 << 63))
            if self.local:
                calls = [target.release(batch, source) for batch in (both, alone)]
                calls.append(target.release(both.flip(0), source)[:1])
            else:
                other = torch.Generator().manual_seed((first + 2 * index + 1) % (1 << 63))
                calls = [target.release(batch, source) for batch in ((own, alone) if apart[index] else (both,))]
                calls += [target.release(alone, source), target.release(alone, other)]
            seen = torch.cat([released[:, places] for released in calls])
            parts = (seen[1:],) if self.local else (seen, seen[:1] - seen[1:])
            yield torch.cat(parts).reshape(-1)

    def clean(self, target: Target, known: Reals, mine: Reals) -> Reals:
        others = [known] * 3
        return np.concatenate(others if self.local else [mine, *others, *[mine - known] * 3])


@dataclass(frozen=True)
class InBatch(SeparateCalls):
    """The record's own release in a batch of known records, less that of another one, and the sum of all releases.

    Sizes are drawn evenly by their logarithm, the place is the first, the last or any, and the other one the next, the
    one before or any, without regard to the record: a claim holds of the mixture too. Where `local`, the release of
    the other one and the sum of all but the record's own.

    Attributes:
        most: records of a batch; with 1 the record is alone.
    """

    most: int = 512

    def is_whole(self, target: Target) -> bool:
        return self.most == 1 and target.width <= (AMONG_OTHERS if target.width == target.size else ODD)

    def cost(self, target: Target) -> tuple[float, float]:
        most = min(self.most, max(2, AT_ONCE // max(target.size, target.width)))
        return 2.0, 2.0 if most == 1 else 2.0 * (most - 1) / math.log(most)

    def rows(
        self, target: Target, known: Tensor, mine: Tensor, count: int, places: Tensor, seeds: tuple[object, ...]
    ) -> Iterator[Tensor]:
        source = generator("check", "batch", *seeds)
        most = min(self.most, max(2, AT_ONCE // max(target.size, target.width)))
        sizes = 1 + (torch.rand(count, generator=source) * math.log(most)).exp().long() if most > 1 else [1] * count
        draws = torch.rand(count, 3, generator=source).tolist()
        for (where, any_place, apart), size in zip(draws, map(int, sizes), strict=True):
            place = 0 if where < 1 / 3 else size - 1 if where < 2 / 3 else int(any_place * size)
            batch = known.repeat(size, *[1] * known.dim())
            batch[place] = mine
            seen = target.release(batch, source)[:, places]
            parts = [seen[place]]
            if most > 1:
                step = 1 if apart < 0.25 else -1 if apart < 0.5 else 1 + int((2.0 * apart - 1.0) * (size - 1))
                another = seen[(place + step) % size]
                if self.local:
                    yield torch.cat([another, seen.sum(dim=0) - seen[place]])
                    continue
                parts.append(seen[place] - another)
                if target.width == target.size:  # so that it is the record where the noise of a batch adds up to 0
                    others = (size - 1) * known.reshape(-1)[places]
                    parts.append(seen.sum(dim=0) - (others if seen.is_floating_point() else others.round().long()))
            yield torch.cat(parts)

    def clean(self, target: Target, known: Reals, mine: Reals) -> Reals:
        if self.local:
            return np.concatenate([known, known])
        return np.concatenate([mine, mine - known, mine] if self.most > 1 else [mine])


@dataclass(frozen=True)
class FirstUse(SeparateCalls):
    """One of the first releases that a copy of what is checked ever makes, and releases of a known record after it.

    So it is seen what only the first calls do, or what they leave behind. As often as not it is the first of all, else
    up to `BEFORE` of a known record come before. Where `local`, the record's own release is left out.
    """

    def cost(self, target: Target) -> tuple[float, float]:
        before = (BEFORE + 1) / 4.0
        return 2.0 * (2.0 + before), 2.0 * (1.0 + before + _after(target))

    def rows(
        self, target: Target, known: Tensor, mine: Tensor, count: int, places: Tensor, seeds: tuple[object, ...]
    ) -> Iterator[Tensor]:
        source = generator("check", "first use", *seeds)
        after = known.expand(_after(target), *known.shape)
        draws = (BEFORE * (2.0 * torch.rand(count, generator=generator("check", "before", *seeds)) - 1.0)).ceil()
        for before in draws.int().tolist():
            fresh = target.anew()
            for _ in range(before):
                fresh.release(known.unsqueeze(0), source)
            first, others = (fresh.release(batch, source)[:, places] for batch in (mine.unsqueeze(0), after))
            parts = [others[0], others.sum(dim=0)]
            yield torch.cat(parts if self.local else [first[0], *parts])

    def clean(self, target: Target, known: Reals, mine: Reals) -> Reals:
        return np.concatenate([*([] if self.local else [mine]), known, _after(target) * known])


def _after(target: Target) -> int:
    return min(AFTER, max(1, AT_ONCE // target.size))


OBSERVERS: tuple[Observer, ...] = (
    OneRelease(),
    InBatch("a batch of one", most=1),
    InBatch("one place in a batch"),
    BesideOthers("beside a known record"),
    BesideOthers("releases of another record", local=True),
    InBatch("other places in a batch", local=True),
)


FRESH: tuple[Observer, ...] = (FirstUse("one of the first releases"), FirstUse("releases after it", local=True))


def _few_columns(target: Target, pair: Pair) -> Places:
    """Returns a few columns: where the records differ most, by chance among equals; of another size, evenly spaced."""
    if target.width != target.size:
        return np.unique(np.linspace(0, target.width - 1, min(ODD, target.width)).astype(np.int64))
    change = (pair.x - pair.x_prime).abs().reshape(-1).numpy()
    chance = numpy_generator(generator("check", "few columns", target.name, pair.name)).random(change.size)
    return np.sort(np.lexsort((chance, -change))[:AMONG_OTHERS])
