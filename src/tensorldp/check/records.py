"""What kinds of records a function may be given: numbers, whole numbers, categories, and a table's rows.

A search moves in a box of numbers. Each kind says which box that is, which of its points stand for records, and what
the function is given for a point.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tensorldp.domain import Box, Domain
from tensorldp.errors import InputError, check_real, check_whole, shown

MOST_CATEGORIES = 1 << 20
FEW = 64  # values of a row's column that are all tried


class Records(ABC):
    """A kind of records.

    Attributes:
        domain: the box, or ball, in which a search moves.
        integer: whether its elements are whole numbers.
        values: the categories, where a record is one of them, as the function is given them; else empty.
        floats: whether a record is a tensor of real numbers, in the format that is asked for.
    """

    domain: Domain
    integer: bool = False
    values: Sequence[Any] = ()
    floats: bool = False

    @abstractmethod
    def given(self, points: Tensor) -> Sequence[Any]:
        """Returns the record that a function is given for each point of a batch (batch, *shape)."""

    @abstractmethod
    def together(self, points: Tensor) -> Any:
        """Returns the same records as one object, for functions of a whole batch."""

    def nearest(self, points: Tensor) -> Tensor:
        """Returns the points, float64 (batch, *shape), that stand for records, nearest to those of a batch."""
        inside = self.domain.project(points)
        return inside.round() if self.integer else inside

    @property
    def record(self) -> str:
        """Returns what a record is, in words."""
        return f"one of {self}"

    def pairs(self) -> Iterator[tuple[str, Tensor, Tensor]]:
        """Yields pairs of points that this kind of records suggests, each with its name."""
        return iter(())

    def __str__(self) -> str:
        return str(self.domain)


@dataclass(frozen=True)
class Numbers(Records):
    """Tensors of numbers; of a shape (1,) the number itself, where a function is not given a batch for torch."""

    domain: Domain
    integer: bool = False

    def __post_init__(self) -> None:
        if self.integer:
            box = self.domain.as_box()
            if not (float(box.low).is_integer() and float(box.high).is_integer()):
                raise InputError(f"whole numbers need a box between whole numbers, got {box.low:g} and {box.high:g}")

    @property
    def floats(self) -> bool:  # type: ignore[override]
        """Returns whether they are real numbers."""
        return not self.integer

    def given(self, points: Tensor) -> Sequence[Any]:
        records = self.together(points)
        return list(records) if records.ndim > 1 else records.tolist()

    def together(self, points: Tensor) -> npt.NDArray[Any]:
        records = points.reshape(-1) if self.domain.shape == (1,) else points
        return records.round().long().numpy() if self.integer else records.numpy()


@dataclass(frozen=True, init=False)
class Categories(Records):
    """One value out of a list: `Categories(8)` has the whole numbers 0 to 7, `Categories(["No", "Yes"])` two texts."""

    values: tuple[Any, ...]

    def __init__(self, values: int | Sequence[Any]) -> None:
        if isinstance(values, int):
            values = range(check_whole("categories", values, low=2, high=MOST_CATEGORIES))
        elif isinstance(values, (str, bytes)) or not isinstance(values, (Sequence, np.ndarray)):
            raise InputError(f"categories must be a number or a list of values, got {shown(values)}")
        listed = tuple(values)
        if len(listed) < 2 or len({str(value) for value in listed}) < len(listed):
            raise InputError(f"categories must be two different values or more, got {shown(list(listed))}")
        object.__setattr__(self, "values", listed)

    @property
    def domain(self) -> Box:  # type: ignore[override]
        """Returns the box of places in the list."""
        return Box(0.0, len(self.values) - 1.0, (1,))

    integer = True

    def given(self, points: Tensor) -> Sequence[Any]:
        return [self.values[place] for place in points.reshape(-1).round().long().tolist()]

    def together(self, points: Tensor) -> npt.NDArray[Any]:
        return np.array(self.given(points))

    @property
    def record(self) -> str:
        """Returns what a record is, in words."""
        return f"one of {len(self.values)} categories, {shown(self.values[0])} to {shown(self.values[-1])}"

    def __str__(self) -> str:
        return f"{len(self.values)} categories"


@dataclass(frozen=True)
class Column:
    """One column of a table: real numbers, whole numbers or values of a list.

    Attributes:
        low, high: its ends, where it holds numbers.
        whole: whether these are whole numbers.
        values: its values, where it holds those of a list.
    """

    low: float = 0.0
    high: float = 1.0
    whole: bool = False
    values: tuple[Any, ...] = ()

    @classmethod
    def of(cls, name: str, kind: object) -> Column:
        """Builds the column that a pair of ends, a range or a list of values describes."""
        if isinstance(kind, Column):
            return kind
        if isinstance(kind, range):
            if len(kind) < 2 or kind.step != 1:
                raise InputError(f"column {name!r} must be a range of two whole numbers or more, got {shown(kind)}")
            return cls(float(kind.start), float(kind.stop - 1), whole=True)
        if isinstance(kind, tuple) and len(kind) == 2 and not any(isinstance(end, str) for end in kind):
            low, high = (check_real(f"end of the column {name!r}", end) for end in kind)
            if not low < high:
                raise InputError(f"column {name!r} needs low < high, got {low:g} and {high:g}")
            return cls(low, high)
        if isinstance(kind, (list, tuple)) and len(kind) >= 2 and len(set(map(str, kind))) == len(kind):
            return cls(values=tuple(kind))
        raise InputError(
            f"column {name!r} must be two ends (0.0, 1.0), a range(0, 121) or a list of different values, "
            f"got {shown(kind)}"
        )

    @property
    def steps(self) -> int:
        """Returns the number of steps between its values, 0 for real numbers."""
        return len(self.values) - 1 if self.values else round(self.high - self.low) if self.whole else 0

    def cells(self, share: npt.NDArray[np.float64]) -> list[Any]:
        """Returns its values at shares in [0, 1] of the way from the first one to the last."""
        if self.values:
            return [self.values[place] for place in np.rint(share * self.steps).astype(int).tolist()]
        if self.whole:
            return [int(self.low) + step for step in np.rint(share * self.steps).astype(int).tolist()]
        cells: list[Any] = (self.low + share * (self.high - self.low)).tolist()
        return cells


@dataclass(frozen=True, init=False)
class Rows(Records):
    """Rows of a table: `Rows(age=range(0, 121), income=(0.0, 1e5), kind=["a", "b"])`.

    A function of one record is given a dictionary, and one of a batch a pandas DataFrame.
    """

    columns: Mapping[str, Column] = field(default_factory=dict)

    def __init__(self, **columns: object) -> None:
        if not columns:
            raise InputError("rows need a column or more")
        object.__setattr__(self, "columns", {name: Column.of(name, kind) for name, kind in columns.items()})

    @property
    def domain(self) -> Box:  # type: ignore[override]
        """Returns the unit cube: in each column the share of the way from its first value to its last."""
        return Box(0.0, 1.0, (len(self.columns),))

    def _cells(self, points: Tensor) -> dict[str, list[Any]]:
        shares = points.double().reshape(-1, len(self.columns)).numpy()
        return {name: column.cells(shares[:, place]) for place, (name, column) in enumerate(self.columns.items())}

    def given(self, points: Tensor) -> Sequence[Any]:
        cells = self._cells(points)
        return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]

    def together(self, points: Tensor) -> Any:
        import pandas

        return pandas.DataFrame(self._cells(points))

    def nearest(self, points: Tensor) -> Tensor:
        inside = points.clamp(0.0, 1.0)
        for place, column in enumerate(self.columns.values()):
            if column.steps:
                inside[:, place] = (inside[:, place] * column.steps).round() / column.steps
        return inside

    def pairs(self) -> Iterator[tuple[str, Tensor, Tensor]]:
        """Yields for each value of each listed column the row that has it, beside the one with the last value."""
        for place, (name, column) in enumerate(self.columns.items()):
            if 0 < column.steps < FEW:
                for step in range(column.steps):
                    x = torch.full((len(self.columns),), 0.5, dtype=torch.float64)
                    x_prime = x.clone()
                    x[place], x_prime[place] = step / column.steps, 1.0
                    yield f"{name} = {column.cells(np.array([step / column.steps]))[0]} and the last", x, x_prime

    @property
    def record(self) -> str:
        """Returns what a record is, in words."""
        return f"a row of {', '.join(self.columns)}"

    def __str__(self) -> str:
        return f"rows of {', '.join(self.columns)}"


def records_of(domain: Domain | Records) -> Records:
    """Returns the kind of records: numbers where only a box or a ball is given.

    Raises:
        InputError: if it is something else.
    """
    if isinstance(domain, Records):
        return domain
    if not isinstance(domain, Domain):
        raise InputError(f"domain must be a Box, a Ball, Numbers, Categories or Rows, got {shown(domain)}")
    return Numbers(domain)
