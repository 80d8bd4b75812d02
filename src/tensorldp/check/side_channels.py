"""Whether a release tells more than its value: by its running time, or by depending on other releases."""

from __future__ import annotations

import time

import numpy as np
import torch
from torch import Tensor

from tensorldp.audit.thresholds import Reals
from tensorldp.check.pairs import Pair
from tensorldp.check.target import AT_ONCE, Target
from tensorldp.randomness import derive_seed, generator

CALLS = 400  # of each record that are timed


def timing_difference(target: Target, pair: Pair, seed: int, calls: int = CALLS) -> tuple[float, int]:
    """Computes the p-value of a Wilcoxon signed-rank test on times of `calls` calls of each record, in random order.

    The records of each pair of calls are timed one after the other, which goes first decided by a coin, so that
    drifts of the machine cancel.
    """
    from scipy.stats import wilcoxon

    source = generator("check", "timing", seed)
    records = [record.unsqueeze(0).to(target.dtype) for record in (pair.x, pair.x_prime)]
    coins = generator("check", "timing order", seed)
    order = torch.randint(0, 2, (calls,), generator=coins).tolist()
    differences = []
    for first in order:
        times = [0.0, 0.0]
        for which in (first, 1 - first):
            start = time.perf_counter_ns()
            target.release(records[which], source)
            times[which] = float(time.perf_counter_ns() - start)
        differences.append(times[0] - times[1])
    if not any(differences):
        return 1.0, calls
    return float(wilcoxon(differences).pvalue), calls


WAYS = ("records of one batch", "one call and the next", "generators of successive seeds")
WITHIN = "elements of one release"  # of a mechanism that randomises each element alike


def dependence(target: Target, record: Tensor, samples: int, seed: int) -> tuple[str, float]:
    """Finds what depends on what, and the p-value of it, corrected for all that was compared.

    Spearman's rank correlation of elements and of their distances from the median, which a shared draw, a shared size
    or a shared sign moves away from 0; Fisher's exact test where one value is more frequent than all others. A
    release's own elements are compared where the mechanism says that it acts on elements: elsewhere they may depend
    on each other by design.

    Args:
        target: what is checked.
        record: the record that is released again and again.
        samples: releases on each side of a comparison.
        seed: for the releases.
    """
    first = derive_seed("check", "independence", target.name, seed)
    source, other = (torch.Generator().manual_seed((first + k) % (1 << 63)) for k in (0, 1))
    mine, following, successive = (
        _statistics(_elements_of_releases(target, record, samples, generator)) for generator in (source, source, other)
    )
    compared = [
        (WAYS[0], mine[0::2][: samples // 2], mine[1::2]),
        (WAYS[1], mine, following),
        (WAYS[2], mine, successive),
    ]
    if getattr(target.mechanism, "acts_on", None) == "element":
        half = mine.shape[1] // 2  # elements, and then their distances from the median
        order = np.r_[np.roll(np.arange(half), 1), np.roll(np.arange(half, 2 * half), 1)]
        compared += [(WITHIN, mine, mine[:, order])] if half > 1 else []
    p_values = [
        (_p_value(one[:, column], two[:, column]), way)
        for way, one, two in compared
        for column in range(mine.shape[1])
        if np.ptp(one[:, column]) > 0.0 and np.ptp(two[:, column]) > 0.0
    ]
    if not p_values:
        return "", 1.0
    least, way = min(p_values)
    return way, min(1.0, least * len(p_values))


def _p_value(one: Reals, two: Reals) -> float:
    """Tests independence. Ranks that are mostly ties have no usable normal limit: two rare values may coincide."""
    from scipy import stats

    usual = [_most_frequent(side) for side in (one, two)]
    if max(count for _, count in usual) <= one.size / 2:
        return float(stats.spearmanr(one, two).pvalue)
    rare = [side != value for side, (value, _) in zip((one, two), usual, strict=True)]
    table = [[int(np.count_nonzero((rare[0] == a) & (rare[1] == b))) for b in (False, True)] for a in (False, True)]
    return float(stats.fisher_exact(np.array(table)).pvalue)


def _most_frequent(values: Reals) -> tuple[float, int]:
    """Returns a value that is as frequent as any, and how often it occurs."""
    distinct, counts = np.unique(values, return_counts=True)
    return float(distinct[counts.argmax()]), int(counts.max())


def _elements_of_releases(target: Target, record: Tensor, samples: int, source: torch.Generator) -> Reals:
    """Draws the first two elements of releases, a middle one and the last; two releases or more are of one batch."""
    step = max(2, AT_ONCE // max(target.size, target.width) // 2 * 2)
    blocks = []
    for start in range(0, samples, step):
        seen = target.release(record.expand(min(step, samples - start), *record.shape), source)
        last = seen.shape[1] - 1
        blocks.append(seen[:, sorted({0, min(1, last), last // 2, last})].double())
    return np.asarray(torch.cat(blocks).numpy())


def _statistics(seen: Reals) -> Reals:
    """Returns the elements, then their distances from the median; not finite is 0."""
    values = np.nan_to_num(seen, nan=0.0, posinf=0.0, neginf=0.0)
    return np.concatenate((values, np.abs(values - np.median(values, axis=0))), axis=1)
