"""The gambler: bets on an event in a row, and what it would have found with as many releases as a search had."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import expit

from tensorldp.check.claim import COUNTABLE_NATS
from tensorldp.check.events import Event, Lead, lead_of

BETS = 40  # bets on one event in a row
LOSS = 1.5  # nats lost on an event before it is given up


def gamble(
    lead: Lead | None,
    capital: float,
    goal: float,
    limit: int,
    settle: Callable[[Event, int], tuple[int, int, int]],
    over: Callable[[], bool] = lambda: False,
) -> tuple[Lead | None, float, int]:
    """Bets on an event while it pays; returns the lead with what was seen, log of the capital, and the blocks drawn.

    Args:
        lead: the event and what is known of it.
        capital: log of the capital at the start.
        goal: log of the capital that ends the bets.
        limit: blocks that may be drawn; an event that needs more waits for a later round.
        settle: how many of so many fresh releases of the likelier record, and of the other, fall into an event, and
            how many releases of each there were: fewer, or none, where time was short.
        over: whether the time is up.
    """
    start, drawn = capital, 0
    for _ in range(BETS):
        if lead is None or lead.bet is None or over() or capital < start - LOSS:
            break
        needed = math.ceil(1.1 * (goal - capital) / lead.growth) + 8
        if needed > limit - drawn:
            break
        blocks = min(needed, max(64, 2 * lead.trials))
        hits, others, blocks = settle(lead.event, blocks)
        if not blocks:
            break
        capital += lead.bet.log_value(hits, others, blocks)
        drawn += blocks
        lead = lead.after(hits, others, blocks)
        if capital >= goal:
            break
    return lead, capital, drawn


CHANCE = 0.9  # of finding a lie of the size that a verdict states
RUNS, MISSES = 60, 2  # 58 of 60 simulated searches, which a chance of 0.9 gives once in 20 times
SIZE_HALVINGS = 10  # of the range of sizes of a lie: to a thousandth of it


@dataclass(frozen=True)
class Reach:
    """The least lies about its first pair that a search would have found with a chance of `CHANCE`, or None.

    Attributes:
        pair: the pair.
        epsilon: of a coin that says which record it is, and is right with probability e^epsilon / (1 + e^epsilon).
        probability: of an event that the other record never gives.
    """

    pair: str
    epsilon: float | None
    probability: float | None

    def __str__(self) -> str:
        found = []
        if self.epsilon is not None:
            right = 100.0 * float(expit(self.epsilon))
            found.append(f"a coin of epsilon {self.epsilon:.3g} or more (right in {right:.3g} % of releases)")
        if self.probability is not None:
            found.append(f"an event that one record never gives and the other with probability {self.probability:.2g}")
        if not found:
            return f"no lie about two records ({self.pair}), however large: the releases were too few for a bet"
        like = " or ".join(found)
        return f"a lie that tells two records ({self.pair}) apart like {like}, with a chance of {100.0 * CHANCE:g} %"


Stages = tuple[tuple[int, int], ...]
"""For each look at a pair: the releases of each record that choose an event, and the blocks that may then be bet on."""


@lru_cache(maxsize=64)
def reach(pair: str, views: tuple[Stages, ...], points: tuple[tuple[float, float], ...], goal: float) -> Reach:
    """Computes what the gambler finds of simulated events, with the looks and the goal that a search had.

    The event is the one that stands out in each look, as in a search that no other event leads astray. Of several views
    of the pair the best one counts.
    """
    coins, rare = [], []
    for stages in views:
        coins.append(_least(lambda x: (float(expit(x)), float(expit(-x))), 0.0, COUNTABLE_NATS, stages, points, goal))
        rare.append(_least(lambda x: (math.exp(x), 0.0), math.log(1e-9), 0.0, stages, points, goal))
    sizes = [min((size for size in found if size is not None), default=None) for found in (coins, rare)]
    return Reach(pair, sizes[0], None if sizes[1] is None else math.exp(sizes[1]))


def _least(
    event: Callable[[float], tuple[float, float]],
    low: float,
    high: float,
    stages: Stages,
    points: tuple[tuple[float, float], ...],
    goal: float,
) -> float | None:
    """Finds by halving the least size of an event that is found; None if the largest is not."""
    if not found_often(*event(high), stages, points, goal):
        return None
    for _ in range(SIZE_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if found_often(*event(middle), stages, points, goal) else (middle, high)
    return high


def found_often(p: float, q: float, stages: Stages, points: Sequence[tuple[float, float]], goal: float) -> bool:
    """Returns whether the gambler finds an event of these probabilities in all but `MISSES` of `RUNS` simulations."""
    source, missed = np.random.default_rng(0), 0
    for _ in range(RUNS):
        missed += not _found(p, q, stages, points, goal, source)
        if missed > MISSES:
            return False
    return True


def _found(
    p: float,
    q: float,
    stages: Stages,
    points: Sequence[tuple[float, float]],
    goal: float,
    source: np.random.Generator,
) -> bool:
    def settle(event: Event | None, blocks: int) -> tuple[int, int, int]:
        return int(source.binomial(blocks, p)), int(source.binomial(blocks, q)), blocks

    capital, spent = 0.0, 0
    for trials, limit in stages:
        counts = settle(None, trials)
        leads = [lead_of(Event("coin", 1.0, True, False, *point), *counts) for point in points]
        lead = max(leads, key=lambda lead: (lead.growth, lead.score))
        _, capital, drawn = gamble(lead, capital, goal, limit - spent, settle)
        spent += drawn
        if capital >= goal:
            return True
    return False
