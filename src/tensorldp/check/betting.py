"""Bets against a claimed guarantee: e-values for "P(S|x) <= e^epsilon P(S|x') + delta" from paired counts.

One release of x and one of x' make a block; A and B say whether they fall into the event S. For any q0, with
p0 = e^epsilon q0 + delta, and any stake mu >= 0 that keeps both factors non-negative,

    (1 + mu (A - p0)) (1 - mu e^epsilon (B - q0))

has an expectation of at most 1 wherever the claim holds: with t = e^epsilon (P(S|x') - q0) it is at most
(1 + mu t)(1 - mu t) <= 1. Products over blocks are therefore a test martingale (Ville): capital reaches 1 / error
with a chance of at most `error`, whenever one looks. The best q0 and mu are the reverse information projection of
the alternative [turner2024].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tensorldp.audit.thresholds import Reals

POINT_HALVINGS = 40  # of the interval on the boundary that has the point to bet against: to 1e-12 of it
CAUTION = 3.5  # standard errors that are subtracted from an effect before it is bet on: searching finds flukes


@dataclass(frozen=True)
class Bet:
    """A stake on an event against one (epsilon, delta).

    Attributes:
        factor: e^epsilon.
        p0, q0: the point of the claim's boundary that the bet is against.
        stake: mu.
    """

    factor: float
    p0: float
    q0: float
    stake: float

    def log_value(self, hits: int, other_hits: int, blocks: int) -> float:
        """Computes the log of the e-value of `blocks` blocks with `hits` releases of x in S and `other_hits` of x'."""
        mu, slope = self.stake, self.stake * self.factor
        counts = np.array([hits, blocks - hits, other_hits, blocks - other_hits], dtype=np.float64)
        factors = np.array([1 + mu * (1 - self.p0), 1 - mu * self.p0, 1 - slope * (1 - self.q0), 1 + slope * self.q0])
        used = counts > 0
        with np.errstate(divide="ignore"):
            return float((counts[used] * np.log(np.maximum(factors[used], 0.0))).sum())


def smoothed(hits: npt.ArrayLike, trials: int) -> Reals:
    """Estimates probabilities that are never 0 or 1."""
    return np.asarray((np.asarray(hits, dtype=np.float64) + 0.5) / (trials + 1.0))


def scores(p: Reals, q: Reals, trials: int, epsilon: npt.ArrayLike, delta: npt.ArrayLike) -> Reals:
    """Computes by how many standard errors p - e^epsilon q exceeds delta."""
    factor = np.exp(np.asarray(epsilon, dtype=np.float64))
    error = np.sqrt((p * (1 - p) + factor**2 * q * (1 - q)) / trials)
    return np.asarray((p - factor * q - np.asarray(delta)) / error)


def make_bet(
    hits: int, other_hits: int, trials: int, epsilon: float, delta: float, caution: float = CAUTION
) -> tuple[Bet, float] | None:
    """Makes the bet that past counts suggest, with its expected log growth per block; None where they suggest none."""
    p, q = float(smoothed(hits, trials)), float(smoothed(other_hits, trials))
    lead = float(scores(np.array(p), np.array(q), trials, epsilon, delta))
    if lead <= caution:
        return None
    factor = float(np.exp(epsilon))
    low, high = q, min((p - delta) / factor, (1.0 - delta) / factor)
    for _ in range(POINT_HALVINGS):
        q0 = (low + high) / 2.0
        p0 = factor * q0 + delta
        slope = factor * ((1 - p) / (1 - p0) - p / p0) + (1 - q) / (1 - q0) - q / q0
        low, high = (low, q0) if slope > 0.0 else (q0, high)
    q0 = (low + high) / 2.0
    p0 = factor * q0 + delta
    stake = (1.0 - caution / lead) * (p - p0) / (p0 * (1.0 - p0))
    stake = min(stake, 1.0 / p0, 1.0 / (factor * (1.0 - q0)))
    bet = Bet(factor, p0, q0, stake)
    growth = (
        p * np.log1p(stake * (1 - p0))
        + (1 - p) * np.log(max(1e-300, 1 - stake * p0))
        + q * np.log(max(1e-300, 1 - stake * factor * (1 - q0)))
        + (1 - q) * np.log1p(stake * factor * q0)
    )
    return (bet, float(growth)) if growth > 0.0 else None
