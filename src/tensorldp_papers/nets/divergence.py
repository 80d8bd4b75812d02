"""Whether a training ended in weights that no longer say anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 1e12  # no network here has such weights unless its training diverged


def diverged(arrays: Mapping[str, NDArray[Any]]) -> str:
    """The first array of a trained model that has an element that is not finite, or one above `LARGEST`; "" if none.

    Args:
        arrays: weights and buffers by name.
    """
    for name, values in arrays.items():
        if np.issubdtype(values.dtype, np.floating) and values.size and not float(np.abs(values).max()) <= LARGEST:
            return name
    return ""
