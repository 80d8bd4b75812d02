"""A lower bound on the epsilon of a whole training from canaries in a single run [steinke2023]."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from tensorldp.audit.observed import observed
from tensorldp.curves.base import PrivacyCurve
from tensorldp.errors import InputError, check_real, check_whole
from tensorldp.randomness import generator

GUESSED_SHARES = (1.0, 0.5, 0.2)  # of the canaries that are guessed, the rest left open; the error is split over them
MOST_FROM_GUESSES = 50.0  # nats: no bound is searched above, as it would take about e^50 canaries

Training = Callable[[Tensor, torch.Generator], Tensor]


@dataclass(frozen=True)
class OneRun:
    """What canaries say about one training.

    Attributes:
        epsilon_lower: no (epsilon, delta) guarantee below this holds, at `confidence`; in nats.
        epsilon_upper: what the accountant says at `delta`.
        delta: the delta of both.
        refuted: whether the lower bound exceeds the upper one.
        canaries: how many there were.
        guesses, correct: the guesses, and the correct ones, among the share of canaries that gave the bound.
        confidence: the chance, before the run, that epsilon_lower does not exceed the truth.
    """

    epsilon_lower: float
    epsilon_upper: float
    delta: float
    refuted: bool
    canaries: int
    guesses: int = field(repr=False)
    correct: int = field(repr=False)
    confidence: float

    def __str__(self) -> str:
        word = "REFUTED" if self.refuted else "not refuted"
        return (
            f"{word}: at delta {self.delta:g} the accountant says epsilon {self.epsilon_upper:.4g}, and {self.correct} "
            f"right guesses of {self.guesses} about {self.canaries} canaries prove {self.epsilon_lower:.4g} or more "
            f"(confidence {self.confidence:g})"
        )


def one_run_bound(correct: int, guesses: int, canaries: int, *, confidence: float = 0.95, delta: float = 0.0) -> float:
    """Computes the largest epsilon that `correct` right guesses rule out, 0 if they rule out none.

    Each canary is in the training by a fair coin of its own, and some of the coins are guessed from the outcome. Under
    (epsilon, delta) the number of right guesses is at most v - 1 except with a chance of P(W >= v) + 2 m delta max_i
    P(v - i <= W < v) / i, with W binomial of `guesses` trials at e^epsilon / (1 + e^epsilon) and m canaries.

    Raises:
        InputError: if an argument is out of range.
    """
    from scipy.stats import binom

    canaries = check_whole("canaries", canaries, low=1)
    guesses = check_whole("guesses", guesses, low=1, high=canaries)
    correct = check_whole("correct", correct, high=guesses)
    error = 1.0 - check_real("confidence", confidence, low=0.0, high=1.0, open_low=True, open_high=True)
    delta = check_real("delta", delta, low=0.0, high=1.0, open_high=True)

    def chance(epsilon: float) -> float:
        right = 1.0 / (1.0 + math.exp(-epsilon))
        tail = float(binom.sf(correct - 1, guesses, right))
        if delta == 0.0 or correct == 0:
            return tail
        below = np.cumsum(binom.pmf(np.arange(correct - 1, -1, -1), guesses, right))
        return tail + 2.0 * canaries * delta * float((below / np.arange(1, correct + 1)).max())

    if chance(0.0) > error:
        return 0.0
    low, high = 0.0, MOST_FROM_GUESSES
    while high - low > 1e-6:
        middle = (low + high) / 2.0
        low, high = (middle, high) if chance(middle) <= error else (low, middle)
    return low


def one_run_audit(
    train: Training,
    curve: PrivacyCurve,
    *,
    canaries: int,
    delta: float,
    confidence: float = 0.95,
    seed: int = 0,
) -> OneRun:
    """Trains once with canaries that fair coins choose, and compares what they prove with what the accountant says.

    Args:
        train: from the coins (canaries,), bool, and a generator to a score for each canary, larger if it seems to be
            in. A coin decides between two neighbours: a record in or out, or a user's upload and its opposite.
        curve: what the whole training is said to guarantee for such neighbours.
        canaries: how many, >= 10.
        delta: the delta of the comparison, in (0, 1).
        confidence: in (0, 1).
        seed: for the coins and the training.

    Raises:
        InputError: if an argument is out of range, or the training does not return a score for each canary.
    """
    canaries = check_whole("canaries", canaries, low=10)
    delta = check_real("delta", delta, low=0.0, high=1.0, open_low=True, open_high=True)
    confidence = check_real("confidence", confidence, low=0.0, high=1.0, open_low=True, open_high=True)
    coins = torch.rand(canaries, generator=generator("one run", "coins", seed)) < 0.5
    returned = train(coins.clone(), generator("one run", "training", seed))
    form, scores = observed("the training", returned, canaries, "score a canary")
    if form.shape or form.dtype.is_complex:
        raise InputError(f"the training must return one real score a canary, got {form}")
    order = scores.reshape(-1).nan_to_num().argsort(stable=True)
    bounds = []
    for share in GUESSED_SHARES:
        half = max(1, round(canaries * share) // 2)
        right = int((~coins[order[:half]]).sum()) + int(coins[order[-half:]].sum())
        level = 1.0 - (1.0 - confidence) / len(GUESSED_SHARES)
        bounds.append((one_run_bound(right, 2 * half, canaries, confidence=level, delta=delta), 2 * half, right))
    lower, guesses, correct = max(bounds)
    upper = curve.epsilon(delta)
    return OneRun(lower, upper, delta, lower > upper, canaries, guesses, correct, confidence)
