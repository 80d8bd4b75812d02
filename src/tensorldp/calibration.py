"""Mechanisms with a requested true guarantee rather than a requested nominal epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable

from tensorldp.errors import LEAST_EPSILON, MOST_EPSILON, InputError
from tensorldp.mechanisms import Mechanism

GUESSES = 60  # and as many steps of bisection, where guesses swing about the answer
TOLERANCE = 1e-6  # of epsilon, relative


def true_epsilon(mechanism: Mechanism, delta: float) -> float:
    """Computes the pure epsilon, atoms removed in the mechanism's favour; if there is none, the epsilon at `delta`."""
    curve = mechanism.curve()
    return curve.pure_epsilon if math.isfinite(curve.pure_epsilon) else curve.epsilon(delta)


def calibrate(
    build: Callable[[float], Mechanism],
    epsilon: float,
    delta: float,
    *,
    epsilon_of: Callable[[Mechanism, float], float] = true_epsilon,
) -> Mechanism:
    """Finds the mechanism with the largest nominal epsilon whose true one is at most `epsilon`.

    Args:
        build: makes the mechanism at a nominal epsilon; its true epsilon must rise with it.
        epsilon: > 0.
        delta: where the mechanism has no pure guarantee.
        epsilon_of: the true epsilon of a mechanism at a delta.

    Raises:
        InputError: if no nominal epsilon gives that guarantee, from 1e-9 to 1e9 times `epsilon` and from 1e-12 to 1e12.
    """
    mechanism = build(epsilon)
    true = epsilon_of(mechanism, delta)
    if epsilon * (1.0 - TOLERANCE) <= true <= epsilon:
        return mechanism
    low, high = -math.log(min(1e9, epsilon / LEAST_EPSILON)), math.log(min(1e9, 0.999 * MOST_EPSILON / epsilon))
    guess = math.log(epsilon / max(true, 1e-300)) if true < math.inf else -math.inf  # right where it is a multiple
    best: Mechanism | None = None
    for step in range(2 * GUESSES):
        middle = guess if step < GUESSES and low < guess < high else (low + high) / 2.0
        candidate = build(epsilon * math.exp(middle))
        reached = epsilon_of(candidate, delta)
        if reached <= epsilon:
            low, best = middle, candidate
            if reached >= epsilon * (1.0 - TOLERANCE):
                break
        else:
            high = middle
        ratio = epsilon * (1.0 - TOLERANCE / 2.0) / reached if 0.0 < reached < math.inf else 0.0
        guess = middle + math.log(ratio) if ratio else math.inf
    if best is None:
        raise InputError(f"no nominal epsilon of {mechanism.name} has a true epsilon of {epsilon:g}")
    return best
