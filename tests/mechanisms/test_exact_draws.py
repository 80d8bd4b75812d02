"""Coins and noise on whole numbers have the stated laws; each chi-square test is wrong once in 10^6."""

import math

import numpy as np
import pytest

from tensorldp.mechanisms.exact_draws import (
    MOST,
    bernoulli_exp,
    bernoulli_exp_any,
    discrete_gaussian,
    discrete_laplace,
    odds_below,
)
from tensorldp.privacy import goodness_of_fit


@pytest.mark.parametrize(("numerator", "denominator"), [(0, 7), (3, 7), (1, 1), (1 << 40, 3 << 40)])
def test_a_coin_falls_with_the_right_probability(numerator: int, denominator: int) -> None:
    draws = bernoulli_exp(np.full(200_000, numerator), denominator, np.random.default_rng(0))
    p = math.exp(-numerator / denominator)
    assert goodness_of_fit(draws.astype(float), {1.0: p, 0.0: 1.0 - p}).accepted


@pytest.mark.parametrize(("scale", "unit"), [(2, 3), (7, 2), (5 << 40, 1 << 40)])
def test_whole_numbers_follow_the_discrete_laplace_law(scale: int, unit: int) -> None:
    draws = discrete_laplace(200_000, scale, unit, np.random.default_rng(1))
    rate, top = unit / scale, int(40 * scale / unit)
    law = {float(k): math.tanh(rate / 2) * math.exp(-rate * abs(k)) for k in range(-top, top + 1)}
    assert goodness_of_fit(draws.astype(float), law).accepted


@pytest.mark.parametrize(("numerator", "denominator"), [(0, 3), (5, 2), (13, 4), (3 << 50, 1 << 50)])
def test_a_coin_of_any_exponent(numerator: int, denominator: int) -> None:
    draws = bernoulli_exp_any(np.full(200_000, numerator), denominator, np.random.default_rng(2))
    p = math.exp(-numerator / denominator)
    assert goodness_of_fit(draws.astype(float), {1.0: p, 0.0: 1.0 - p}).accepted


@pytest.mark.parametrize("sigma", [1, 3, 40])
def test_whole_numbers_follow_the_discrete_gaussian_law(sigma: int) -> None:
    draws = discrete_gaussian(100_000, sigma, np.random.default_rng(3))
    weights = {float(k): math.exp(-(k**2) / (2 * sigma**2)) for k in range(-12 * sigma, 12 * sigma + 1)}
    total = math.fsum(weights.values())
    assert goodness_of_fit(draws.astype(float), {k: weight / total for k, weight in weights.items()}).accepted


def test_a_large_sigma_does_not_overflow() -> None:
    draws = discrete_gaussian(20_000, 1 << 25, np.random.default_rng(4)) / (1 << 25)
    # five standard errors: 1 / sqrt(20,000) of the mean and 1 / sqrt(40,000) of the deviation
    assert abs(draws.mean()) < 5 / math.sqrt(20_000)
    assert abs(draws.std() - 1) < 5 / math.sqrt(40_000)


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 1.0, 20.0, 41.0, 100.0])
@pytest.mark.parametrize("others", [1, 9, 1 << 20])
def test_weights_stay_below_the_odds_and_near_them(epsilon: float, others: int) -> None:
    a, b = odds_below(epsilon, others)
    assert a + others * b < MOST
    assert a >= b >= 1
    met = math.log1p((a - b) / b)
    assert met <= epsilon
    if epsilon < 40.0:
        assert met >= epsilon - 2e-12 - (1.0 / a if b == 1 else 0.0)
