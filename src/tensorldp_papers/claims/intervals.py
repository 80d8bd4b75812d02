"""Intervals over seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from tensorldp.errors import InputError, check_real


@dataclass(frozen=True)
class Interval:
    """A mean over seeds with its confidence interval."""

    mean: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        if self.count == 1:
            return f"{self.mean:.4g} (one seed, no interval)"
        return f"{self.mean:.4g} [{self.low:.4g}, {self.high:.4g}] over {self.count} values"


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Student's t interval of a mean; unbounded for one value.

    Raises:
        InputError: if there is no value, one is not finite, or the confidence is not in (0, 1).
    """
    confidence = check_real("confidence", confidence, low=0.0, high=1.0, open_low=True, open_high=True)
    data = np.asarray(values, dtype=np.float64)
    if not data.size or not np.isfinite(data).all():
        raise InputError(f"an interval needs finite values, got {list(values)[:5]}")
    mean = float(data.mean())
    if data.size == 1:
        return Interval(mean, -math.inf, math.inf, 1)
    half = float(stats.t.ppf((1 + confidence) / 2, data.size - 1) * data.std(ddof=1) / math.sqrt(data.size))
    return Interval(mean, mean - half, mean + half, data.size)
