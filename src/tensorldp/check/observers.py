"""What an observer of releases sees: one release, a release among others, or only the releases of others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tensorldp.check.pairs import Pair
from tensorldp.check.target import Subject
from tensorldp.randomness import derive_seed, generator, numpy_generator

Seen = npt.NDArray[Any]
"""Observations (n, columns), int64 where a release is whole by its type and else float64."""
Places = npt.NDArray[np.int64]
ELEMENTS = 1 << 20  # released at once
ROWS = 1 << 14
MOST = 1 << 14  # columns of a release that are looked at
AMONG = 8  # elements of a record that are looked at among other records
ODD = 64  # columns of a release of another size that are looked at among others


def releases(subject: Subject, record: Tensor, count: int, source: torch.Generator) -> Iterator[Tensor]:
    """`count` independent releases of a record, in batches that a few times 8 MB hold or that have one record."""
    step = min(ROWS, count, max(1, ELEMENTS // max(subject.size, subject.width)))
    for start in range(0, count, step):
        yield subject.release(record.expand(min(step, count - start), *record.shape), source)


@dataclass(frozen=True)
class View(ABC):
    """How releases of one record are observed.

    Attributes:
        fast: whether an observation is one row of a batch, and not calls of its own.
        local: whether the observation leaves the changed record's own release out, so that nothing may differ.
    """

    name: str
    fast: bool = True
    local: bool = False

    @abstractmethod
    def observe(self, subject: Subject, pair: Pair, second: bool, count: int, *seed: object) -> Iterator[Seen]:
        """Blocks of observations of pair.x, or of pair.x_prime if `second`: `count` rows in all."""

    @abstractmethod
    def expected(self, subject: Subject, pair: Pair, second: bool) -> Seen | None:
        """The observation without noise, to judge distances by; None where a release has not the record's size."""


@dataclass(frozen=True)
class OneRelease(View):
    """Independent releases of the record, many in a batch.

    Of more than `MOST` elements those are looked at in which the records differ most, some others, and the sum along
    the difference of the records.
    """

    name: str = "one release"

    def observe(self, subject: Subject, pair: Pair, second: bool, count: int, *seed: object) -> Iterator[Seen]:
        source = generator("check", "release", subject.name, second, *seed)
        narrowed: Callable[[Seen], Seen] | None = None
        for block in releases(subject, pair.x_prime if second else pair.x, count, source):
            seen = block.numpy()
            if narrowed is None:  # the width is known from the first release on
                narrowed = _narrowed(subject, pair, seen.dtype)
            yield narrowed(seen)

    def expected(self, subject: Subject, pair: Pair, second: bool) -> Seen | None:
        record = (pair.x_prime if second else pair.x).reshape(1, -1).numpy()
        if subject.width != subject.size:
            return None
        return np.asarray(_narrowed(subject, pair, record.dtype)(record)[0])


def _many(subject: Subject, pair: Pair) -> Places:
    """`MOST` columns of a wide release: those in which the records differ most, by chance among equals."""
    source = numpy_generator(generator("check", "columns", subject.name, pair.name))
    keys = source.random(subject.width, dtype=np.float32)
    if subject.width == subject.size:
        change = (pair.x - pair.x_prime).abs().reshape(-1).numpy()
        keys += 1e3 * (change / change.max()).astype(np.float32)
        keys[source.integers(subject.width, size=MOST // 8)] += 1e4  # and some in which they may not differ
    return np.sort(np.argpartition(-keys, MOST)[:MOST])


def _narrowed(subject: Subject, pair: Pair, dtype: npt.DTypeLike) -> Callable[[Seen], Seen]:
    """From releases to what is looked at: `MOST` columns, and of releases like their records the sum along x - x'."""
    if subject.width <= MOST:
        return lambda seen: seen
    places = _many(subject, pair)
    if subject.width != subject.size:
        return lambda seen: seen[:, places]
    signs = (pair.x - pair.x_prime).reshape(-1).sign().numpy().astype(dtype)
    return lambda seen: np.concatenate((seen[:, places], (seen @ signs)[:, None]), axis=1)


@dataclass(frozen=True)
class AmongOthers(View):
    """The record's release beside that of a known record: in one batch, in the next call, with another generator.

    A draw shared by the records of a batch, or by all calls, cancels in the difference of two releases.
    """

    name: str = "beside a known record"
    fast: bool = False

    def observe(self, subject: Subject, pair: Pair, second: bool, count: int, *seed: object) -> Iterator[Seen]:
        return _together(subject, pair, second, count, self._combine, *seed)

    def expected(self, subject: Subject, pair: Pair, second: bool) -> Seen | None:
        return _without_noise(subject, pair, second, 4, self._combine)

    @staticmethod
    def _combine(seen: Seen) -> Seen:
        mine, others = seen[:, :1], seen[:, 1:]
        with np.errstate(invalid="ignore"):  # infinity less infinity
            both: Seen = np.concatenate([seen, mine - others], axis=1).reshape(len(seen), -1)
        return both


@dataclass(frozen=True)
class OnlyOthers(View):
    """Releases of a known record, in the changed record's batch and after it: a local guarantee leaves them alone."""

    name: str = "releases of another record"
    fast: bool = False
    local: bool = True

    def observe(self, subject: Subject, pair: Pair, second: bool, count: int, *seed: object) -> Iterator[Seen]:
        return _together(subject, pair, second, count, self._combine, *seed, fresh=False)

    def expected(self, subject: Subject, pair: Pair, second: bool) -> Seen | None:
        return _without_noise(subject, pair, second, 3, self._combine)

    @staticmethod
    def _combine(seen: Seen) -> Seen:
        others: Seen = seen[:, 1:].reshape(len(seen), -1)
        return others


VIEWS: tuple[View, ...] = (OneRelease(), AmongOthers(), OnlyOthers())


def _together(
    subject: Subject,
    pair: Pair,
    second: bool,
    count: int,
    combine: Callable[[Seen], Seen],
    *seed: object,
    fresh: bool = True,
) -> Iterator[Seen]:
    """Observations of [record, known], of [known] by the same generator and, if `fresh`, of [known] by another."""
    known = pair.x
    mine = pair.x_prime if second else pair.x
    both, alone = torch.stack([mine, known]), known.unsqueeze(0)
    places = None
    first = derive_seed("check", "together", subject.name, second, *seed)
    rows = []
    for index in range(count):
        source = torch.Generator().manual_seed((first + 2 * index) % (1 << 63))
        other = torch.Generator().manual_seed((first + 2 * index + 1) % (1 << 63))
        calls = [subject.release(both, source), subject.release(alone, source)]
        if fresh:
            calls.append(subject.release(alone, other))
        places = torch.from_numpy(_few(subject, pair)) if places is None else places
        rows.append(torch.cat([seen[:, places] for seen in calls]))
        if len(rows) == ROWS // 16 or index == count - 1:
            yield combine(torch.stack(rows).numpy())
            rows = []


def _without_noise(
    subject: Subject, pair: Pair, second: bool, rows: int, combine: Callable[[Seen], Seen]
) -> Seen | None:
    """What `_together` would observe if a release were its record."""
    if subject.width != subject.size:
        return None
    known, places = pair.x.reshape(-1), torch.from_numpy(_few(subject, pair))
    mine = pair.x_prime.reshape(-1) if second else known
    return np.asarray(combine(torch.stack([mine, *(known,) * (rows - 1)])[None, :, places].numpy())[0])


def _few(subject: Subject, pair: Pair) -> Places:
    """A few columns: those in which the records differ most, or evenly spaced ones of a release of another size."""
    if subject.width != subject.size:
        return np.unique(np.linspace(0, subject.width - 1, min(ODD, subject.width)).astype(np.int64))
    change = (pair.x - pair.x_prime).abs().reshape(-1)
    return np.sort(np.argsort(-change.numpy(), kind="stable")[:AMONG])
