"""Corners between which releases move farthest, by a linear fit: what a guarantee for one fixed pair overlooks."""

from __future__ import annotations

import numpy as np
import torch

from tensorldp.audit.thresholds import Reals
from tensorldp.check.pairs import Pair, neighbours
from tensorldp.check.target import AT_ONCE, Target
from tensorldp.randomness import generator, numpy_generator

LARGEST_FITTED, WIDEST_FITTED = 256, 1024  # elements of a record and columns of a release: more need more to fit
BEGINNINGS, ASCENT_STEPS = 16, 30  # corners that an ascent starts from, and its most steps: it seldom takes ten
CUT_SHARE = 0.01  # share of a column's releases at either end that are cut: heavy tails would hide how the rest moves


def farthest_corners(target: Target, count: int, seed: int) -> list[Pair]:
    """Finds the corners and mirror images whose releases lie farthest apart in l1 and l2, from `count` random corners.

    The mean of a release is fitted as a linear function of the record's signs about the centre, each column in units of
    its spread. Which signs move it most is then found by alternation. Nothing is tested here: a search bets on fresh
    releases of these pairs. Records and releases that are too large for a fit have none.
    """
    if not 1 < target.size <= LARGEST_FITTED or target.width > WIDEST_FITTED:
        return []
    source = generator("check", "response", target.name, seed, count)
    box, signs, seen = target.domain.as_box(), [], []
    step = max(1, AT_ONCE // max(target.size, target.width))
    for start in range(0, count, step):
        coins = 2.0 * torch.randint(0, 2, (min(step, count - start), target.size), generator=source).double() - 1.0
        records = target.nearest((box.centre + box.width / 2.0 * coins).reshape(-1, *target.domain.shape))
        seen.append(target.release(records, source).double().numpy())
        signs.append(coins.numpy())
    fitted = _slopes(np.concatenate(signs), np.concatenate(seen))
    begun = numpy_generator(source).choice([-1.0, 1.0], size=(BEGINNINGS, target.size))
    found = []
    for name, norm in (("l1", 1), ("l2", 2)):
        corner = torch.from_numpy(_farthest(fitted, begun, norm)).reshape(target.domain.shape)
        ends = (box.centre + box.width / 2.0 * side for side in (corner, -corner))
        found.append(Pair(f"corners that move releases farthest in {name}", *neighbours(target, *ends)))
    return found


def _slopes(signs: Reals, seen: Reals) -> Reals:
    """Computes how a column's mean moves with each sign, in units of its spread: (elements, columns)."""
    seen = np.nan_to_num(seen, nan=0.0, posinf=1e30, neginf=-1e30)
    seen = seen.clip(*np.quantile(seen, [CUT_SHARE, 1.0 - CUT_SHARE], axis=0))
    spread = seen.std(axis=0)
    return np.asarray(signs.T @ ((seen - seen.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)) / len(seen))


def _farthest(fitted: Reals, begun: Reals, norm: int) -> Reals:
    """Finds signs s with a large norm of s @ fitted: each step takes the best ones for the direction of the last."""
    corners = begun
    for _ in range(ASCENT_STEPS):
        moved = corners @ fitted
        following = np.where((np.sign(moved) if norm == 1 else moved) @ fitted.T >= 0.0, 1.0, -1.0)
        if np.array_equal(following, corners):
            break
        corners = following
    return np.asarray(corners[np.linalg.norm(corners @ fitted, ord=norm, axis=1).argmax()])
