"""What a parser is given, and what it hands to `prepare`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorldp.errors import InputError
from tensorldp_papers.registries import PARSERS

Arrays = tuple[NDArray[Any], NDArray[Any]]
"""Records and their class indices."""


@dataclass(frozen=True)
class Parsed:
    """Both splits of a data set: x (records, *shape) and y (records,).

    Attributes:
        metadata: text that replaces or adds to what the catalogue says about the data set.
        extra: further arrays for a file of their own, by file name without suffix.
    """

    train: Arrays
    test: Arrays
    metadata: dict[str, str] = field(default_factory=dict)
    extra: dict[str, NDArray[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Options:
    """What a parser may be given; see `tensorldp_papers.data.prepare.prepare`."""

    expect_full: bool = True
    limit: int | None = None
    endpoints: bool = True
    seed: int = 0


Parser = Callable[[Mapping[str, Path], Options], Parsed]
"""From the files of a data set by name, none if it is embedded, to both splits."""


def parser(name: str) -> Callable[[Parser], Parser]:
    """Makes a function known as the parser of a data set; use as a decorator."""
    register: Callable[[Parser], Parser] = PARSERS.register(name)
    return register


def stratified(x: NDArray[Any], y: NDArray[Any], test_size: float, seed: int) -> tuple[Arrays, Arrays]:
    """Draws a seeded split with the same share of each class on both sides, in shuffled order."""
    from sklearn.model_selection import train_test_split

    if len(y) == 0 or np.unique(y, return_counts=True)[1].min() < 2:
        raise InputError(f"a stratified split needs at least 2 records of each class, got {len(y)} records in all")
    try:
        left, right, y_left, y_right = train_test_split(x, y, test_size=test_size, random_state=seed, stratify=y)
    except ValueError as error:
        raise InputError(f"a stratified split of {len(y)} records is not possible: {error}") from None
    return (left, y_left), (right, y_right)
