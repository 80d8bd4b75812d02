"""Intervals over seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
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


def paired_difference(first: Sequence[float], second: Sequence[float], confidence: float = 0.95) -> Interval:
    """The interval of the mean of first - second, paired by seed.

    Raises:
        InputError: if the two have different lengths.
    """
    if len(first) != len(second):
        raise InputError(f"paired values must be as many on both sides, got {len(first)} and {len(second)}")
    return mean_interval([a - b for a, b in zip(first, second, strict=True)], confidence)


def over_seeds(rows: pd.DataFrame, statistic: Callable[[pd.DataFrame], float]) -> Interval:
    """The interval of a statistic over seeds: one value of each seed's rows, which are not independent.

    Raises:
        InputError: if there are no rows, or a seed's value is not finite.
    """
    return mean_interval([float(statistic(own)) for _, own in rows.groupby("seed")])
