"""Whether releases are independent of each other: in a batch, from one call to the next, and of successive seeds."""

from __future__ import annotations

import numpy as np
import torch
from scipy import stats
from torch import Tensor

from tensorldp.privacy.checking.distinguishers.base import Reals
from tensorldp.privacy.checking.subject import Subject
from tensorldp.randomness import derive_seed

ELEMENTS = 4  # of a release that are looked at
WAYS = ("records of one batch", "one call and the next", "generators of successive seeds")


def dependence(subject: Subject, record: Tensor, samples: int, seed: int) -> tuple[str, float]:
    """What depends on what, and the p-value of it, corrected for all that was compared.

    Spearman's rank correlation of elements and of their distances from the median, which a shared draw, a shared size
    or a shared sign moves away from 0. A release's own elements are not compared: they may depend on each other by
    design.

    Args:
        subject: what is checked.
        record: is released again and again.
        samples: releases on each side of a comparison.
        seed: of the releases.
    """
    first = derive_seed("check", "independence", subject.name, seed)
    batch = record.expand(samples, *record.shape).contiguous()
    source, other = (torch.Generator().manual_seed((first + k) % (1 << 63)) for k in (0, 1))
    calls = [subject.release(batch, source), subject.release(batch, source), subject.release(batch, other)]
    mine, following, successive = (_statistics(seen.double().cpu().numpy()) for seen in calls)
    compared = ((mine[0::2][: samples // 2], mine[1::2]), (mine, following), (mine, successive))
    found = [
        (float(stats.spearmanr(one[:, column], two[:, column]).pvalue), way)
        for way, (one, two) in zip(WAYS, compared, strict=True)
        for column in range(mine.shape[1])
        if np.ptp(one[:, column]) > 0.0 and np.ptp(two[:, column]) > 0.0
    ]
    if not found:
        return "", 1.0
    least, way = min(found)
    return way, min(1.0, least * len(found))


def _statistics(seen: Reals) -> Reals:
    """Some elements, and their distances from the median, as columns; what is not finite counts as 0."""
    chosen = np.unique(np.linspace(0, seen.shape[1] - 1, min(ELEMENTS, seen.shape[1])).astype(np.int64))
    values = np.nan_to_num(seen[:, chosen], nan=0.0, posinf=0.0, neginf=0.0)
    return np.concatenate((values, np.abs(values - np.median(values, axis=0))), axis=1)
