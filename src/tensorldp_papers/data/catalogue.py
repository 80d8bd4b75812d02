"""The data sets and weights by name. Light on purpose: the workflow imports it at every start."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tensorldp.errors import unknown
from tensorldp.registry import Registry
from tensorldp_papers.data.entries import ENTRIES
from tensorldp_papers.data.source import Dataset, File, Source, Weights
from tensorldp_papers.data.weights import WEIGHTS
from tensorldp_papers.registries import PARSERS

__all__ = ["Dataset", "File", "Source", "Weights", "find", "get", "names", "register_dataset", "weights_names"]

P = TypeVar("P")
DATASETS: Registry[Dataset] = Registry("data set", group="tensorldp.datasets")
for _entry in ENTRIES:
    DATASETS.add(_entry.name, _entry)
_WEIGHTS = {weights.name: weights for weights in WEIGHTS}


def register_dataset(entry: Dataset) -> Callable[[P], P]:
    """Make a data set known, from outside the package; use as a decorator of its parser.

    The parser is called with the data set's files by name and `data.split.Options`, and gives a `Parsed`.

    Raises:
        InputError: if a data set of that name is known already.
    """

    def register(parser: P) -> P:
        PARSERS.add(entry.name, parser)
        DATASETS.add(entry.name, entry)
        return parser

    return register


def names() -> list[str]:
    """The names of all data sets, sorted."""
    return DATASETS.names()


def weights_names() -> list[str]:
    """The names of all pretrained weights."""
    return list(_WEIGHTS)


def get(name: str) -> Dataset:
    """The data set of that name.

    Raises:
        InputError: if there is none; the sentence names the nearest.
    """
    return DATASETS.get(name)


def find(name: str) -> Dataset | Weights:
    """The data set or the weights of that name.

    Raises:
        InputError: if there are none; the sentence names the nearest.
    """
    if name in _WEIGHTS:
        return _WEIGHTS[name]
    if name not in names():
        raise unknown("data set", name, [*names(), *_WEIGHTS])
    return get(name)
