"""Releases of any Python kind as rows of numbers.

`learned` looks at some releases and fixes what becomes of each of their parts; `Layout.row` then does it:

| part | columns |
|---|---|
| number, truth value, array, tensor | itself, flattened |
| text, where few occur | its number among those seen, by which a verdict names it; a code for another one |
| other text, bytes, None | a code of 52 bits |
| tuple or list of one length | the columns of its items |
| list of varying length | its length, its items up to the longest seen, and a code of those beyond |
| set | a bit for each known member, and a code of the others |
| dictionary | for each key seen whether it is there and its value, and a code of the other keys |
| order of a dictionary's keys | each key's place if the order varies, else part of that code where it is unusual |

A code depends on the value alone, and a number on what was seen first, so equal values are equal in every call.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from tensorldp.errors import InputError, kind_of, shown

EXACT = 1 << 53  # whole numbers beyond are not all floats
CODE_BYTES, CODE_BITS = 8, 52
MOST_NAMED, SHOWN_NAMED = 64, 8  # texts that are numbered, and of these in a note
Row = list[Any]


def code(value: object) -> int:
    """Computes the code of a value, a whole number below 2^52."""
    text = f"{type(value).__name__}:{value!r}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=CODE_BYTES).digest(), "big") & ((1 << CODE_BITS) - 1)


def plain(value: object) -> Any:
    """Returns a release, or a part of it, as plain Python: numbers, texts, tuples, sets, dictionaries or an array."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return value
    if isinstance(value, complex):
        return (value.real, value.imag)
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        return plain(value.item()) if value.dim() == 0 else plain(value.resolve_conj().resolve_neg().numpy())
    if isinstance(value, np.ndarray):
        if value.ndim == 0:
            return plain(value.item())
        if value.dtype.kind == "c":
            value = np.stack((value.real, value.imag), axis=-1)
        return value if value.dtype.kind in "biuf" and value.dtype.itemsize <= 8 else tuple(map(plain, value.tolist()))
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (set, frozenset)):
        return frozenset(map(plain, value))
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if hasattr(value, "__array__"):  # pandas', or another library's array, of which one of no dimension has no items
        return plain(np.asarray(value))
    if isinstance(value, Iterable):
        return tuple(map(plain, value))
    raise InputError(
        f"a release must be made of numbers, texts, lists, sets, dictionaries or arrays, got {kind_of(value)}: return "
        f"what it holds, or say by decode what everybody can read in it"
    )


def _number(value: Any) -> Any:
    """Returns a number as it is, and anything else, or a whole number that int64 lacks, as its code."""
    if isinstance(value, float):
        return value
    if isinstance(value, int):
        return int(value) if -(1 << 63) <= value < 1 << 63 else code(value)
    return code(value)


class Layout(ABC):
    """What becomes of a part of a release.

    Attributes:
        width: its columns.
        whole: whether all of them are whole numbers.
    """

    width: int
    whole: bool

    @property
    def is_plain(self) -> bool:
        """Returns whether its columns are a number, an array or numbers in their order, so that they need no names."""
        parts = self.parts if isinstance(self, Parts) else (self,)
        return all(isinstance(part, One) and not part.coded for part in parts) or isinstance(self, Array)

    @property
    def coded(self) -> bool:
        """Returns whether codes stand in it for values that are no numbers."""
        return False

    @abstractmethod
    def row(self, value: Any) -> Row:
        """Returns the columns of a plain value."""

    def names(self, of: str) -> list[str]:
        """Returns what each column is, `of` being what a message calls the part."""
        return [of] if self.width == 1 else [f"{of}, element {place}" for place in range(self.width)]

    def rows(self, values: Sequence[Any]) -> npt.NDArray[Any]:
        """Returns the columns of plain values, int64 or float64 (values, width).

        Among floats, whole numbers beyond 2^53, which are not all floats, become codes.

        Raises:
            InputError: if one has not the form that was learned.
        """
        quick = self._quick(values)
        if quick is not None:
            return quick
        found = [self.row(value) for value in values]
        if self.whole:
            if any(isinstance(one, float) for row in found for one in row):
                raise InputError("releases must be alike: one has a float where those before had whole numbers")
            return np.array(found, dtype=np.int64).reshape(len(values), self.width)
        exact = [[code(one) if isinstance(one, int) and abs(one) > EXACT else one for one in row] for row in found]
        return np.array(exact, dtype=np.float64).reshape(len(values), self.width)

    def _quick(self, values: Sequence[Any]) -> npt.NDArray[Any] | None:
        """Returns the columns of tuples of numbers, or of numbers, by NumPy, None where that might lose something."""
        if not isinstance(self, (One, Parts)) or any(
            isinstance(part, (Keys, Bits, Run, Named)) for part in _parts(self)
        ):
            return None
        try:
            found = np.array(values)
        except (ValueError, OverflowError):
            return None
        if found.shape != ((len(values),) if isinstance(self, One) else (len(values), self.width)):
            return None
        if found.dtype.kind not in ("bi" if self.whole else "f"):
            return None
        if not self.whole and not bool((np.abs(found) <= EXACT).all()):  # or not finite: may have been a whole number
            return None
        return found.reshape(len(values), self.width).astype(np.int64 if self.whole else np.float64)


@dataclass
class One(Layout):
    """A number, or where `coded` the code of what is none."""

    whole: bool
    coded: bool = False
    width: int = 1

    def row(self, value: Any) -> Row:
        if isinstance(value, (tuple, frozenset, dict, np.ndarray)):
            raise unlike("one value", value)
        return [_number(value)]

    def names(self, of: str) -> list[str]:
        return [f"a code of {of or 'the release'}" if self.coded else of]


@dataclass
class Named(One):
    """A text out of a few: its number among them, or a code."""

    known: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._numbers = {text: number for number, text in enumerate(self.known)}

    def row(self, value: Any) -> Row:
        (found,) = super().row(value)
        if isinstance(value, str) and value in self._numbers:
            return [self._numbers[value]]
        return [found if isinstance(found, float) else code(value)]


@dataclass
class Array(Layout):
    """An array of one shape."""

    shape: tuple[int, ...]
    whole: bool

    @property
    def width(self) -> int:  # type: ignore[override]
        return math.prod(self.shape)

    def row(self, value: Any) -> Row:
        if not isinstance(value, np.ndarray) or value.shape != self.shape:
            raise unlike(f"an array of shape {self.shape}", value)
        return [_number(one) for one in value.reshape(-1).tolist()]

    def rows(self, values: Sequence[Any]) -> npt.NDArray[Any]:
        for value in values:
            if not isinstance(value, np.ndarray) or value.shape != self.shape:
                raise unlike(f"an array of shape {self.shape}", value)
        stacked = np.stack(values).reshape(len(values), -1)
        if stacked.dtype.kind == "u" and stacked.dtype.itemsize == 8:
            return stacked.view(np.int64)  # modulo 2^64, which loses nothing
        if self.whole and stacked.dtype.kind == "f":
            raise InputError("releases must be alike: one has a float where those before had whole numbers")
        if not self.whole and stacked.dtype.kind != "f":
            return super().rows(values)
        return stacked.astype(np.int64 if self.whole else np.float64)


@dataclass
class Parts(Layout):
    """Items in their order, as many each time."""

    parts: tuple[Layout, ...]

    def __post_init__(self) -> None:
        self.width = sum(part.width for part in self.parts)
        self.whole = all(part.whole for part in self.parts)

    @property
    def coded(self) -> bool:
        return any(part.coded for part in self.parts)

    def row(self, value: Any) -> Row:
        items = _items(value)
        if items is None or len(items) != len(self.parts):
            raise unlike(f"{len(self.parts)} items", value)
        return [one for part, item in zip(self.parts, items, strict=True) for one in part.row(item)]

    def names(self, of: str) -> list[str]:
        return [name for place, part in enumerate(self.parts) for name in part.names(_within(of, f"item {place}"))]


@dataclass
class Run(Layout):
    """A list of varying length: its length, `most` items, zeros where there are fewer, and a code of those beyond."""

    part: Layout
    most: int

    def __post_init__(self) -> None:
        self.width = 2 + self.most * self.part.width
        self.whole = self.part.whole

    @property
    def coded(self) -> bool:
        return self.part.coded

    def row(self, value: Any) -> Row:
        items = _items(value)
        if items is None:
            raise unlike("a list", value)
        found = [one for item in items[: self.most] for one in self.part.row(item)]
        found += [0] * (self.most * self.part.width - len(found))
        return [len(items), *found, code(items[self.most :]) if len(items) > self.most else 0]

    def names(self, of: str) -> list[str]:
        items = [name for place in range(self.most) for name in self.part.names(_within(of, f"item {place}"))]
        return [_within(of, "its length"), *items, _within(of, f"a code of the items from {self.most} on")]


@dataclass
class Bits(Layout):
    """A set: a bit for each known member, and a code of all others."""

    members: tuple[Any, ...]
    whole: bool = True

    def __post_init__(self) -> None:
        self.width = len(self.members) + 1
        self._known = frozenset(self.members)

    def row(self, value: Any) -> Row:
        if not isinstance(value, frozenset):
            raise unlike("a set", value)
        others = sorted(map(code, value - self._known))
        return [*(int(member in value) for member in self.members), code(tuple(others)) if others else 0]

    def names(self, of: str) -> list[str]:
        members = [_within(of, f"whether it has {shown(member)}") for member in self.members]
        return [*members, _within(of, "a code of its other members")]


@dataclass
class Keys(Layout):
    """A dictionary: for each key whether it is there and its value, and a code of all other keys and values.

    The order of its keys is released too, as JSON keeps it.

    Attributes:
        parts: of each key that was seen.
        order: those keys as every dictionary seen had them, empty where that varies: then each key's place, from 1
            on, stands in place of whether it is there.
    """

    parts: dict[str, Layout]
    order: tuple[str, ...]

    def __post_init__(self) -> None:
        self.width = 1 + sum(1 + part.width for part in self.parts.values())
        self.whole = all(part.whole for part in self.parts.values())

    @property
    def coded(self) -> bool:
        return any(part.coded for part in self.parts.values())

    def row(self, value: Any) -> Row:
        if not isinstance(value, dict):
            raise unlike("a dictionary", value)
        places = dict.fromkeys(value, 1) if self.order else {key: place for place, key in enumerate(value, start=1)}
        found: Row = []
        for key, part in self.parts.items():
            found += [places[key], *part.row(value[key])] if key in value else [0] * (1 + part.width)
        others: list[Any] = sorted((key, code(one)) for key, one in value.items() if key not in self.parts)
        here = [key for key in value if key in self.parts]
        if self.order and here != [key for key in self.order if key in value]:
            others.append(tuple(here))
        return [*found, code(tuple(others)) if others else 0]

    def names(self, of: str) -> list[str]:
        found = []
        for key, part in self.parts.items():
            found.append(_within(of, f"{'whether it has' if self.order else 'the place of'} the key {shown(key)}"))
            found += part.names(_within(of, shown(key)))
        return [*found, _within(of, "a code of its other keys, or of an unusual order")]


def _within(of: str, part: str) -> str:
    return f"{of}, {part}" if of else part


def _parts(layout: Layout) -> tuple[Layout, ...]:
    return layout.parts if isinstance(layout, Parts) else (layout,)


def unlike(expected: str, value: Any) -> InputError:
    """Builds the error for a release of another form than those before."""
    return InputError(f"releases must be alike: those before had {expected}, one is {shown(value)}")


def _items(value: Any) -> Sequence[Any] | None:
    """Returns the items of a tuple, or of an array along its first dimension; None for anything else."""
    if isinstance(value, tuple):
        return value
    return tuple(map(plain, value)) if isinstance(value, np.ndarray) else None


def learned(values: Sequence[Any], universe: Iterable[Any] = ()) -> Layout:
    """Fixes what becomes of releases like these.

    Args:
        values: plain values, of one or more releases.
        universe: the categories of the records, which a set may have as members.

    Raises:
        InputError: if they have no common form.
    """
    kinds = {_kind(value) for value in values}
    if kinds == {"array"}:
        shapes = {value.shape for value in values}
        if len(shapes) == 1:
            return Array(shapes.pop(), all(value.dtype.kind in "biu" for value in values))
        kinds = {"list"}
    if kinds == {"one"}:
        texts = set(values)
        if len(texts) <= MOST_NAMED and all(isinstance(text, str) for text in texts):
            return Named(True, known=tuple(sorted(texts)))
        coded = any(value is None or isinstance(value, (str, bytes)) for value in values)
        return One(not any(isinstance(value, float) for value in values), coded)
    if kinds == {"set"}:
        members = set(map(plain, universe)).union(*values)
        return Bits(tuple(sorted(members, key=lambda member: (type(member).__name__, member))))
    if kinds == {"dict"}:
        names = sorted(set().union(*values))
        parts = {name: learned([value[name] for value in values if name in value], universe) for name in names}
        return Keys(parts, _common_order(values))
    if kinds <= {"list", "array"}:
        listed = [_items(value) or () for value in values]
        lengths = {len(items) for items in listed}
        if len(lengths) == 1 and lengths != {0}:
            return Parts(tuple(learned(column, universe) for column in zip(*listed, strict=True)))
        if lengths == {0}:
            raise InputError("releases are all empty: nothing can be learned from them, and nothing checked")
        return Run(learned([item for items in listed for item in items], universe), max(lengths))
    raise InputError(f"releases must be alike: some are {' and some '.join(sorted(PLURALS[kind] for kind in kinds))}")


def _common_order(values: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Returns the keys of some dictionaries in an order that all of them keep; empty where there is none."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for keys in dict.fromkeys(map(tuple, values)):
        for key in keys:
            sorter.add(key)
        for key, later in pairwise(keys):
            sorter.add(later, key)
    try:
        return tuple(sorter.static_order())
    except CycleError:
        return ()


def legend(layout: Layout, first: int = 0) -> list[str]:
    """Says what the numbers of texts stand for, the first column of the layout being the element `first`."""
    if isinstance(layout, Named):
        told = [f"{number} for {shown(text)}" for number, text in enumerate(layout.known[:SHOWN_NAMED])]
        more = f" and so on, up to {len(layout.known) - 1}" if len(layout.known) > SHOWN_NAMED else ""
        return [f"texts are numbered: element {first} is {', '.join(told)}{more}"]
    found: list[str] = []
    for part in layout.parts if isinstance(layout, Parts) else ():
        found += legend(part, first)
        first += part.width
    return found


PLURALS = {"one": "single values", "array": "arrays", "set": "sets", "dict": "dictionaries", "list": "lists"}


def _kind(value: Any) -> str:
    kinds = ((np.ndarray, "array"), (frozenset, "set"), (dict, "dict"), (tuple, "list"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "one")
