"""The central guarantee when a trusted shuffler mixes one release of each record: the clone reduction, exactly.

Each of the other n - 1 releases of an epsilon0-LDP mechanism is with probability e^-epsilon0 a clone of one of the two
releases to be told apart [feldman2021]. What is left to tell apart are two mixtures of binomial counts, and their
privacy profile bounds that of the shuffled releases. Its trust model is not that of the local guarantee: against
whoever holds the releases before the shuffler, only the local one holds.
"""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np
from scipy.special import betainc

from tensorldp.errors import InputError, check_positive, check_real, check_whole

TAIL_SHARE = 1e-6  # of delta: the share that may lie in counts of clones that are not summed, and is added in full
EPSILON_HALVINGS = 60  # of the interval that has the central epsilon: more than the 53 bits of a float
MOST_LOCAL_EPSILON = 700.0  # beyond it no number of records makes a clone likely, and floats would overflow


def _last(records: int, share: float, tail: float) -> int:
    """Computes the least k with P(C > k) <= tail, C binomial; SciPy forms 1 - tail, which rounds to 1 below 1e-16."""
    return bisect_left(range(records), True, key=lambda k: bool(betainc(k + 1.0, records - k, share) <= tail))


def _profile(epsilon: float, local: float, records: int, tail: float) -> float:
    """Computes an upper bound on delta(epsilon): the sum over likely counts of clones, plus `tail` for the others."""
    from scipy.stats import binom

    if epsilon >= local:
        return 0.0
    if local > MOST_LOCAL_EPSILON:  # the local guarantee alone
        return -math.expm1(epsilon - local)
    clones = binom(records - 1, math.exp(-local))
    first = last = 0
    if (records - 1) * math.exp(-local) > tail / 2.0:  # else a clone is less likely than the mass that is left out
        first = int(clones.ppf(tail / 2.0))
        last = _last(records - 1, math.exp(-local), tail / 2.0)
    c = np.arange(first, last + 1, dtype=np.float64)
    keep = 1.0 / (1.0 + math.exp(-local))
    lose = math.exp(-local) * keep  # 1 - keep, which floats round to 0 from a local epsilon of 37 on
    # among c clones, half of them on average like either release, the likelihood ratio at a count k rises with
    # k / (c - k + 1); the event of largest difference is k >= the least one whose ratio exceeds e^epsilon
    growth = math.exp(epsilon)
    ratio = (growth * keep - lose) / (-math.expm1(epsilon - local) * keep)
    least = c + 2.0 - np.maximum(np.ceil((c + 1.0) / (1.0 + ratio)), 1.0)  # c + 1 however large the ratio is
    above, at = binom.sf(least - 2.0, c, 0.5), binom.sf(least - 1.0, c, 0.5)  # A >= least - 1 and A >= least
    one, other = keep * above + lose * at, lose * above + keep * at
    return float((clones.pmf(c) * np.maximum(one - growth * other, 0.0)).sum()) + tail


def shuffled_delta(epsilon: float, local_epsilon: float, records: int) -> float:
    """Computes an upper bound on delta(epsilon) of the shuffled releases for replacing one record.

    Args:
        epsilon: the epsilon of the central guarantee, >= 0.
        local_epsilon: the pure local guarantee of one release.
        records: how many releases are shuffled, each of its own record.
    """
    epsilon, local = check_real("epsilon", epsilon, low=0.0), check_positive("local_epsilon", local_epsilon)
    return _profile(epsilon, local, check_whole("records", records, low=1), 1e-15)


def shuffled_epsilon(local_epsilon: float, records: int, delta: float) -> float:
    """Computes the smallest central epsilon that the clone reduction proves at `delta`, never above the local one.

    Args:
        local_epsilon: the pure local guarantee of one release.
        records: how many releases are shuffled, each of its own record.
        delta: in (0, 1).
    """
    local, records = check_positive("local_epsilon", local_epsilon), check_whole("records", records, low=1)
    if not 0.0 < check_real("delta", delta, low=0.0, high=1.0) < 1.0:
        raise InputError(f"delta of shuffled releases must lie between 0 and 1, got {delta:g}")
    low, high = 0.0, local
    for _ in range(EPSILON_HALVINGS):
        middle = (low + high) / 2.0
        if _profile(middle, local, records, TAIL_SHARE * delta) <= delta:
            high = middle
        else:
            low = middle
    return high
