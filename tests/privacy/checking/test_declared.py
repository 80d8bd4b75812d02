"""Tests of what is declared have the error rate that they say."""

import math

import numpy as np
from scipy import stats

from tensorldp.check.declared import skewed_score


def test_means_of_squared_errors_are_not_called_wrong_too_often() -> None:
    """2,000 means of 256 squared Laplace draws, at a chance of 1e-3 each: 2 are expected, 12 have a chance of 1e-6."""
    draws = np.random.default_rng(0).laplace(size=(2000, 256, 4))
    scores = np.array([skewed_score(row, 8.0) for row in (draws**2).sum(axis=2)])
    assert np.count_nonzero(np.abs(scores) > stats.norm.isf(5e-4)) < 12


def test_a_mean_that_is_off_is_seen_and_a_constant_has_no_spread() -> None:
    values = np.random.default_rng(1).laplace(size=4000) ** 2
    assert skewed_score(values, 2.6) < -5.0
    assert skewed_score(values, 1.5) > 5.0
    assert skewed_score(np.full(10, 2.0), 2.0) == 0.0
    assert skewed_score(np.full(10, 2.0), 1.0) == math.inf
