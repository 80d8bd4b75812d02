"""Statistics of a release that may tell two records apart, either fixed or learned from releases set aside for that."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from scipy import linalg

from tensorldp.audit.thresholds import Reals

Whole = npt.NDArray[np.int64]
Observations = npt.NDArray[Any]
"""Observations (n, columns), int64 where a release is whole by its type and else float64."""
Statistic = Callable[[Observations], Reals]
Columns = dict[str, Statistic]
TINY = 1e-300  # added to arguments of logarithms


@dataclass(frozen=True)
class Scene:
    """What an observer knows besides the observations.

    Attributes:
        x, x_prime: the two observations without noise, flat; None where a release has another size than a record.
        low, high: the ends of the domain.
        dtype: the type of the releases.
        likelihood: the mechanism's own log likelihood ratio of observations, if it declares one.
    """

    x: Reals | None
    x_prime: Reals | None
    low: float
    high: float
    dtype: torch.dtype = torch.float64
    likelihood: Statistic | None = None


class Distinguisher(ABC):
    """A family of statistics. What it learns, it learns from releases that no test uses.

    Attributes:
        exact: whether it takes releases of an integer type as int64; above 2^53 these are not floats.
        raw: whether it takes floats that are not finite as they are.
    """

    exact: ClassVar[bool] = False
    raw: ClassVar[bool] = False

    @abstractmethod
    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        """Returns statistics by name, each from observations (n, D) to (n,).

        Args:
            scene: what the observer knows.
            mine: observations (n, D) of x to learn from.
            other: as many of x'.
        """


CLOSE = 1e-9  # of the domain's width: values nearer than that count as equal
REPEATS, OFTEN = 0.99, 3  # share of distinct values below which a coordinate is discrete; or how often one value occurs
PLACES = 16


class Atoms(Distinguisher):
    """Counts elements that equal those of x, those of x', an end of the domain, zero, or each other."""

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        width = CLOSE * (scene.high - scene.low)
        columns: Columns = {}
        for name, value in (("the low end", scene.low), ("the high end", scene.high), ("zero", 0.0)):
            columns[f"elements equal to {name}"] = partial(_equal, value, width)
        if mine.shape[1] > 1:
            columns["distinct elements"] = lambda y: 1.0 + (np.diff(np.sort(y, axis=1), axis=1) != 0.0).sum(axis=1)
        if scene.x is not None and scene.x_prime is not None:
            x, x_prime = scene.x, scene.x_prime
            differs = x != x_prime
            columns["elements equal to those of x"] = partial(_equal_where, x, differs, width)
            columns["elements equal to those of x'"] = partial(_equal_where, x_prime, differs, width)
            columns["elements equal to x less those equal to x'"] = lambda y: (
                _equal_where(x, differs, width, y) - _equal_where(x_prime, differs, width, y)
            )
        return columns


def _equal(value: float, width: float, y: Reals) -> Reals:
    return np.asarray((np.abs(y - value) <= width).sum(axis=1), dtype=np.float64)


def _equal_where(record: Reals, differs: npt.NDArray[np.bool_], width: float, y: Reals) -> Reals:
    return np.asarray((np.abs(y - record) <= width)[:, differs].sum(axis=1), dtype=np.float64)


class Repeats(Distinguisher):
    """Scores values by how often they occurred under x and x' before: log ratios, summed over coordinates.

    Only coordinates with repeated values take part, and whole releases where those repeat.
    """

    exact: ClassVar[bool] = True

    def statistics(self, scene: Scene, mine: Observations, other: Observations) -> Columns:
        columns: Columns = {}
        tables: list[Table] = []
        step = max(1, mine.shape[1] // PLACES)
        for place in range(0, mine.shape[1], step):
            ratios = repeated_ratios(mine[:, place], other[:, place])
            if ratios is not None:
                tables.append((place, *ratios))
        for table in tables[:4]:
            columns[f"value of element {table[0]}"] = partial(_looked_up, [table], _twelve)
        if len(tables) > 1:
            columns["values of all elements"] = partial(_looked_up, tables, _twelve)
        if mine.shape[1] > 1 and len(tables) == len(range(0, mine.shape[1], step)):
            source = np.random.default_rng(0)
            if mine.dtype == np.int64:  # odd numbers modulo 2^64, which lose nothing
                weights: Observations = np.asarray(source.integers(2**62, size=mine.shape[1]) * 2 + 1)
            else:
                weights = np.asarray(source.standard_normal(mine.shape[1]))
            whole = repeated_ratios(mine @ weights, other @ weights)
            if whole is not None:
                columns["the whole release"] = lambda y: lookup(_twelve(y @ weights), *whole)
        return columns


Table = tuple[int, Observations, Reals]
"""An element's place, values that it had, and the log ratio of how often under x and under x'."""


def repeated_ratios(mine: Observations, other: Observations) -> tuple[Observations, Reals] | None:
    """Computes `log_ratios` of values to twelve digits, or None where they hardly repeat and no value is frequent."""
    mine, other = _twelve(mine), _twelve(other)
    values, ratios = log_ratios(mine, other)
    both = np.sort(np.concatenate((mine, other)))
    rare = values.size > REPEATS * both.size and not (both[OFTEN - 1 :] == both[: 1 - OFTEN]).any()
    return None if values.size < 2 or rare else (values, ratios)


def log_ratios(mine: Observations, other: Observations) -> tuple[Observations, Reals]:
    """Computes the distinct values and the log ratios of their counts."""
    values, place = np.unique(np.concatenate((mine, other)), return_inverse=True)
    place = place.reshape(-1)
    first = np.bincount(place[: mine.size], minlength=values.size)
    second = np.bincount(place[mine.size :], minlength=values.size)
    return values, np.log((first + 0.5) / (second + 0.5))


def lookup(y: Observations, values: Observations, ratios: Reals) -> Reals:
    """Returns the ratio of each value, 0 for one that did not occur before."""
    at = np.searchsorted(values, y).clip(0, values.size - 1)
    return np.where(values[at] == y, ratios[at], 0.0)


def _looked_up(tables: list[Table], transform: Callable[[Observations], Observations], y: Observations) -> Reals:
    return np.asarray(sum(lookup(transform(y[:, place]), values, ratios) for place, values, ratios in tables))


def _twelve(values: Observations) -> Observations:
    """Rounds floats to twelve digits behind the point; whole numbers stay as they are."""
    return values if values.dtype == np.int64 else np.round(values, 12)


LOW_BITS = 4


@dataclass(frozen=True)
class Floats(Distinguisher):
    """Sign, exponent and granularity (trailing zeros) of elements, their lowest bits, single bits, and exact repeats.

    Attributes:
        places: elements that are looked at.
        kept: how many bits of each are looked at alone: those that differ most.
    """

    places: int = 4
    kept: int = 3

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        if scene.x is None or scene.x_prime is None:
            places = np.arange(min(self.places, mine.shape[1]))
        else:
            places = np.argsort(-np.abs(scene.x - scene.x_prime), kind="stable")[: self.places]
        columns: Columns = {}
        for code, name in ((grain, "exponent and granularity"), (lowest, "sign, exponent and last bits")):
            transform = partial(code, dtype=scene.dtype)
            tables: list[Table] = [
                (place, *log_ratios(transform(mine[:, place]), transform(other[:, place]))) for place in places.tolist()
            ]
            for table in tables:
                columns[f"{name} of element {table[0]}"] = partial(_looked_up, [table], transform)
            if len(tables) > 1:
                columns[f"{name} of {len(tables)} elements"] = partial(_looked_up, tables, transform)
        for place in places.tolist():
            first, second = (np.ascontiguousarray(side[:, place]).view(np.int64) for side in (mine, other))
            for bit in _differing_bits(first, second, self.kept):
                columns[f"bit {bit} of element {place}"] = partial(_raw_bit, place, bit)
            columns[f"multiple of 2^k of element {place}"] = partial(_unit, place, scene.dtype)
            if scene.x is not None and scene.x_prime is not None:
                columns[f"element {place} equals that of x"] = partial(_equals, place, float(scene.x[place]))
        return columns


def pattern(values: Reals, dtype: torch.dtype) -> tuple[Whole, int]:
    """Returns the bits of values that are numbers of the format, and how many of them belong to the mantissa.

    The exponent has the width that float64 has, in which every number of the other formats is a normal one.
    """
    mantissa = round(-math.log2(torch.finfo(dtype).eps))
    return np.ascontiguousarray(values).view(np.int64) >> (52 - mantissa), mantissa


def _trailing_zeros(bits: Whole, mantissa: int) -> Whole:
    below = bits & ((1 << mantissa) - 1)
    return np.where(below == 0, mantissa, np.log2(np.maximum(below & -below, 1)).astype(np.int64))


def grain(values: Reals, dtype: torch.dtype) -> Whole:
    """Computes a code for sign, exponent and number of trailing zeros of the mantissa."""
    bits, mantissa = pattern(values, dtype)
    return (bits >> mantissa) * 64 + _trailing_zeros(bits, mantissa)


def lowest(values: Reals, dtype: torch.dtype) -> Whole:
    """Computes a code for sign, exponent and the last bits of the mantissa."""
    bits, mantissa = pattern(values, dtype)
    return (bits >> mantissa) * (1 << LOW_BITS) + (bits & ((1 << LOW_BITS) - 1))


def _unit(place: int, dtype: torch.dtype, y: Reals) -> Reals:
    """Computes k of the largest 2^k that the element is a multiple of."""
    bits, mantissa = pattern(y[:, place], dtype)
    _, exponent = np.frexp(y[:, place])
    return np.asarray(exponent - 1 - mantissa + _trailing_zeros(bits, mantissa), dtype=np.float64)


@dataclass(frozen=True)
class NotFinite(Distinguisher):
    """All bits of elements that are not finite, NaN's sign and payload included, and the bits that differ most.

    Attributes:
        places: elements that are looked at.
        kept: how many bits of each are looked at alone.
    """

    raw: ClassVar[bool] = True
    places: int = 4
    kept: int = 3

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        columns: Columns = {}
        strange = (~np.isfinite(mine)).sum(axis=0) + (~np.isfinite(other)).sum(axis=0)
        for place in np.argsort(-strange, kind="stable")[: self.places].tolist():
            if not strange[place]:
                break
            bits, others = _bits_not_finite(mine[:, place]), _bits_not_finite(other[:, place])
            table: Table = (place, *log_ratios(bits, others))
            columns[f"bits of element {place} where not finite"] = partial(_looked_up, [table], _bits_not_finite)
            for bit in _differing_bits(bits, others, self.kept):
                columns[f"bit {bit} of element {place} where not finite"] = partial(_bit_not_finite, place, bit)
        return columns


def _bits_not_finite(values: Reals) -> Whole:
    """Returns the bits of what is not finite, and 0 for any number."""
    bits = np.ascontiguousarray(values).view(np.int64)
    return np.where(np.isfinite(values), 0, bits)


def _bit_not_finite(place: int, bit: int, y: Reals) -> Reals:
    return np.asarray((_bits_not_finite(y[:, place]) >> bit) & 1, dtype=np.float64)


def _raw_bit(place: int, bit: int, y: Reals) -> Reals:
    return np.asarray((np.ascontiguousarray(y[:, place]).view(np.int64) >> bit) & 1, dtype=np.float64)


def _equals(place: int, value: float, y: Reals) -> Reals:
    return np.asarray(y[:, place] == value, dtype=np.float64)


MODULI = (3, 5, 7, 10, 16)  # besides 2, by which whole numbers are divided for their residues
MOST_GRID_STEPS = 1 << 20  # of a grid whose step is not a power of two, from end to end
STEP_ROUNDINGS = 1 << 10  # such a step is larger than this many roundings
SEARCHED_VALUES = 512  # values in which a step is searched
SLACK = 0.02  # of a step: how far from a point of the grid a number may lie


@dataclass(frozen=True)
class Grid:
    """start + k step for all whole numbers k."""

    start: float = 0.0
    step: float = 1.0

    def index(self, values: Observations) -> Whole:
        """Computes k of the nearest point; numbers of an integer type are their own index."""
        if values.dtype == np.int64:
            return values
        return np.rint((values - self.start) / self.step).clip(-(2.0**62), 2.0**62).astype(np.int64)


@dataclass(frozen=True)
class Residues(Distinguisher):
    """The bits that differ most and residues of elements on a grid, of a few alone, of many together and of their sum.

    Whole numbers of steps have bits and remainders over the ideal reals too, so a record that they give away is not an
    issue of floating point.

    Attributes:
        places: elements that are examined alone.
        together: elements that are examined together.
        bits: how many bits of each are kept.
    """

    exact: ClassVar[bool] = True
    places: int = 4
    together: int = 16
    bits: int = 3

    def statistics(self, scene: Scene, mine: Observations, other: Observations) -> Columns:
        if scene.x is None or scene.x_prime is None:
            order = np.unique(np.linspace(0, mine.shape[1] - 1, min(self.together, mine.shape[1])).astype(np.int64))
        else:
            order = np.argsort(-np.abs(scene.x - scene.x_prime), kind="stable")[: self.together]
        grids = {}
        for place in order.tolist():
            grid = grid_of(np.concatenate((mine[:, place], other[:, place])), scene.dtype)
            if grid is not None:
                grids[place] = grid
        columns: Columns = {}
        for place, grid in list(grids.items())[: self.places]:
            for bit in _differing_bits(grid.index(mine[:, place]), grid.index(other[:, place]), self.bits):
                columns[f"bit {bit} of element {place}"] = partial(_bit, place, grid, bit)
        for modulus in (2, *MODULI):
            tables = {place: _residue_ratios(mine, other, place, grid, modulus) for place, grid in grids.items()}
            if modulus != 2:
                for place in list(tables)[: self.places]:
                    columns[f"element {place} modulo {modulus}"] = partial(
                        _residue_score, {place: tables[place]}, grids, modulus
                    )
            if len(tables) > 1:
                columns[f"elements modulo {modulus}"] = partial(_residue_score, tables, grids, modulus)
        if len(grids) > 1:
            columns["parity of the sum"] = partial(_parity, grids)
        return columns


def grid_of(values: Observations, dtype: torch.dtype) -> Grid | None:
    """Finds the grid on which all the values lie, if there is one that their floats have no part in.

    Floats lie on a grid in any case, that of their last bits. So a step that is a power of two must leave bits of the
    mantissa free, and another one be far from the rounding of the largest value.

    Args:
        values: that are looked at.
        dtype: the format of floats.
    """
    if values.dtype == np.int64:
        return Grid()
    some = np.unique(values[np.linspace(0, len(values) - 1, min(SEARCHED_VALUES, len(values))).astype(np.int64)])
    largest = float(np.abs(values).max())
    if some.size < 2 or not 1e-290 < largest < 1e29:  # infinities count as 1e30
        return None
    mantissa = round(-math.log2(torch.finfo(dtype).eps))
    if dtype == torch.float64 and bool((values.astype(np.float32) == values).all()):
        mantissa = 23  # possibly computed in float32
    step = _residue_unit(values)
    if largest / step < 2.0**mantissa:
        return Grid(0.0, step)
    return _common_step(values, some, largest * 2.0**-mantissa)


def _residue_unit(values: Reals) -> float:
    """Computes the largest power of two that all values are multiples of."""
    fraction, exponent = np.frexp(values[values != 0.0])
    digits = np.ldexp(fraction, 53).astype(np.int64)
    return float(np.ldexp((digits & -digits).astype(np.float64), exponent - 53).min())


def _common_step(values: Reals, some: Reals, rounding: float) -> Grid | None:
    """Computes the largest step that all differences are multiples of, up to rounding: Euclid's algorithm."""
    differences = some[1:] - some[0]
    span = float(differences[-1])
    step = float(np.diff(some).min())
    least = max(STEP_ROUNDINGS * rounding, span / MOST_GRID_STEPS)
    while step > least:
        step = span / max(1.0, round(span / step))  # the longest difference has the least relative error
        rest = np.abs(differences - np.rint(differences / step) * step)
        beside = rest[rest > SLACK * step]
        if not beside.size:
            steps = (values - some[0]) / step
            return Grid(float(some[0]), step) if bool((np.abs(steps - np.rint(steps)) <= SLACK).all()) else None
        step = float(beside.min())
    return None


def _differing_bits(mine: Whole, other: Whole, kept: int) -> list[int]:
    """Returns the bits whose frequencies differ most."""
    shares = [[float(((side >> bit) & 1).mean()) for bit in range(63)] for side in (mine, other)]
    change = np.abs(np.array(shares[0]) - np.array(shares[1]))
    return [bit for bit in np.argsort(-change, kind="stable")[:kept].tolist() if change[bit] > 0.0]


def _bit(place: int, grid: Grid, bit: int, y: Observations) -> Reals:
    return np.asarray((grid.index(y[:, place]) >> bit) & 1, dtype=np.float64)


def _residue_ratios(mine: Observations, other: Observations, place: int, grid: Grid, modulus: int) -> Reals:
    """Computes the log ratio of how often each residue came up under x and under x'."""
    counts = [np.bincount(grid.index(side[:, place]) % modulus, minlength=modulus) for side in (mine, other)]
    return np.asarray(np.log((counts[0] + 0.5) / (counts[1] + 0.5)))


def _residue_score(tables: dict[int, Reals], grids: dict[int, Grid], modulus: int, y: Observations) -> Reals:
    return np.asarray(sum(table[grids[place].index(y[:, place]) % modulus] for place, table in tables.items()))


def _parity(grids: dict[int, Grid], y: Observations) -> Reals:
    return np.asarray(sum(grid.index(y[:, place]) for place, grid in grids.items()) & 1, dtype=np.float64)


class Likelihood(Distinguisher):
    """The likelihood ratio that the mechanism itself declares."""

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        return {} if scene.likelihood is None else {"declared likelihood ratio": scene.likelihood}


class Distances(Distinguisher):
    """Computes how much nearer a release lies to x than to x', in several norms, and how near to each."""

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        if scene.x is None or scene.x_prime is None:
            return {}
        x, x_prime = scene.x, scene.x_prime
        change = x - x_prime
        norm = float(np.linalg.norm(change))
        columns: Columns = {
            "sum of |y - x'| - |y - x|": lambda y: (np.abs(y - x_prime) - np.abs(y - x)).sum(axis=1),
            "log distance to x": lambda y: np.log(np.abs(y - x).max(axis=1) + TINY),
            "log distance to x'": lambda y: np.log(np.abs(y - x_prime).max(axis=1) + TINY),
            "nearest element to x": lambda y: np.log(np.abs(y - x).min(axis=1) + TINY),
            "nearest element to x'": lambda y: np.log(np.abs(y - x_prime).min(axis=1) + TINY),
        }
        if norm > 0.0:
            columns["projection on x - x'"] = lambda y: (y - x_prime) @ (change / norm)
        if x.size > 1:
            columns["spread of y - x"] = lambda y: np.log((y - x).std(axis=1) + TINY)
            columns["spread of y - x'"] = lambda y: np.log((y - x_prime).std(axis=1) + TINY)
        return columns


class Shapes(Distinguisher):
    """Norm, sum, extremes, spread and order of a release."""

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        middle = (scene.low + scene.high) / 2.0
        columns: Columns = {"norm about the centre": lambda y: np.linalg.norm(y - middle, axis=1)}
        if mine.shape[1] > 1:
            columns |= {
                "sum": lambda y: y.sum(axis=1),
                "norm": lambda y: np.linalg.norm(y, axis=1),
                "largest element": lambda y: y.max(axis=1),
                "least element": lambda y: y.min(axis=1),
                "spread": lambda y: np.log(y.std(axis=1) + TINY),
                "place of the largest": lambda y: y.argmax(axis=1).astype(np.float64),
                "place of the least": lambda y: y.argmin(axis=1).astype(np.float64),
                "roughness": lambda y: np.abs(np.diff(y, axis=1)).sum(axis=1),
                "smallest step": lambda y: np.log(np.abs(np.diff(y, axis=1)).min(axis=1) + TINY),
            }
        return columns


@dataclass(frozen=True)
class Coordinates(Distinguisher):
    """Single coordinates, those that differ most in mean or in spread: all are examined, a few are kept.

    Attributes:
        kept: how many by each criterion.
    """

    kept: int = 5

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        columns: Columns = {}
        middle = np.median(np.concatenate((mine, other)), axis=0)
        for place in chosen(mine, other, self.kept):
            columns[f"element {place}"] = partial(_element, int(place))
            columns[f"element {place}, from its median"] = partial(_deviation, int(place), float(middle[place]))
        return columns


class Centres(Distinguisher):
    """Computes how much nearer a release lies to the medians of the one record's releases than to the other's.

    The medians are learned, so a release may lie in other coordinates than its record. Columns whose medians differ by
    less than a standard error are left out.
    """

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        first, second = (np.median(side, axis=0) for side in (mine, other))
        spread = (np.abs(mine - first).mean(axis=0) + np.abs(other - second).mean(axis=0)) / 2.0
        places = np.flatnonzero(np.abs(first - second) > spread * math.sqrt(2.0 / len(mine)))
        if places.size < 2 or not (spread[places] > 0.0).all():
            return {}
        return {"nearness to the medians": partial(_nearer, places, first[places], second[places], spread[places])}


def _nearer(places: Whole, first: Reals, second: Reals, spread: Reals, y: Reals) -> Reals:
    y = y[:, places]
    return np.asarray(((np.abs(y - second) - np.abs(y - first)) / spread).sum(axis=1))


def chosen(mine: Reals, other: Reals, kept: int) -> list[int]:
    """Returns the coordinates that differ most: in mean, in log deviation from the median, in extremes."""
    places: dict[int, None] = {}
    middle = np.median(np.concatenate((mine, other)), axis=0)
    sizes = [np.log(np.abs(y - middle) + TINY) for y in (mine, other)]
    for first, second in ((mine, other), (sizes[0], sizes[1])):
        error = np.sqrt((first.var(axis=0) + second.var(axis=0)) / len(mine)) + TINY
        score = np.abs(first.mean(axis=0) - second.mean(axis=0)) / error
        places |= dict.fromkeys(np.argsort(-score, kind="stable")[:kept].tolist())
    return list(places)


def _element(place: int, y: Reals) -> Reals:
    return y[:, place]


def _deviation(place: int, middle: float, y: Reals) -> Reals:
    return np.asarray(np.log(np.abs(y[:, place] - middle) + TINY))


@dataclass(frozen=True)
class Kernel(Distinguisher):
    """The Fisher discriminant of a kernel's features, regularized [harchaoui2007].

    The kernel is a mixture of Gaussian kernels of many widths, by random Fourier features [rahimi2007]. Elements are
    centred at their medians, scaled and squashed first, so that heavy tails do no harm.

    Attributes:
        width: coordinates that take part, at most.
        features: random frequencies, with a sine and a cosine each.
        most: the most releases of each record that it is trained on.
        ridge: the ridge of the discriminant, in mean eigenvalues of the features' covariance.
    """

    width: int = 16
    features: int = 128
    most: int = 4096
    ridge: float = 0.03

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        mine, other = mine[: self.most], other[: self.most]
        places = np.array(sorted(chosen(mine, other, self.width // 2)))
        both = np.concatenate((mine, other))[:, places]
        middle = np.median(both, axis=0)
        spread = np.median(np.abs(both - middle), axis=0)
        for instead in (both.std(axis=0), 1.0):  # of elements that are mostly, or always, the same number
            spread = np.where(spread > 0.0, spread, instead)
        source = np.random.default_rng(0)
        frequencies = source.standard_normal((places.size, self.features))
        frequencies *= source.uniform(0.5, 4.0, self.features) / np.sqrt(places.size)
        frequencies = frequencies.astype(np.float32)  # sines and cosines take most of its time

        def table(y: Reals) -> Reals:
            angles = np.tanh((y[:, places] - middle) / (2.0 * spread)).astype(np.float32) @ frequencies
            return np.concatenate((np.cos(angles), np.sin(angles)), axis=1).astype(np.float64)

        first, second = table(mine), table(other)
        covariance = (np.cov(first, rowvar=False) + np.cov(second, rowvar=False)) / 2.0
        ridge = self.ridge * float(np.trace(covariance)) / len(covariance) + TINY
        change = first.mean(axis=0) - second.mean(axis=0)
        weights = np.linalg.solve(covariance + ridge * np.eye(len(covariance)), change)
        return {"kernel discriminant": lambda y: table(y) @ weights}


RIDGE = 1e-9
TREES = find_spec("sklearn") is not None  # scikit-learn comes with the pipeline, not with the library alone


@dataclass(frozen=True)
class Directions(Distinguisher):
    """Fisher's linear discriminant, and the directions in which the two covariances differ most.

    Attributes:
        width: coordinates that take part, at most, where there are few releases.
        least: releases of each record for each further coordinate.
    """

    width: int = 48
    least: int = 8

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        if mine.shape[1] < 2 or not (np.isfinite(mine).all() and np.isfinite(other).all()):
            return {}
        width = max(self.width, len(mine) // self.least)  # noise of a lower rank leaves a direction without noise
        places = np.array(sorted(chosen(mine, other, width // 2)))
        first, second = mine[:, places], other[:, places]
        scale = np.concatenate((first, second)).std(axis=0)
        if not (scale > 0).any():
            return {}
        scale = np.where(scale > 0, scale, 1.0)
        first, second = first / scale, second / scale
        change = first.mean(axis=0) - second.mean(axis=0)
        covariances = [np.atleast_2d(np.cov(side, rowvar=False)) for side in (first, second)]
        values, vectors = np.linalg.eigh((covariances[0] + covariances[1]) / 2.0)
        weights = vectors @ ((vectors.T @ change) / (np.maximum(values, 0.0) + RIDGE)) / scale
        columns: Columns = {"linear discriminant": lambda y: y[:, places] @ weights}
        middle = np.concatenate((mine, other)).mean(axis=0)[places]
        ridge = 1e-6 * np.eye(places.size)
        try:
            _, spread = linalg.eigh(covariances[0] + ridge, covariances[1] + ridge)
        except linalg.LinAlgError:
            return columns
        for name, column in (("narrowest under x", spread[:, 0]), ("narrowest under x'", spread[:, -1])):
            columns[f"deviation along the direction {name}"] = partial(_along, places, middle, column / scale)
        return columns


def _along(places: Whole, middle: Reals, direction: Reals, y: Reals) -> Reals:
    return np.asarray(np.log(np.abs((y[:, places] - middle) @ direction) + TINY))


@dataclass(frozen=True)
class Tree(Distinguisher):
    """A shallow decision tree on a few coordinates, their sizes, sum, norm and distances.

    Attributes:
        least: releases of each record below which it is not worth training.
        most: releases of each record that it is trained on at most.

    Without scikit-learn it has no statistics, and `check` says so.
    """

    least: int = 1000
    most: int = 20_000

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        if not TREES or len(mine) < self.least or not (np.isfinite(mine).all() and np.isfinite(other).all()):
            return {}
        from sklearn.tree import DecisionTreeClassifier

        places = np.array(sorted(chosen(mine[: self.most], other[: self.most], 6)))
        x = scene.x

        def table(y: Reals) -> Reals:
            parts = [y[:, places], np.abs(y[:, places]), y.sum(axis=1)[:, None], np.linalg.norm(y, axis=1)[:, None]]
            if x is not None:
                parts += [np.abs(y - x).min(axis=1)[:, None], np.abs(y - x).max(axis=1)[:, None]]
            return np.concatenate(parts, axis=1).astype(np.float32)

        first, second = table(mine[: self.most]), table(other[: self.most])
        if not (np.isfinite(first).all() and np.isfinite(second).all()):
            return {}
        tree = DecisionTreeClassifier(max_depth=4, min_samples_leaf=max(20, len(first) // 200), random_state=0)
        tree.fit(np.concatenate((first, second)), np.repeat([1, 0], [len(first), len(second)]))
        return {"decision tree": lambda y: np.asarray(tree.predict_proba(table(y))[:, 1])}


@dataclass(frozen=True)
class Groups(Distinguisher):
    """Scores a release by what it says within its group, where an element has a few whole numbers: a cohort, a seed.

    In each group the log ratios of the other elements' values are learned and summed, and the ratio of the one element
    that tells most is kept. Where elements are real, each group has a linear discriminant and a best element.

    Attributes:
        ends: columns at either end of a release that may name groups.
        values: the most values of such a column, and of a column whose values are counted.
        kept: columns that name groups in the statistics, those within whose groups the records differ most.
        width: other columns that take part, at most, and as many by which the columns that name groups are chosen.
        most: releases of each record by which the columns are chosen.
        sure: squared standard errors by which a column must differ in a group to count there.
    """

    exact: ClassVar[bool] = True
    ends: int = 16
    values: int = 64
    kept: int = 2
    width: int = 64
    most: int = 4096
    sure: float = 4.0

    def statistics(self, scene: Scene, mine: Observations, other: Observations) -> Columns:
        width = mine.shape[1]
        if width < 2:
            return {}
        ends = sorted({*range(min(self.ends, width)), *range(max(0, width - self.ends), width)})
        some, others = mine[: self.most], other[: self.most]
        seen = np.unique(np.linspace(0, width - 1, min(width, self.width)).astype(np.int64))
        found = []
        for place in ends:
            names = self._names(some[:, place], others[:, place])
            if names is not None:
                groups = _indices(some[:, place], names), _indices(others[:, place], names)
                change = _changes(*groups, some[:, seen], others[:, seen])[:, seen != place]
                surplus = (change - 1.0).sum() / math.sqrt(2.0 * max(1, change.size))
                found.append((-float(surplus), place, names, groups))
        columns: Columns = {}
        for _, place, names, groups in sorted(found, key=lambda item: item[:2])[: self.kept]:
            telling = np.argsort(-_changes(*groups, some, others).max(axis=0), kind="stable")
            telling = np.sort(telling[telling != place][: self.width])
            columns |= self._within(place, names, telling, mine, other)
        return columns

    def _names(self, mine: Observations, other: Observations) -> Observations | None:
        """Returns the values of a column that may name groups, or None."""
        for count in (128, len(mine)):
            values = np.unique(np.concatenate((mine[:count], other[:count])))
            if values.size > self.values or not (values.dtype == np.int64 or (values == np.rint(values)).all()):
                return None
        return values if values.size > 1 else None

    def _within(
        self, place: int, names: Observations, telling: Whole, mine: Observations, other: Observations
    ) -> Columns:
        """Learns the statistics of the columns `telling` within the groups that the column `place` names."""
        first, second = _indices(mine[:, place], names), _indices(other[:, place], names)
        sizes = [np.bincount(side, minlength=names.size) for side in (first, second)]
        prior = np.log((sizes[0] + 0.5) / (sizes[1] + 0.5))
        tables: list[tuple[int, Observations, Reals]] = []
        reals, surest = [], np.zeros(names.size)
        best = np.full(names.size, -1)
        for column in telling.tolist():
            values = np.unique(np.concatenate((mine[:, column], other[:, column])))
            if values.size > self.values:
                reals.append(column)
                continue
            counts = [
                np.bincount(
                    side * values.size + np.searchsorted(values, y[:, column]), minlength=names.size * values.size
                ).reshape(names.size, values.size)
                for side, y in ((first, mine), (second, other))
            ]
            shares = [(n + 0.5) / (size[:, None] + 0.5 * values.size) for n, size in zip(counts, sizes, strict=True)]
            both = (counts[0] + counts[1]) / np.maximum(1, sizes[0] + sizes[1])[:, None]
            expected = [np.maximum(both * size[:, None], TINY) for size in sizes]
            misfit = sum(((n - mean) ** 2 / mean).sum(axis=1) for n, mean in zip(counts, expected, strict=True))
            free = max(1, values.size - 1)
            sure = (misfit - free) / math.sqrt(2.0 * free) > (self.sure - 1.0) / math.sqrt(2.0)
            tables.append((column, values, np.where(sure[:, None], np.log(shares[0] / shares[1]), 0.0)))
            better = sure & (misfit / free > surest)
            surest, best = np.where(better, misfit / free, surest), np.where(better, len(tables) - 1, best)
        columns: Columns = {}
        if any(table[2].any() for table in tables):
            columns[f"values within each value of element {place}"] = partial(
                _grouped_values, place, names, prior, tables, None
            )
            columns[f"the most telling value within each value of element {place}"] = partial(
                _grouped_values, place, names, prior, tables, best
            )
        if reals:
            columns |= self._linear(place, names, np.array(reals), mine, other)
        return columns

    def _linear(
        self, place: int, names: Observations, reals: Whole, mine: Observations, other: Observations
    ) -> Columns:
        """Learns a discriminant of real columns for each group, with one covariance for all of them."""
        groups = [_indices(side[:, place], names) for side in (mine, other)]
        sides = [np.asarray(side[:, reals], dtype=np.float64) for side in (mine, other)]
        middle = np.median(np.concatenate(sides), axis=0)
        scale = np.concatenate(sides).std(axis=0)
        scale = np.where((scale > 0.0) & np.isfinite(scale), scale, 1.0)
        sides = [(side - middle) / scale for side in sides]
        change = _changes(*groups, *sides, least=self.sure, groups=names.size)
        if not change.any():
            return {}
        means = [_group_means(group, side, names.size) for group, side in zip(groups, sides, strict=True)]
        rest = np.concatenate([side - mean[group] for side, mean, group in zip(sides, means, groups, strict=True)])
        covariance = rest.T @ rest / len(rest)
        ridge = 1e-3 * float(np.trace(covariance)) / reals.size + RIDGE
        apart = np.where(change > 0.0, means[0] - means[1], 0.0)
        weights = np.linalg.solve(covariance + ridge * np.eye(reals.size), apart.T).T
        single = np.zeros_like(weights)
        rows, top = np.arange(names.size), change.argmax(axis=1)
        single[rows, top] = np.sign(apart[rows, top])
        half = (means[0] + means[1]) / 2.0
        columns: Columns = {}
        for name, by_group in (("linear discriminant", weights), ("most telling element", single)):
            columns[f"{name} within each value of element {place}"] = partial(
                _grouped_sum, place, names, reals, middle, scale, by_group, (half * by_group).sum(axis=1)
            )
        return columns


def _indices(values: Observations, names: Observations) -> Whole:
    """Returns the index of each value among sorted names, of the next one where it has none."""
    return np.asarray(np.searchsorted(names, values).clip(0, names.size - 1))


def _group_means(group: Whole, y: Observations, groups: int) -> Reals:
    """Computes the means of columns in each group, 0 in one without members: (groups, columns)."""
    member = np.zeros((groups, len(y)))
    member[group, np.arange(len(y))] = 1.0
    return np.asarray(member @ y / np.maximum(1.0, member.sum(axis=1))[:, None])


MOST_CHANGE = 100.0  # squared standard errors: one column that tells all does not hide how many tell something


def _changes(
    first: Whole, second: Whole, mine: Observations, other: Observations, *, least: float = 0.0, groups: int = 0
) -> Reals:
    """Computes by how many squared standard errors means differ in each group: (groups, columns), 0 below `least`."""
    groups = groups or 1 + int(max(first.max(), second.max()))
    middle = np.median(mine, axis=0).astype(mine.dtype)
    spreads, means = [], []
    for group, seen in ((first, mine), (second, other)):
        y = np.asarray(seen - middle, dtype=np.float64)
        mean = _group_means(group, y, groups)
        count = np.maximum(1, np.bincount(group, minlength=groups))[:, None]
        variance = np.maximum(_group_means(group, y**2, groups) - mean**2, 0.0)
        spreads.append((variance + y.var(axis=0) / count) / count)  # no group is sure of a spread of 0
        means.append(mean)
    there = np.minimum(*(np.bincount(group, minlength=groups) for group in (first, second))) > 1
    change = (means[0] - means[1]) ** 2 / (spreads[0] + spreads[1] + TINY)
    change = np.where(there[:, None], np.minimum(change, MOST_CHANGE), 0.0)
    return np.where(np.isfinite(change) & (change >= least), change, 0.0)


def _grouped_values(
    place: int, names: Observations, prior: Reals, tables: list[Table], best: Whole | None, y: Observations
) -> Reals:
    """Sums the ratios of columns' values in the release's group, of all columns or of each group's best one."""
    group = _indices(y[:, place], names)
    total = prior[group]
    for index, (column, values, ratios) in enumerate(tables):
        at = np.searchsorted(values, y[:, column]).clip(0, values.size - 1)
        counts = values[at] == y[:, column] if best is None else (values[at] == y[:, column]) & (best[group] == index)
        total = total + np.where(counts, ratios[group, at], 0.0)
    return np.where(names[group] == y[:, place], total, 0.0)


def _grouped_sum(
    place: int,
    names: Observations,
    reals: Whole,
    middle: Reals,
    scale: Reals,
    weights: Reals,
    half: Reals,
    y: Observations,
) -> Reals:
    group = _indices(y[:, place], names)
    values = ((y[:, reals] - middle) / scale * weights[group]).sum(axis=1) - half[group]
    return np.where(names[group] == y[:, place], values, 0.0)


IDEAL: tuple[Distinguisher, ...] = (
    Likelihood(),
    Distances(),
    Shapes(),
    Coordinates(),
    Centres(),
    Atoms(),
    Repeats(),
    Residues(),
    Directions(),
    Kernel(),
    Tree(),
    Groups(),
)
PLAIN: tuple[Distinguisher, ...] = (Distances(), Shapes(), Coordinates())
FLOATING: tuple[Distinguisher, ...] = (Floats(), NotFinite())
