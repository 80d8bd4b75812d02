"""The data sets and weights by name. Light on purpose: the workflow imports it at every start."""

from __future__ import annotations

from tensorldp.data.entries import DATASETS, WEIGHTS
from tensorldp.data.source import Dataset, File, Source, Weights
from tensorldp.errors import unknown

__all__ = ["EMBEDDED", "Dataset", "File", "Source", "Weights", "find", "get", "names", "weights_names"]

_DATASETS = {dataset.name: dataset for dataset in DATASETS}
_WEIGHTS = {weights.name: weights for weights in WEIGHTS}

EMBEDDED = tuple(name for name, dataset in _DATASETS.items() if dataset.embedded)
"""Names of the data sets that come inside a dependency."""


def names() -> list[str]:
    """The names of all data sets."""
    return list(_DATASETS)


def weights_names() -> list[str]:
    """The names of all pretrained weights."""
    return list(_WEIGHTS)


def get(name: str) -> Dataset:
    """The data set of that name.

    Raises:
        InputError: if there is none; the sentence names the nearest.
    """
    if name not in _DATASETS:
        raise unknown("data set", name, _DATASETS)
    return _DATASETS[name]


def find(name: str) -> Dataset | Weights:
    """The data set or the weights of that name.

    Raises:
        InputError: if there are none; the sentence names the nearest.
    """
    entry = _DATASETS.get(name) or _WEIGHTS.get(name)
    if entry is None:
        raise unknown("data set", name, [*_DATASETS, *_WEIGHTS])
    return entry
