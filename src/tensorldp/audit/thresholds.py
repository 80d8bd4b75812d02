"""Events above a threshold, counted under both records, and the confidence bounds of their shares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

Reals = npt.NDArray[np.float64]
CONFIDENCE = 0.95  # of the audits of a run


def lower_bound(hits: npt.ArrayLike, trials: int, error: float) -> Reals:
    """Computes p with P(Binomial(trials, p) >= hits) = error: below the true one except with a chance of `error`."""
    k: npt.NDArray[Any] = np.asarray(hits, dtype=np.float64)
    return np.where(k > 0, betaincinv(np.maximum(k, 1.0), trials - k + 1.0, error), 0.0)


def upper_bound(hits: npt.ArrayLike, trials: int, error: float) -> Reals:
    """Computes p with P(Binomial(trials, p) <= hits) = error: above the true one except with a chance of `error`."""
    k: npt.NDArray[Any] = np.asarray(hits, dtype=np.float64)
    return np.where(k < trials, betaincinv(k + 1.0, np.maximum(trials - k, 1.0), 1.0 - error), 1.0)


def log_ratio_bound(
    hits: npt.ArrayLike, other_hits: npt.ArrayLike, trials: int, error: float, delta: float = 0.0
) -> Reals:
    """Bounds ln((p - delta) / p') from below, by -inf where p may be below delta; each count may err by `error` / 2."""
    p = _bounds(lower_bound, hits, trials, error / 2.0) - delta
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0.0, np.log(p / _bounds(upper_bound, other_hits, trials, error / 2.0)), -np.inf)


MOST_TABLED = 1 << 14  # trials: audits of a run have fewer, and ask for the same bounds again and again


def _bounds(bound: Callable[..., Reals], hits: npt.ArrayLike, trials: int, error: float) -> Reals:
    if trials > MOST_TABLED:
        return bound(hits, trials, error)
    return np.asarray(_table(bound, trials, error)[np.asarray(hits, dtype=np.intp)])


@lru_cache(maxsize=16)
def _table(bound: Callable[..., Reals], trials: int, error: float) -> Reals:
    """Computes the bound for each number of hits."""
    return bound(np.arange(trials + 1), trials, error)


Counts = npt.NDArray[np.int64]
QUANTUM = 1e-9  # of a statistic's largest value: finer differences are rounding errors, which ideal reals do not have


@dataclass(frozen=True)
class ThresholdEvent:
    """{statistic >= threshold}, or {statistic <= threshold} if not `above`.

    Attributes:
        quantum: values are rounded to its multiples before they are compared.
    """

    statistic: str
    threshold: float
    above: bool
    quantum: float = field(default=0.0, kw_only=True)

    def hits(self, values: Reals) -> int:
        """Counts the values that fall into the event."""
        values = rounded(values, self.quantum)
        return int(np.count_nonzero(values >= self.threshold if self.above else values <= self.threshold))

    def __str__(self) -> str:
        return f"{self.statistic} {'>=' if self.above else '<='} {self.threshold:.6g}"


def quantum_of(values: Reals) -> float:
    """Computes the size from which differences of these values are not rounding errors."""
    sizes = np.abs(values)
    return QUANTUM * float(np.max(sizes, where=np.isfinite(sizes), initial=0.0))


def rounded(values: Reals, quantum: float) -> Reals:
    """Rounds values to multiples of `quantum`; infinities stay."""
    return np.round(values / quantum) * quantum if quantum > 0.0 else values


def tail_counts(mine: Reals, other: Reals, most: int) -> tuple[float, Reals, dict[bool, tuple[Counts, Counts]]]:
    """Returns the quantum of a statistic, thresholds to try, and how many values of either sample lie in each event.

    Thresholds are all values if they are at most `most`, else ranks spaced evenly in the log from both ends of both
    samples. Counts are by `above`.
    """
    both = np.concatenate((mine, other))
    quantum = quantum_of(both)
    mine, other = np.sort(rounded(mine, quantum)), np.sort(rounded(other, quantum))
    both = np.concatenate((mine, other))
    thresholds = np.unique(both[~np.isnan(both)])
    if thresholds.size > most:
        ranks = np.unique(np.geomspace(1, mine.size, most // 4).astype(np.int64)) - 1
        thresholds = np.unique(
            np.concatenate([sample[index] for sample in (mine, other) for index in (ranks, -1 - ranks)])
        )
    first, second = (
        {True: side.size - np.searchsorted(side, thresholds, "left"), False: np.searchsorted(side, thresholds, "right")}
        for side in (mine, other)
    )
    return quantum, thresholds, {above: (first[above], second[above]) for above in (True, False)}
