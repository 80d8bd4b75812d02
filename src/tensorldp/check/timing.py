"""Whether the running time of a release depends on the record."""

from __future__ import annotations

import time

import torch
from scipy import stats

from tensorldp.check.pairs import Pair
from tensorldp.check.target import Subject
from tensorldp.randomness import generator

CALLS = 400


def timing_difference(subject: Subject, pair: Pair, seed: int, calls: int = CALLS) -> tuple[float, int]:
    """The p-value of a Wilcoxon signed-rank test on the times of `calls` calls of each record, in random order.

    The records of each pair of calls are timed one after the other, which goes first decided by a coin, so that
    drifts of the machine cancel.
    """
    source = generator("check", "timing", seed)
    records = [record.unsqueeze(0).to(subject.dtype) for record in (pair.x, pair.x_prime)]
    coins = generator("check", "timing order", seed)
    order = torch.randint(0, 2, (calls,), generator=coins).tolist()
    differences = []
    for first in order:
        times = [0.0, 0.0]
        for which in (first, 1 - first):
            start = time.perf_counter_ns()
            subject.release(records[which], source)
            times[which] = float(time.perf_counter_ns() - start)
        differences.append(times[0] - times[1])
    if not any(differences):
        return 1.0, calls
    return float(stats.wilcoxon(differences).pvalue), calls
