"""Exact one-sided confidence bounds for a probability [clopper1934]."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

Reals = npt.NDArray[np.float64]
CONFIDENCE = 0.95  # of the audits of a run


def lower_bound(hits: npt.ArrayLike, trials: int, error: float) -> Reals:
    """The p with P(Binomial(trials, p) >= hits) = error: below the true one but for a chance of `error`."""
    k: npt.NDArray[Any] = np.asarray(hits, dtype=np.float64)
    return np.where(k > 0, betaincinv(np.maximum(k, 1.0), trials - k + 1.0, error), 0.0)


def upper_bound(hits: npt.ArrayLike, trials: int, error: float) -> Reals:
    """The p with P(Binomial(trials, p) <= hits) = error: above the true one but for a chance of `error`."""
    k: npt.NDArray[Any] = np.asarray(hits, dtype=np.float64)
    return np.where(k < trials, betaincinv(k + 1.0, np.maximum(trials - k, 1.0), 1.0 - error), 1.0)


def log_ratio_bound(
    hits: npt.ArrayLike, other_hits: npt.ArrayLike, trials: int, error: float, delta: float = 0.0
) -> Reals:
    """A lower bound on ln((p - delta) / p'), -inf where p may be below delta; each count may err by `error` / 2."""
    p = lower_bound(hits, trials, error / 2.0) - delta
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0.0, np.log(p / upper_bound(other_hits, trials, error / 2.0)), -np.inf)
