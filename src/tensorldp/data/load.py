"""Prepared splits as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tensorldp.errors import InputError
from tensorldp.runtime.files import read_arrays


@dataclass(frozen=True)
class Split:
    """One prepared split.

    Attributes:
        x: (records, *shape): uint8 images, float32 tables or int32 token indices.
        y: (records,) int64 class indices.
        metadata: dataset, kind, classes, low, high, source, deviation and what else `prepare` wrote, as text.
    """

    x: NDArray[Any]
    y: NDArray[Any]
    metadata: dict[str, str]


def load(path: Path) -> Split:
    """Read a file that `prepare` wrote.

    Raises:
        InputError: if it is missing, truncated, or holds no pair of `x` and `y` of the same length.
    """
    arrays, metadata = read_arrays(path)
    if not {"x", "y"} <= arrays.keys() or arrays["y"].ndim != 1 or len(arrays["x"]) != len(arrays["y"]):
        raise InputError(f"the file {path} is not a prepared split: it must hold x and y of the same length")
    return Split(arrays["x"], arrays["y"], metadata)
