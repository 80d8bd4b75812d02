"""Statistics of which values occur: atoms, equalities, ties and repeated values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tensorldp.check.distinguishers.base import Columns, Distinguisher, Reals, Scene

Seen = npt.NDArray[Any]
CLOSE = 1e-9  # of the domain's width: values nearer than that count as equal
REPEATS = 0.99  # share of distinct values below which a coordinate counts as discrete
PLACES = 16


@dataclass(frozen=True)
class Atoms(Distinguisher):
    """How many elements equal those of x, those of x', an end of the domain, zero, or each other."""

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        width = CLOSE * (scene.high - scene.low)
        found: Columns = {}
        for name, value in (("the low end", scene.low), ("the high end", scene.high), ("zero", 0.0)):
            found[f"elements equal to {name}"] = partial(_equal, value, width)
        if mine.shape[1] > 1:
            found["distinct elements"] = _distinct
        if scene.x is not None and scene.x_prime is not None:
            x, x_prime = scene.x, scene.x_prime
            differs = x != x_prime
            found["elements equal to those of x"] = partial(_equal_where, x, differs, width)
            found["elements equal to those of x'"] = partial(_equal_where, x_prime, differs, width)
            found["elements equal to x less those equal to x'"] = lambda y: (
                _equal_where(x, differs, width, y) - _equal_where(x_prime, differs, width, y)
            )
        return found


def _equal(value: float, width: float, y: Reals) -> Reals:
    return np.asarray((np.abs(y - value) <= width).sum(axis=1), dtype=np.float64)


def _equal_where(record: Reals, differs: npt.NDArray[np.bool_], width: float, y: Reals) -> Reals:
    return np.asarray((np.abs(y - record) <= width)[:, differs].sum(axis=1), dtype=np.float64)


def _distinct(y: Reals) -> Reals:
    ordered = np.sort(y, axis=1)
    return np.asarray(1.0 + (np.diff(ordered, axis=1) != 0.0).sum(axis=1))


@dataclass(frozen=True)
class Repeats(Distinguisher):
    """Whether values came up under x or under x' before: a log ratio for each value, summed over coordinates.

    Only coordinates with repeated values take part, and whole releases where those repeat.
    """

    exact: ClassVar[bool] = True

    def statistics(self, scene: Scene, mine: Seen, other: Seen) -> Columns:
        found: Columns = {}
        tables: list[tuple[int, Seen, Reals]] = []
        step = max(1, mine.shape[1] // PLACES)
        for place in range(0, mine.shape[1], step):
            table = log_ratios(mine[:, place], other[:, place])
            if table is not None:
                tables.append((place, *table))
        for place, values, ratios in tables[:4]:
            found[f"value of element {place}"] = partial(_looked_up, [(place, values, ratios)])
        if len(tables) > 1:
            found["values of all elements"] = partial(_looked_up, tables)
        if mine.shape[1] > 1 and len(tables) == len(range(0, mine.shape[1], step)):
            source = np.random.default_rng(0)
            if mine.dtype == np.int64:  # odd numbers modulo 2^64, which lose nothing
                weights: Seen = np.asarray(source.integers(2**62, size=mine.shape[1]) * 2 + 1)
            else:
                weights = np.asarray(source.standard_normal(mine.shape[1]))
            whole = log_ratios(mine @ weights, other @ weights)
            if whole is not None:
                found["the whole release"] = lambda y: lookup(y @ weights, *whole)
        return found


def log_ratios(mine: Seen, other: Seen) -> tuple[Seen, Reals] | None:
    """The distinct values and the log ratio of their counts, or None where values hardly repeat."""
    values, place = np.unique(_twelve(np.concatenate((mine, other))), return_inverse=True)
    if values.size < 2 or values.size > REPEATS * place.size:
        return None
    place = place.reshape(-1)
    first = np.bincount(place[: mine.size], minlength=values.size)
    second = np.bincount(place[mine.size :], minlength=values.size)
    return values, np.log((first + 0.5) / (second + 0.5)).astype(np.float64)


def lookup(y: Seen, values: Seen, ratios: Reals) -> Reals:
    """The ratio of each value, 0 for one that did not come up before."""
    y = _twelve(y)
    at = np.searchsorted(values, y).clip(0, values.size - 1)
    return np.where(values[at] == y, ratios[at], 0.0)


def _twelve(values: Seen) -> Seen:
    """Floats to twelve digits behind the point, whole numbers as they are."""
    return values if values.dtype == np.int64 else np.round(values, 12)


def _looked_up(tables: list[tuple[int, Seen, Reals]], y: Seen) -> Reals:
    return np.asarray(sum(lookup(y[:, place], values, ratios) for place, values, ratios in tables))
