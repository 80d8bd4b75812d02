"""What an observer of releases sees: one release, a release among others, or only the releases of others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tensorldp.privacy.checking.pairs import Pair
from tensorldp.privacy.checking.subject import Subject
from tensorldp.randomness import derive_seed, generator

Reals = npt.NDArray[np.float64]
ELEMENTS = 1 << 20  # released at once
ROWS = 1 << 14
WIDE = 8  # elements of a record that are looked at among other records


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
    def observe(self, subject: Subject, pair: Pair, second: bool, count: int, *seed: object) -> Iterator[Reals]:
        """Blocks of observations of pair.x, or of pair.x_prime if `second`: `count` rows in all."""

    @abstractmethod
    def expected(self, subject: Subject, pair: Pair, second: bool) -> Reals:
        """The observation without noise, by which an observer judges distances."""


@dataclass(frozen=True)
class OneRelease(View):
    """Independent releases of the record, many in a batch."""

    name: str = "one release"

    def observe(self, subject: Subject, pair: Pair, second: bool, count: int, *seed: object) -> Iterator[Reals]:
        source = generator("check", "release", subject.name, second, *seed)
        step = min(ROWS, count, max(1, ELEMENTS // subject.size))
        record = pair.x_prime if second else pair.x
        batch = record.expand(step, *record.shape).contiguous()
        for start in range(0, count, step):
            yield _reals(subject.release(batch[: min(step, count - start)], source))

    def expected(self, subject: Subject, pair: Pair, second: bool) -> Reals:
        return _reals((pair.x_prime if second else pair.x).reshape(-1))


@dataclass(frozen=True)
class AmongOthers(View):
    """The record's release beside that of a known record: in one batch, in the next call, with another generator.

    A draw shared by the records of a batch, or by all calls, cancels in the difference of two releases.
    """

    name: str = "beside a known record"
    fast: bool = False

    def observe(self, subject: Subject, pair: Pair, second: bool, count: int, *seed: object) -> Iterator[Reals]:
        return _together(subject, pair, second, count, self._combine, *seed)

    def expected(self, subject: Subject, pair: Pair, second: bool) -> Reals:
        other = pair.x.reshape(-1)
        mine = (pair.x_prime if second else pair.x).reshape(-1)
        return np.asarray(self._combine(_reals(torch.stack([mine, other, other, other]))[None, :, _places(pair)])[0])

    @staticmethod
    def _combine(seen: Reals) -> Reals:
        mine, others = seen[:, :1], seen[:, 1:]
        both: Reals = np.concatenate([seen, mine - others], axis=1).reshape(len(seen), -1)
        return both


@dataclass(frozen=True)
class OnlyOthers(View):
    """Releases of a known record, in the changed record's batch and after it: a local guarantee leaves them alone."""

    name: str = "releases of another record"
    fast: bool = False
    local: bool = True

    def observe(self, subject: Subject, pair: Pair, second: bool, count: int, *seed: object) -> Iterator[Reals]:
        return _together(subject, pair, second, count, self._combine, *seed, fresh=False)

    def expected(self, subject: Subject, pair: Pair, second: bool) -> Reals:
        other = pair.x.reshape(-1)
        return np.asarray(self._combine(_reals(torch.stack([other] * 3))[None, :, _places(pair)])[0])

    @staticmethod
    def _combine(seen: Reals) -> Reals:
        others: Reals = seen[:, 1:].reshape(len(seen), -1)
        return others


VIEWS: tuple[View, ...] = (OneRelease(), AmongOthers(), OnlyOthers())


def _together(
    subject: Subject,
    pair: Pair,
    second: bool,
    count: int,
    combine: Callable[[Reals], Reals],
    *seed: object,
    fresh: bool = True,
) -> Iterator[Reals]:
    """Observations of [record, known], of [known] by the same generator and, if `fresh`, of [known] by another."""
    known = pair.x
    mine = pair.x_prime if second else pair.x
    both, alone = torch.stack([mine, known]), known.unsqueeze(0)
    places = torch.from_numpy(_places(pair))
    first = derive_seed("check", "together", subject.name, second, *seed)
    rows = []
    for index in range(count):
        source = torch.Generator().manual_seed((first + 2 * index) % (1 << 63))
        other = torch.Generator().manual_seed((first + 2 * index + 1) % (1 << 63))
        calls = [subject.release(both, source), subject.release(alone, source)]
        if fresh:
            calls.append(subject.release(alone, other))
        seen = torch.cat(calls)
        rows.append(seen[:, places] if seen.shape[1] == subject.size else seen)
        if len(rows) == ROWS // 16 or index == count - 1:
            yield combine(_reals(torch.stack(rows)))
            rows = []


def _places(pair: Pair) -> npt.NDArray[np.int64]:
    """The elements in which the records differ most, a few of them."""
    change = (pair.x - pair.x_prime).abs().reshape(-1)
    return np.sort(np.argsort(-change.numpy(), kind="stable")[:WIDE])


def _reals(values: Tensor) -> Reals:
    return values.double().cpu().numpy()
