"""Statistics of whole numbers: single bits and residues, an exact property of releases on a grid.

Whole numbers of steps have bits and remainders over the ideal reals as well: a record that they give away is no matter
of floating point.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch

from tensorldp.check.distinguishers.base import Columns, Distinguisher, Reals, Scene

Whole = npt.NDArray[np.int64]
Seen = npt.NDArray[Any]
MODULI = (3, 5, 7, 10, 16)
STEPS = 1 << 20  # of a grid whose step is no power of two, from end to end at most
ROOM = 1 << 10  # roundings that such a step is larger than
SOME = 512  # values that a step is looked for in
SLACK = 0.02  # of a step: how far from a point of the grid a number may lie


@dataclass(frozen=True)
class Grid:
    """start + k step for all whole numbers k."""

    start: float = 0.0
    step: float = 1.0

    def index(self, values: Seen) -> Whole:
        """k of the nearest point; numbers that are whole by their type are their own index."""
        if values.dtype == np.int64:
            return values
        return np.rint((values - self.start) / self.step).clip(-(2.0**62), 2.0**62).astype(np.int64)


@dataclass(frozen=True)
class Residues(Distinguisher):
    """The bits that differ most and residues of elements on a grid, of a few alone, of many together and of their sum.

    Attributes:
        places: elements that are looked at alone.
        together: elements that are looked at together.
        bits: that are kept of each.
    """

    exact: ClassVar[bool] = True
    places: int = 4
    together: int = 16
    bits: int = 3

    def statistics(self, scene: Scene, mine: Seen, other: Seen) -> Columns:
        if scene.x is None or scene.x_prime is None:
            order = np.unique(np.linspace(0, mine.shape[1] - 1, min(self.together, mine.shape[1])).astype(np.int64))
        else:
            order = np.argsort(-np.abs(scene.x - scene.x_prime), kind="stable")[: self.together]
        grids = {}
        for place in order.tolist():
            grid = grid_of(np.concatenate((mine[:, place], other[:, place])), scene.dtype)
            if grid is not None:
                grids[place] = grid
        found: Columns = {}
        for place, grid in list(grids.items())[: self.places]:
            for bit in _differing(grid.index(mine[:, place]), grid.index(other[:, place]), self.bits):
                found[f"bit {bit} of element {place}"] = partial(_bit, place, grid, bit)
        for modulus in (2, *MODULI):
            tables = {place: _ratios(mine, other, place, grid, modulus) for place, grid in grids.items()}
            if modulus != 2:
                for place in list(tables)[: self.places]:
                    found[f"element {place} modulo {modulus}"] = partial(_score, {place: tables[place]}, grids, modulus)
            if len(tables) > 1:
                found[f"elements modulo {modulus}"] = partial(_score, tables, grids, modulus)
        if len(grids) > 1:
            found["parity of the sum"] = partial(_parity, grids)
        return found


def grid_of(values: Seen, dtype: torch.dtype) -> Grid | None:
    """The grid on which all the values lie, if there is one that their floats have no part in.

    Floats lie on a grid in any case, that of their last bits. So a step that is a power of two must leave bits of the
    mantissa free, and another one be far from the rounding of the largest value.

    Args:
        values: that are looked at.
        dtype: the format of floats.
    """
    if values.dtype == np.int64:
        return Grid()
    some = np.unique(values[np.linspace(0, len(values) - 1, min(SOME, len(values))).astype(np.int64)])
    largest = float(np.abs(values).max())
    if some.size < 2 or not 1e-290 < largest < 1e29:  # infinities count as 1e30
        return None
    mantissa = round(-math.log2(torch.finfo(dtype).eps))
    if dtype == torch.float64 and bool((values.astype(np.float32) == values).all()):
        mantissa = 23  # computed in float32, for all one knows
    step = _unit(values)
    if largest / step < 2.0**mantissa:
        return Grid(0.0, step)
    return _common_step(values, some, largest * 2.0**-mantissa)


def _unit(values: Reals) -> float:
    """The largest power of two that all values are multiples of."""
    fraction, exponent = np.frexp(values[values != 0.0])
    digits = np.ldexp(fraction, 53).astype(np.int64)
    return float(np.ldexp((digits & -digits).astype(np.float64), exponent - 53).min())


def _common_step(values: Reals, some: Reals, rounding: float) -> Grid | None:
    """The largest step that all differences are whole multiples of, up to rounding: Euclid's algorithm."""
    differences = some[1:] - some[0]
    span = float(differences[-1])
    step = float(np.diff(some).min())
    least = max(ROOM * rounding, span / STEPS)
    while step > least:
        step = span / max(1.0, round(span / step))  # the longest difference has the least relative error
        rest = np.abs(differences - np.rint(differences / step) * step)
        beside = rest[rest > SLACK * step]
        if not beside.size:
            steps = (values - some[0]) / step
            return Grid(float(some[0]), step) if bool((np.abs(steps - np.rint(steps)) <= SLACK).all()) else None
        step = float(beside.min())
    return None


def _differing(mine: Whole, other: Whole, kept: int) -> list[int]:
    """The bits whose frequencies differ most."""
    shares = [[float(((side >> bit) & 1).mean()) for bit in range(63)] for side in (mine, other)]
    change = np.abs(np.array(shares[0]) - np.array(shares[1]))
    return [bit for bit in np.argsort(-change, kind="stable")[:kept].tolist() if change[bit] > 0.0]


def _bit(place: int, grid: Grid, bit: int, y: Seen) -> Reals:
    return np.asarray((grid.index(y[:, place]) >> bit) & 1, dtype=np.float64)


def _ratios(mine: Seen, other: Seen, place: int, grid: Grid, modulus: int) -> Reals:
    """The log ratio of how often each residue came up under x and under x'."""
    counts = [np.bincount(grid.index(side[:, place]) % modulus, minlength=modulus) for side in (mine, other)]
    return np.asarray(np.log((counts[0] + 0.5) / (counts[1] + 0.5)))


def _score(tables: dict[int, Reals], grids: dict[int, Grid], modulus: int, y: Seen) -> Reals:
    return np.asarray(sum(table[grids[place].index(y[:, place]) % modulus] for place, table in tables.items()))


def _parity(grids: dict[int, Grid], y: Seen) -> Reals:
    return np.asarray(sum(grid.index(y[:, place]) for place, grid in grids.items()) & 1, dtype=np.float64)
