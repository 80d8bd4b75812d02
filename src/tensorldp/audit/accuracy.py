"""What accuracy on perturbed inputs says about epsilon, and the accuracy that epsilon allows.

Derived in docs/mathematics/audits.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tensorldp.audit.thresholds import lower_bound
from tensorldp.curves.base import PrivacyCurve
from tensorldp.errors import InputError, check_real, check_whole

CEILING_DELTAS = (1e-1, 3e-2, 1e-2, 1e-3, 1e-5, 1e-9)  # any delta gives a ceiling; the least of these counts


def class_ceiling(epsilon: float, delta: float, shares: Sequence[float]) -> float:
    """Computes the highest accuracy over classes of these shares when records come through an (epsilon, delta) channel.

    Let q_c be the chance that a record of class c is classified correctly. A record of class c' is called c with a
    chance of at least e^-epsilon (q_c - delta). Those chances sum to at most 1 for every c': a linear program in q. For
    balanced classes it is (e^epsilon + (K - 1) delta) / (e^epsilon + K - 1). With delta = 0 it is tight wherever it was
    compared with the programme over all channels; with delta > 0 it is an upper bound.

    See docs/mathematics/audits.md#ceiling-on-released-inputs.
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
    """Computes the lowest `class_ceiling` over points (epsilon, delta(epsilon)) of a profile; 1 if it says nothing."""
    points = [(0.0, curve.delta(0.0))]
    points += [(epsilon, delta) for delta in CEILING_DELTAS if math.isfinite(epsilon := curve.epsilon(delta))]
    return min(class_ceiling(epsilon, delta, shares) for epsilon, delta in points)


MOST_FROM_ACCURACY = 32.0  # nats: an accuracy so near to 1 has no larger bound


def accuracy_ceiling(epsilon: float, classes: int, delta: float = 0.0) -> float:
    """Computes the highest accuracy over balanced classes when inputs come through an (epsilon, delta)-LDP channel.

    (e^epsilon + (K - 1) delta) / (e^epsilon + K - 1), for any classifier, whatever clean data it was trained on.

    Raises:
        InputError: if epsilon is negative, classes below 2 or delta outside [0, 1].
    """
    epsilon = check_real("epsilon", epsilon, low=0.0, infinite=True)
    others = check_whole("classes", classes, low=2) - 1
    delta = check_real("delta", delta, low=0.0, high=1.0)
    shrink = math.exp(-epsilon)
    return (1.0 + others * delta * shrink) / (1.0 + others * shrink)


def clean_test_ceiling(records: int, information: float, chance: float) -> float:
    """Computes the highest accuracy on clean test records when training records were released with little information.

    chance + sqrt(records x information / 2), at most 1 (Pinsker), for a pipeline that treats all classes alike.

    Args:
        records: how many training records were released.
        information: nats, a bound on the divergence of any record's release from one law common to all.
        chance: accuracy without training, the share of the largest class.

    Raises:
        InputError: if an argument is out of range.
    """
    total = check_whole("records", records) * check_real("information", information, low=0.0)
    return min(1.0, check_real("chance", chance, low=0.0, high=1.0) + math.sqrt(total / 2.0))


def accuracy_audit(
    correct: int,
    total: int,
    classes: int,
    confidence: float = 0.95,
    *,
    largest_class: float | None = None,
    shares: Sequence[float] | None = None,
) -> float:
    """Computes a lower bound on epsilon (pure) from an accuracy on perturbed test inputs.

    ln((K - 1) a / (1 - a)) at the Clopper-Pearson lower bound a of the accuracy; 0 where that is below chance.
    For classes that are not balanced the share q of the largest takes the place of 1 / K: ln(a (1 - q) / ((1 - a) q)).
    With the shares of all classes it is the epsilon at which `class_ceiling`, the optimum of the linear programme, is
    a: never less, and the same where all shares are equal.

    Args:
        correct: test inputs classified rightly; the classifier must not have seen them.
        total: all test inputs, at least 1.
        classes: K, balanced unless `largest_class` is given.
        confidence: the probability that the bound does not exceed the truth.
        largest_class: the share of the largest class, in (0, 1).
        shares: those of all classes, in place of `largest_class`.

    Raises:
        InputError: if the shares are none, a count or the confidence is out of range.
    """
    total = check_whole("total", total, low=1)
    correct = check_whole("correct", correct, low=0, high=total)
    others = check_whole("classes", classes, low=2) - 1.0
    if largest_class is not None:
        share = check_real("largest_class", largest_class, low=0.0, high=1.0, open_low=True, open_high=True)
        others = (1.0 - share) / share
    confidence = check_real("confidence", confidence, low=0.0, high=1.0, open_low=True, open_high=True)
    accuracy = float(lower_bound(correct, total, 1.0 - confidence))
    if shares is not None:
        return _epsilon_of_ceiling(accuracy, shares)
    return max(0.0, math.log(others * accuracy / (1.0 - accuracy))) if 0.0 < accuracy < 1.0 else 0.0


def _epsilon_of_ceiling(accuracy: float, shares: Sequence[float]) -> float:
    """Computes the smallest epsilon whose ceiling reaches an accuracy below 1."""
    from scipy.optimize import brentq

    if accuracy <= class_ceiling(0.0, 0.0, shares) or accuracy >= 1.0:
        return 0.0
    high = 1.0
    while class_ceiling(high, 0.0, shares) < accuracy:
        high *= 2.0
        if high > MOST_FROM_ACCURACY:
            return MOST_FROM_ACCURACY
    return float(brentq(lambda epsilon: class_ceiling(epsilon, 0.0, shares) - accuracy, 0.0, high, xtol=1e-9))
