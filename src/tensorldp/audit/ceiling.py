"""The highest accuracy on privately released records, from a whole privacy profile and the classes' shares."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tensorldp.curves.base import PrivacyCurve
from tensorldp.errors import InputError

DELTAS = (1e-1, 3e-2, 1e-2, 1e-3, 1e-5, 1e-9)


def class_ceiling(epsilon: float, delta: float, shares: Sequence[float]) -> float:
    """The highest accuracy over classes of these shares when each record comes through an (epsilon, delta) channel.

    With q_c the chance that a record of class c is classified rightly, a record of class c' is called c with a chance
    of at least e^-epsilon (q_c - delta), and those chances sum to at most 1 for every c': a linear program in q.
    For balanced classes it is (e^epsilon + (K - 1) delta) / (e^epsilon + K - 1). With delta = 0 it is tight
    wherever it was compared with the programme over all channels; with delta > 0 it is an upper bound.

    See docs/mathematics/audits.md#ceiling-on-released-inputs.

    Raises:
        InputError: if there are fewer than two shares, one is negative or they do not sum to 1.
    """
    from scipy.optimize import linprog

    pi = np.asarray(shares, dtype=np.float64)
    if pi.ndim != 1 or len(pi) < 2 or (pi < 0).any() or abs(pi.sum() - 1.0) > 1e-6:
        raise InputError(f"shares of classes must be at least two non-negative numbers that sum to 1, got {shares!r}")
    shrink = math.exp(-epsilon)
    matrix = np.full((len(pi), len(pi)), shrink)
    np.fill_diagonal(matrix, 1.0)
    room = np.full(len(pi), 1.0 + (len(pi) - 1) * shrink * delta)
    best = linprog(-pi, A_ub=matrix, b_ub=room, bounds=(0.0, 1.0)).fun
    assert best is not None  # q = 0 is always allowed
    return min(1.0, -float(best))


def profile_ceiling(curve: PrivacyCurve, shares: Sequence[float]) -> float:
    """The lowest `class_ceiling` over points (epsilon, delta(epsilon)) of a profile; 1 where it says nothing."""
    points = [(0.0, curve.delta(0.0))]
    points += [(epsilon, delta) for delta in DELTAS if math.isfinite(epsilon := curve.epsilon(delta))]
    return min(class_ceiling(epsilon, delta, shares) for epsilon, delta in points)
