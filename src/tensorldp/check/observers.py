"""What an observer of releases sees: one release, from a large or small batch, one among others, or only others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tensorldp.check.distinguishers import Observations
from tensorldp.check.pairs import Pair
from tensorldp.check.target import Target
from tensorldp.randomness import derive_seed, generator, numpy_generator

Places = npt.NDArray[np.int64]
ELEMENTS = 1 << 20  # released at once
ROWS = 1 << 14
MOST = 1 << 14  # columns of a release that are examined
AMONG = 8  # elements of a record that are examined among other records
COARSE = 1 << 10  # steps of the domain's width in a coarse release
ODD = 64  # columns of a release of another size that are examined among others


def releases(target: Target, record: Tensor, count: int, source: torch.Generator) -> Iterator[Tensor]:
    """`count` independent releases of a record, in batches that a few times 8 MB hold or that have one record."""
    step = min(ROWS, count, max(1, ELEMENTS // max(target.size, target.width)))
    for start in range(0, count, step):
        yield target.release(record.expand(min(step, count - start), *record.shape), source)


@dataclass(frozen=True)
class Observer(ABC):
    """How releases of one record are observed.

    Attributes:
        name: in findings, and part of the seeds.
        fast: whether an observation is one row of a batch rather than separate calls.
        local: whether the observation leaves the changed record's own release out, so that nothing may differ.
    """

    name: str
    fast: bool = True
    local: bool = False

    @abstractmethod
    def observe(self, target: Target, pair: Pair, second: bool, count: int, *seed: object) -> Iterator[Observations]:
        """Blocks of observations of pair.x, or of pair.x_prime if `second`: `count` rows in all."""

    @abstractmethod
    def expected(self, target: Target, pair: Pair, second: bool) -> Observations | None:
        """The observation without noise, to judge distances by; None if a release does not have the record's size."""


@dataclass(frozen=True)
class OneRelease(Observer):
    """Independent releases of the record, many in a batch.

    Of more than `MOST` elements, it examines those in which the records differ most, some others, and the sum along the
    difference of the records.
    """

    name: str = "one release"

    def observe(self, target: Target, pair: Pair, second: bool, count: int, *seed: object) -> Iterator[Observations]:
        source = generator("check", "release", target.name, second, *seed)
        narrowed: Callable[[Observations], Observations] | None = None
        for block in releases(target, pair.x_prime if second else pair.x, count, source):
            seen = block.numpy()
            if narrowed is None:  # the width is known from the first release on
                narrowed = _narrowed(target, pair, seen.dtype)
            yield narrowed(seen)

    def expected(self, target: Target, pair: Pair, second: bool) -> Observations | None:
        record = (pair.x_prime if second else pair.x).reshape(1, -1).numpy()
        if target.width != target.size:
            return None
        return np.asarray(_narrowed(target, pair, record.dtype)(record)[0])


def _most_changed_columns(target: Target, pair: Pair) -> Places:
    """`MOST` columns of a wide release: those in which the records differ most, by chance among equals."""
    source = numpy_generator(generator("check", "columns", target.name, pair.name))
    keys = source.random(target.width, dtype=np.float32)
    if target.width == target.size:
        change = (pair.x - pair.x_prime).abs().reshape(-1).numpy()
        keys += 1e3 * (change / change.max()).astype(np.float32)
        keys[source.integers(target.width, size=MOST // 8)] += 1e4  # and some in which they may not differ
    return np.sort(np.argpartition(-keys, MOST)[:MOST])


def _narrowed(target: Target, pair: Pair, dtype: npt.DTypeLike) -> Callable[[Observations], Observations]:
    """From releases to what is looked at: `MOST` columns, and of releases like their records the sum along x - x'."""
    if target.width <= MOST:
        return lambda seen: seen
    places = _most_changed_columns(target, pair)
    if target.width != target.size:
        return lambda seen: seen[:, places]
    signs = (pair.x - pair.x_prime).reshape(-1).sign().numpy().astype(dtype)
    return lambda seen: np.concatenate((seen[:, places], (seen @ signs)[:, None]), axis=1)


@dataclass(frozen=True)
class BesideOthers(Observer):
    """Releases of a known record, in the record's batch, in the next call and with another generator.

    A draw shared by the records of a batch, or by all calls, cancels in the difference of two releases. Where `local`,
    the record's own release is left out, as a local guarantee leaves the others alone, and the other generator makes
    way for a batch in which the known record comes first.
    """

    fast: bool = False

    def observe(self, target: Target, pair: Pair, second: bool, count: int, *seed: object) -> Iterator[Observations]:
        known = pair.x
        mine = pair.x_prime if second else pair.x
        both, alone = torch.stack([mine, known]), known.unsqueeze(0)
        places = None
        first = derive_seed("check", "together", target.name, second, *seed)
        rows = []
        for index in range(count):
            source = torch.Generator().manual_seed((first + 2 * index) % (1 << 63))
            calls = [target.release(both, source), target.release(alone, source)]
            if self.local:
                calls.append(target.release(both.flip(0), source)[:1])
            else:
                other = torch.Generator().manual_seed((first + 2 * index + 1) % (1 << 63))
                calls.append(target.release(alone, other))
            places = torch.from_numpy(_few_columns(target, pair)) if places is None else places
            rows.append(torch.cat([seen[:, places] for seen in calls]))
            if len(rows) == ROWS // 16 or index == count - 1:
                yield self._combined(torch.stack(rows).numpy())
                rows = []

    def expected(self, target: Target, pair: Pair, second: bool) -> Observations | None:
        if target.width != target.size:
            return None
        known, places = pair.x.reshape(-1), torch.from_numpy(_few_columns(target, pair))
        mine = pair.x_prime.reshape(-1) if second else known
        return np.asarray(self._combined(torch.stack([mine, known, known, known])[None, :, places].numpy())[0])

    def _combined(self, seen: Observations) -> Observations:
        """Rows of observations from releases (rows, releases, columns), the record's own first."""
        mine, others = seen[:, :1], seen[:, 1:]
        if self.local:
            return others.reshape(len(seen), -1)
        with np.errstate(invalid="ignore"):  # infinity less infinity
            return np.concatenate([seen, mine - others], axis=1).reshape(len(seen), -1)


@dataclass(frozen=True)
class InSmallBatch(Observer):
    """The record's own release where it is the last of a small batch, the others being known, or the only one.

    Attributes:
        sizes: of batches. Each observation draws one without regard to the record: a claim holds of the mixture too.
    """

    fast: bool = False
    sizes: tuple[int, ...] = (2, 3, 8, 17)

    def observe(self, target: Target, pair: Pair, second: bool, count: int, *seed: object) -> Iterator[Observations]:
        mine = pair.x_prime if second else pair.x
        most = ELEMENTS // max(target.size, target.width)
        sizes = [size for size in self.sizes if size <= most] or self.sizes[:1]
        batches = [torch.stack([pair.x] * (size - 1) + [mine]) for size in sizes]
        source = generator("check", "small batch", target.name, second, *seed)
        drawn = torch.randint(len(sizes), (count,), generator=source).tolist()
        places = None
        for start in range(0, count, ROWS // 16):
            rows = []
            for index in drawn[start : start + ROWS // 16]:
                last = target.release(batches[index], source)[-1]
                places = torch.from_numpy(_few_columns(target, pair)) if places is None else places
                rows.append(last[places])
            yield torch.stack(rows).numpy()

    def expected(self, target: Target, pair: Pair, second: bool) -> Observations | None:
        if target.width != target.size:
            return None
        return np.asarray((pair.x_prime if second else pair.x).reshape(-1).numpy()[_few_columns(target, pair)])


@dataclass(frozen=True)
class Coarse(OneRelease):
    """One release to a thousandth of the domain's width, so that nothing is left of how its last bits were rounded."""

    name: str = "one release to a thousandth of the width"

    def observe(self, target: Target, pair: Pair, second: bool, count: int, *seed: object) -> Iterator[Observations]:
        step = target.domain.as_box().width / COARSE
        for seen in super().observe(target, pair, second, count, *seed):
            yield seen if seen.dtype == np.int64 else np.rint(seen / step) * step


OBSERVERS: tuple[Observer, ...] = (
    OneRelease(),
    InSmallBatch("a batch of one", sizes=(1,)),
    InSmallBatch("the last release of a small batch"),
    BesideOthers("beside a known record"),
    BesideOthers("releases of another record", local=True),
)


def _few_columns(target: Target, pair: Pair) -> Places:
    """A few columns: those in which the records differ most, or evenly spaced ones of a release of another size."""
    if target.width != target.size:
        return np.unique(np.linspace(0, target.width - 1, min(ODD, target.width)).astype(np.int64))
    change = (pair.x - pair.x_prime).abs().reshape(-1)
    return np.sort(np.argsort(-change.numpy(), kind="stable")[:AMONG])
