"""Statistics of which floating-point numbers occur [mironov2012], which ideal reals do not have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import torch

from tensorldp.check.distinguishers.base import Columns, Distinguisher, Reals, Scene

Codes = npt.NDArray[np.int64]
LOW_BITS = 4


@dataclass(frozen=True)
class Floats(Distinguisher):
    """Sign, exponent and granularity (trailing zeros) of elements, their lowest bits, and exact repeats.

    Attributes:
        places: elements that are looked at.
    """

    places: int = 4

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        if scene.x is None or scene.x_prime is None:
            places = np.arange(min(self.places, mine.shape[1]))
        else:
            places = np.argsort(-np.abs(scene.x - scene.x_prime), kind="stable")[: self.places]
        found: Columns = {}
        for transform, name in ((grain, "exponent and granularity"), (lowest, "sign, exponent and last bits")):
            tables = []
            for place in places.tolist():
                codes = [transform(side[:, place], scene.dtype) for side in (mine, other)]
                tables.append((place, *_ratios(*codes)))
            for table in tables:
                found[f"{name} of element {table[0]}"] = partial(_score, [table], transform, scene.dtype)
            if len(tables) > 1:
                found[f"{name} of {len(tables)} elements"] = partial(_score, tables, transform, scene.dtype)
        for place in places.tolist():
            found[f"multiple of 2^k of element {place}"] = partial(_unit, place, scene.dtype)
            if scene.x is not None and scene.x_prime is not None:
                found[f"element {place} equals that of x"] = partial(_equals, place, float(scene.x[place]))
        return found


def pattern(values: Reals, dtype: torch.dtype) -> tuple[Codes, int]:
    """The bits of values that are numbers of the format, and how many of them are the mantissa's.

    The exponent has the width that float64 has, in which every number of the other formats is a normal one.
    """
    mantissa = round(-math.log2(torch.finfo(dtype).eps))
    return np.ascontiguousarray(values).view(np.int64) >> (52 - mantissa), mantissa


def grain(values: Reals, dtype: torch.dtype) -> Codes:
    """A code for sign, exponent and number of trailing zeros of the mantissa."""
    bits, mantissa = pattern(values, dtype)
    below = bits & ((1 << mantissa) - 1)
    last = below & -below
    zeros = np.where(below == 0, mantissa, np.log2(np.maximum(last, 1)).astype(np.int64))
    return (bits >> mantissa) * 64 + zeros


def lowest(values: Reals, dtype: torch.dtype) -> Codes:
    """A code for sign, exponent and the last bits of the mantissa."""
    bits, mantissa = pattern(values, dtype)
    return (bits >> mantissa) * (1 << LOW_BITS) + (bits & ((1 << LOW_BITS) - 1))


def _unit(place: int, dtype: torch.dtype, y: Reals) -> Reals:
    """k of the largest 2^k that the element is a multiple of."""
    bits, mantissa = pattern(y[:, place], dtype)
    below = bits & ((1 << mantissa) - 1)
    zeros = np.where(below == 0, mantissa, np.log2(np.maximum(below & -below, 1)).astype(np.int64))
    _, exponent = np.frexp(y[:, place])
    return np.asarray(exponent - 1 - mantissa + zeros, dtype=np.float64)


def _equals(place: int, value: float, y: Reals) -> Reals:
    return np.asarray(y[:, place] == value, dtype=np.float64)


def _ratios(mine: Codes, other: Codes) -> tuple[Codes, Reals]:
    values, place = np.unique(np.concatenate((mine, other)), return_inverse=True)
    place = place.reshape(-1)
    first = np.bincount(place[: mine.size], minlength=values.size)
    second = np.bincount(place[mine.size :], minlength=values.size)
    return values, np.log((first + 0.5) / (second + 0.5))


def _score(tables: list[tuple[int, Codes, Reals]], transform: object, dtype: torch.dtype, y: Reals) -> Reals:
    assert callable(transform)
    total = np.zeros(len(y))
    for place, values, ratios in tables:
        codes = transform(y[:, place], dtype)
        at = np.searchsorted(values, codes).clip(0, values.size - 1)
        total += np.where(values[at] == codes, ratios[at], 0.0)
    return total
