"""Records that a data set holds more than once."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorldp_papers.data.catalogue import Copies
from tensorldp_papers.data.split import Arrays


def count_copies(train: Arrays, test: Arrays) -> Copies:
    """Counts the copies across and within two splits, each records (N, *shape) and labels (N,)."""
    kind = np.result_type(train[0], test[0])
    labels: dict[bytes, set[Any]] = {}
    for name, label in zip(_names(train[0], kind), train[1].tolist(), strict=True):
        labels.setdefault(name, set()).add(label)
    of_test = zip(_names(test[0], kind), test[1].tolist(), strict=True)
    agreed = [label in labels[name] for name, label in of_test if name in labels]
    return Copies(len(agreed), agreed.count(False), len(train[0]) - len(labels))


def count_public(train: NDArray[Any], test: NDArray[Any], public: int) -> dict[str, int]:
    """Counts the records that equal one of the last `public` training records: other training ones, and test ones.

    Both are arrays (records, *shape); the other training records are private.
    """
    kind, first = np.result_type(train, test), len(train) - public
    known = set(_names(train[first:], kind))
    others = {"private": train[:first], "test": test}
    return {who: sum(name in known for name in _names(x, kind)) for who, x in others.items()}


def _names(x: NDArray[Any], kind: np.dtype[Any]) -> list[bytes]:
    """Returns 128 bits of each record's hash, the same for equal numbers: -0.0 + 0 is 0.0."""
    zero = kind.type(0)
    return [blake2b((row.astype(kind) + zero).tobytes(), digest_size=16).digest() for row in x]
