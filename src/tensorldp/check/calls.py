"""Functions as they are: how one is called, where its randomness comes from, and how what it returns is read.

`check` works on a function of a batch and a torch generator that returns a tensor. Any other function is called in one
of these ways, found out at its first call and the same from then on:

| parameter for randomness | what it is given |
|---|---|
| annotated as a generator, or named `rng`, `random_state`, `seed` or `generator` | one of that kind |
| another second one that has no default and no other annotation | a generator: the first kind that works |
| none | nothing; the global states of NumPy, Python and torch are seeded and put back afterwards, numba's is seeded |

Functions for torch's generator are given a batch, all others one record at a time.
"""

from __future__ import annotations

import inspect
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tensorldp.check.columns import Layout, learned, legend, plain
from tensorldp.check.decoding import recognised
from tensorldp.check.records import Numbers, Records
from tensorldp.errors import InputError, blamed, described, joined, kind_of, shown
from tensorldp.randomness import derive_seed, generator, numpy_generator, seed_from

BATCH, RECORD = "batch", "record"
PROBED, PROBED_AT_ONCE = 259, 37  # records whose releases show what releases are made of; sizes as no shape has
PROBE_SECONDS = 1.0  # after which a slow function has shown enough
NAMES = {  # of parameters, and the kinds of randomness to try for each
    "generator": ("torch", "numpy"),
    "rng": ("numpy", "python", "torch"),
    "random_generator": ("numpy", "python"),
    "random_state": ("state", "numpy"),
    "seed": ("seed",),
}
KINDS: dict[str, Callable[[torch.Generator], Any]] = {
    "torch": lambda source: source,
    "numpy": numpy_generator,
    "state": lambda source: np.random.RandomState(seed_from(source) % (1 << 32)),
    "python": lambda source: random.Random(seed_from(source)),
    "seed": lambda source: seed_from(source) % (1 << 31),
}
TYPES = {
    torch.Generator: "torch",
    np.random.Generator: "numpy",
    np.random.RandomState: "state",
    random.Random: "python",
}


@dataclass(frozen=True)
class Reading:
    """What is computed from a release, and the columns that it becomes."""

    compute: Callable[[Any], Any]
    layout: Layout

    def rows(self, releases: Sequence[Any]) -> npt.NDArray[Any]:
        """Returns the columns of some releases, int64 or float64 (releases, width)."""
        if self.compute is plain:
            return self.layout.rows([plain(one) for one in releases])
        with blamed("decoding a release failed"):
            decoded = [plain(self.compute(one)) for one in releases]
        return self.layout.rows(decoded)


@dataclass
class Protocol:
    """How a function is called and its releases are read; found out once, and shared by its copies.

    Attributes:
        way: "batch" or "record", what it is given.
        randomness: the kind of generator that it is given, "global" for none.
        parameter: the name of that parameter, where it is passed by name.
        turned: whether it returns columns for a batch, and not rows.
        readings: what becomes of a release; none where a batch gives one tensor or array of numbers.
        notes: what a user should know of all this.
        kept: releases as messages show them, by the columns that they became; None while none are kept.
    """

    way: str
    randomness: str
    parameter: str | None = None
    turned: bool = False
    readings: tuple[Reading, ...] = ()
    notes: list[str] = field(default_factory=list)
    kept: dict[bytes, str] | None = None


class Foreign:
    """A function of somebody else as `check` calls one: of a batch and a torch generator, to a tensor or an array.

    Args:
        name: for messages.
        function: what is called. A class, or a function without parameters, makes it, anew for each copy.
        records: what it is given.
        way: "batch" or "record"; None finds out.
        decode: a function of one release.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        records: Records,
        *,
        way: str | None = None,
        decode: Callable[[Any], Any] | None = None,
    ) -> None:
        self.name, self.records, self.way, self.decode = name, records, way, decode
        self.given, self.made = function, _makes(function)
        with blamed(f"{name} cannot be made"):
            self.function = function() if self.made else function
        if not callable(self.function):
            methods = [one for one, _ in inspect.getmembers(self.function, inspect.ismethod) if not one.startswith("_")]
            hint = f": name one of its methods, {joined(methods, 'or')}, as module:Class.method" if methods else ""
            raise InputError(f"{name} makes {kind_of(self.function)}, which cannot be called{hint}")
        self.found: list[Protocol] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> Foreign:
        """Returns a copy that shares what was found out; this object itself where the function cannot be copied."""
        function = self.given if self.made else deepcopy(self.given, memo)
        if function is self.given and not self.made:
            return self
        fresh = Foreign(self.name, function, self.records, way=self.way, decode=self.decode)
        fresh.found = self.found
        return fresh

    @property
    def notes(self) -> list[str]:
        """Returns what a user should know of how it is called."""
        return [note for protocol in self.found for note in protocol.notes]

    @property
    def columns(self) -> list[str]:
        """Returns what each column of a release is; empty where it is a number, or numbers in their order."""
        readings = self.found[0].readings if self.found else ()
        if all(reading.compute is plain and reading.layout.is_plain for reading in readings):
            return []
        names = [reading.layout.names("" if reading.compute is plain else "decoded") for reading in readings]
        return [name for some in names for name in some]

    @property
    def coded(self) -> bool:
        """Returns whether codes stand among the columns of a release for values that are no numbers."""
        return any(reading.layout.coded for protocol in self.found for reading in protocol.readings)

    @contextmanager
    def keeping(self) -> Iterator[dict[bytes, str]]:
        """Keeps what is released meanwhile, by its columns; nothing where a batch gives one tensor or array."""
        kept: dict[bytes, str] = {}
        for protocol in self.found:
            protocol.kept = kept
        try:
            yield kept
        finally:
            for protocol in self.found:
                protocol.kept = None

    def __call__(self, points: Tensor, source: torch.Generator) -> Any:
        """Releases the records that points (batch, *shape) stand for, one row each.

        Raises:
            InputError: if the function cannot be called, or a release has no form or another one than those before.
        """
        if not self.found:
            return self._first(points, source)
        return self._read(self.found[0], self._released(self.found[0], points, source), len(points))

    def _released(self, protocol: Protocol, points: Tensor, source: torch.Generator) -> Any:
        """Calls the function."""
        if protocol.randomness == "torch" and protocol.way == BATCH:
            return self._with(protocol, self._tensor(points), source)
        with _global_states(source) if protocol.randomness == "global" else _nothing():
            given = KINDS[protocol.randomness](source) if protocol.randomness in KINDS else None
            if protocol.way == BATCH:
                return self._with(protocol, self.records.together(points), given)
            released = []
            for record in self.records.given(points):
                if protocol.randomness == "seed":
                    given = KINDS["seed"](source)
                try:
                    released.append(self._with(protocol, record, given))
                except Exception as error:
                    if isinstance(error, InputError) or not (released or self.found):
                        raise
                    raise InputError(
                        f"{self.name} failed after it had worked: {described(error)}, on the record {shown(record)}; "
                        f"{FAILED}"
                    ) from error
            return released

    def _tensor(self, points: Tensor) -> Any:
        """Returns a batch for a function that works with torch: a tensor, unless records are texts or rows."""
        if isinstance(self.records, Numbers):
            return points.round().long() if self.records.integer else points
        records = self.records.together(points)
        return torch.from_numpy(records) if _numeric(records) else records

    def _with(self, protocol: Protocol, record: Any, given: Any) -> Any:
        if protocol.randomness == "global":
            return self.function(record)
        if protocol.parameter is None:
            return self.function(record, given)
        return self.function(record, **{protocol.parameter: given})

    def _first(self, points: Tensor, source: torch.Generator) -> Any:
        """Finds out how the function is called, from its parameters and by trying."""
        failed: list[str] = []
        first: BaseException | None = None
        before = source.get_state()
        for protocol in self._protocols():
            try:
                out = self._released(protocol, points, source)
            except (InputError, KeyboardInterrupt):
                raise
            except CALLED_WRONGLY as error:
                source.set_state(before)  # so that the first call draws what later ones would
                first = first or error
                failed.append(f"{WORDS[protocol.randomness]}: {described(error)}")
                continue
            read = self._learn(protocol, out, points)
            self.found.append(protocol)
            return read
        if first is not None and (len(failed) == 1 or isinstance(first, ValueError)):
            raise first
        raise InputError(f"{self.name} cannot be called; {'; '.join(failed)}")

    def _protocols(self) -> Iterator[Protocol]:
        """Yields the ways in which the function may be called, the likeliest first."""
        missing = _unset(self.function)
        if missing:
            raise InputError(
                f"{self.name} needs {joined(missing, 'and')} beside a record: set by options, or in a function"
            )
        kinds, parameter = _randomness(self.function)
        for kind in kinds:
            way = self.way or (BATCH if kind == "torch" else RECORD)
            yield Protocol(way, kind, parameter)

    def _learn(self, protocol: Protocol, out: Any, points: Tensor) -> Any:
        """Fixes how what it returns is read, by further releases where it is not one tensor or array of numbers."""
        as_it_is = protocol.way == BATCH and self.decode is None and _numeric(out)
        if as_it_is and protocol.randomness == "torch":
            return out
        probes = self._probes(points)
        seed = derive_seed("check", "what releases are made of", self.name)
        releases: list[Any] = []
        start = time.monotonic()
        for index, probe in enumerate(probes):
            released = self._released(protocol, probe, torch.Generator().manual_seed(seed + index))
            if protocol.way == BATCH and not index:
                protocol.turned = _is_turned(released, len(probe))
            releases += [] if as_it_is else self._each(protocol, released, len(probe))
            if time.monotonic() - start > PROBE_SECONDS:
                break
        if not as_it_is:
            with _about(self.name):
                protocol.readings = self._readings(protocol, torch.cat(probes)[: len(releases)], releases)
        if protocol.randomness == "global":
            twice = [self._released(protocol, probes[0], torch.Generator().manual_seed(seed)) for _ in range(2)]
            first, second = (np.asarray(self._read(protocol, released, len(probes[0]))) for released in twice)
            if not np.array_equal(first, second, equal_nan=first.dtype.kind == "f"):
                protocol.notes.append(OWN_SOURCE)
        return self._read(protocol, out, len(points))

    def _probes(self, points: Tensor) -> tuple[Tensor, ...]:
        """Returns batches of records all over the domain, the first of a size that nothing else has."""
        box = self.records.domain.as_box()
        source = generator("check", "probe", self.name)
        drawn = torch.rand(PROBED, *box.shape, generator=source, dtype=torch.float64) * box.width + box.low
        drawn[0::8], drawn[1::8] = box.low, box.high
        batches: tuple[Tensor, ...] = torch.split(self.records.nearest(drawn).to(points.dtype), PROBED_AT_ONCE)
        return batches

    def _readings(self, protocol: Protocol, points: Tensor, releases: Sequence[Any]) -> tuple[Reading, ...]:
        """Fixes what is computed from a release and its columns: first what is decoded, then the release itself."""
        found: list[Reading] = []
        decode = self.decode
        try:
            rows = [plain(one) for one in releases]
            found.append(Reading(plain, learned(rows, self.records.values)))
        except InputError:
            if decode is None:
                raise
            protocol.notes.append("a release cannot be read as it is: what is decoded of it is all that was examined")
        if decode is None:
            support = recognised(self.records.given(points), rows, self.records.values)
            if support is not None:
                protocol.notes.append(f"a release names its hash function, and was decoded: {support}")
                decode = support
        if decode is not None:
            with blamed("decoding a release failed"):
                decoded = [plain(decode(one)) for one in releases]
            found.insert(0, Reading(decode, learned(decoded, self.records.values)))
        first = 0
        for reading in found:
            protocol.notes += legend(reading.layout, first)
            first += reading.layout.width
        return tuple(found)

    def _each(self, protocol: Protocol, out: Any, rows: int) -> Sequence[Any]:
        """Returns what was released for each record."""
        each: Sequence[Any] = out
        if protocol.way == BATCH:
            with _about(self.name):
                each = _rows(out, rows, protocol.turned)
        if len(each) != rows:
            raise InputError(f"{self.name} must return one release a record: for {rows}, got {len(each)}")
        return [tuple(one) if isinstance(one, Iterator) else one for one in each]  # one can be read once only

    def _read(self, protocol: Protocol, out: Any, count: int) -> Any:
        """Returns releases as one tensor or array of numbers, a row each."""
        if not protocol.readings:
            return out
        each = self._each(protocol, out, count)
        with _about(self.name):
            parts = [reading.rows(each) for reading in protocol.readings]
        whole = all(part.dtype == np.int64 for part in parts)
        rows = np.concatenate(parts, axis=1, dtype=np.int64 if whole else np.float64)
        if protocol.kept is not None:
            protocol.kept.update((row.tobytes(), shown(one)) for row, one in zip(rows, each, strict=True))
        return rows


WORDS = {
    "torch": "with a batch and torch's generator",
    "numpy": "with NumPy's generator",
    "state": "with a RandomState",
    "python": "with Python's random.Random",
    "seed": "with a seed",
    "global": "with a record alone",
}
FAILED = (
    "return what an observer sees of a failure, or if a release uses something up, such as a budget, give a function "
    "that makes it anew for each record"
)
CALLED_WRONGLY = (TypeError, AttributeError, ValueError)  # what a call of another kind than expected raises
OWN_SOURCE = (
    "it draws from a source of its own, which no seed reaches: the same command gives other numbers, within the "
    "confidence stated"
)


def name_of(function: object) -> str:
    """Returns what messages call a function: its own name where arguments are already set, or that of its class."""
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def _makes(function: Callable[..., Any]) -> bool:
    """Returns whether this is a class, or a function without parameters, which makes what releases records."""
    inner: Any = function
    while isinstance(inner, partial):
        inner = inner.func
    if isinstance(inner, type):
        return True
    try:
        return not inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _randomness(function: Callable[..., Any]) -> tuple[tuple[str, ...], str | None]:
    """Returns the kinds of randomness to try, and the parameter's name if it is passed by name."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # built-in, or compiled
        return ("global", "torch", "numpy"), None
    positional = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    record = positional[0] if positional else None
    for one in parameters:
        if one is record or one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            continue
        by_name = one.name if one.kind is one.KEYWORD_ONLY or positional.index(one) != 1 else None
        kind = next((word for kind, word in TYPES.items() if _is_type(one.annotation, kind)), None)
        if kind is not None:
            return (kind,), by_name
        if one.name in NAMES:
            kinds = NAMES[one.name]
            return kinds, by_name
    needed = [one for one in positional[1:] if one.default is one.empty]
    if needed or (not positional and any(one.kind is one.VAR_POSITIONAL for one in parameters)):
        return ("torch", "numpy", "python", "global"), None
    return ("global",), None


def _unset(function: Callable[..., Any]) -> list[str]:
    """Returns the parameters that have no value and can be neither the record nor the randomness."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
    needed = [
        one for one in parameters if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    of_randomness = [one for one in needed[1:] if one.name in NAMES or any(_is_type(one.annotation, t) for t in TYPES)]
    others = [one for one in needed[1:] if one not in of_randomness]
    guessed = not of_randomness and len(others) == 1 and others[0].kind is not others[0].KEYWORD_ONLY
    return [] if guessed and _may_be_randomness(others[0].annotation) else [one.name for one in others]


def _may_be_randomness(annotation: object) -> bool:
    """Returns whether a parameter annotated like this may be a generator: where nothing says that it is not."""
    text = str(annotation if isinstance(annotation, str) else getattr(annotation, "__name__", annotation)).lower()
    return any(word in text for word in ("_empty", "any", "object", "random", "generator"))


def _is_type(annotation: object, kind: type) -> bool:
    """Returns whether a parameter is annotated with this type of generator, or with its full name as a text."""
    if isinstance(annotation, str):
        text = annotation.replace("np.", "numpy.").partition("|")[0].strip()
        home = kind.__module__.partition(".")[0]
        return text in (f"{home}.{kind.__name__}", f"{home}.random.{kind.__name__}")
    return annotation is kind


def _numeric(out: Any) -> bool:
    """Returns whether this is for `observed`: a tensor of any kind or an array of numbers."""
    return isinstance(out, Tensor) or (isinstance(out, np.ndarray) and out.dtype.kind not in "OUST")


def _is_turned(out: Any, rows: int) -> bool:
    """Returns whether a batch's releases are columns with an entry for each record, and not one item for each."""
    if isinstance(out, dict):
        return True
    if not isinstance(out, (tuple, list)) or len(out) == rows:
        return False
    return all(hasattr(part, "__len__") and not isinstance(part, str) and len(part) == rows for part in out)


def _rows(out: Any, rows: int, turned: bool) -> Sequence[Any]:
    """Cuts what was returned for a batch into what belongs to each record."""
    if turned:
        columns = out if isinstance(out, dict) else dict(enumerate(out))
        listed = {name: list(column) for name, column in columns.items()}
        if any(len(column) != rows for column in listed.values()):
            raise InputError(f"a batch of {rows} needs {rows} entries in each column of a release")
        names = list(listed)
        cut = zip(*listed.values(), strict=True)
        return [dict(zip(names, row, strict=True)) for row in cut] if isinstance(out, dict) else list(cut)
    if type(out).__name__ == "DataFrame":
        return list(out.itertuples(index=False, name=None))
    if isinstance(out, (Tensor, np.ndarray)) and out.ndim == 0:
        raise InputError(f"it must return one release a record: for {rows}, got a single number")
    try:
        return list(out)
    except TypeError:
        raise InputError(f"it must return one release a record: for {rows}, got {kind_of(out)}") from None


@contextmanager
def _about(name: str) -> Iterator[None]:
    """Says in an error about releases whose they are."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


@contextmanager
def _nothing() -> Iterator[None]:
    yield


_NUMBA: list[Callable[[int], None]] = []


@contextmanager
def _global_states(source: torch.Generator) -> Iterator[None]:
    """Seeds the random states that libraries share, and puts them back; numba's is only seeded."""
    seed = seed_from(source) % (1 << 32)
    before = np.random.get_state(), random.getstate(), torch.get_rng_state()  # noqa: NPY002 what libraries use
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)
    torch.default_generator.manual_seed(seed)
    if "numba" in sys.modules:
        if not _NUMBA:
            _NUMBA.append(sys.modules["numba"].njit(lambda number: np.random.seed(number)))  # noqa: NPY002
        _NUMBA[0](seed)
    try:
        yield
    finally:
        np.random.set_state(before[0])  # noqa: NPY002
        random.setstate(before[1])
        torch.set_rng_state(before[2])
