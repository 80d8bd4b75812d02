"""Mechanisms of exact randomness: laws, guarantees, grids, and attacks that work on the plain ones and not on them."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from exact_laws import check_law, releases

from tensorldp.check import check
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.exact_coins import KaryRandomizedResponseSecure, LatentSecure
from tensorldp.mechanisms.exact_draws import (
    LEAST_STEPS,
    MOST_WEIGHTS,
    bernoulli_exp,
    bernoulli_exp_any,
    discrete_gaussian,
    discrete_laplace,
    odds_below,
)
from tensorldp.mechanisms.gaussian import GaussianSecure
from tensorldp.randomness import generator

UNIT = Box(-1.0, 1.0, (1,))


@pytest.mark.parametrize(
    ("coin", "numerator", "denominator"),
    [(bernoulli_exp, *odds) for odds in ((0, 7), (3, 7), (1, 1), (1 << 40, 3 << 40))]
    + [(bernoulli_exp_any, *odds) for odds in ((0, 3), (5, 2), (13, 4), (3 << 50, 1 << 50))],
)
def test_a_coin_falls_with_the_right_probability(coin: Any, numerator: int, denominator: int) -> None:
    p = math.exp(-numerator / denominator)
    check_law(coin(np.full(100_000, numerator), denominator, np.random.default_rng(0)), {1.0: p, 0.0: 1.0 - p})


@pytest.mark.parametrize(("scale", "unit"), [(2, 3), (7, 2), (5 << 40, 1 << 40)])
def test_whole_numbers_follow_the_discrete_laplace_law(scale: int, unit: int) -> None:
    rate, top = unit / scale, int(40 * scale / unit)
    law = {float(k): math.tanh(rate / 2) * math.exp(-rate * abs(k)) for k in range(-top, top + 1)}
    check_law(discrete_laplace(100_000, scale, unit, np.random.default_rng(1)), law)


@pytest.mark.parametrize("sigma", [1, 3, 40])
def test_whole_numbers_follow_the_discrete_gaussian_law(sigma: int) -> None:
    weights = {float(k): math.exp(-(k**2) / (2 * sigma**2)) for k in range(-12 * sigma, 12 * sigma + 1)}
    total = math.fsum(weights.values())
    draws = discrete_gaussian(50_000, sigma, np.random.default_rng(3))
    check_law(draws, {k: weight / total for k, weight in weights.items()})


def test_a_large_sigma_does_not_overflow() -> None:
    draws = discrete_gaussian(20_000, 1 << 25, np.random.default_rng(4)) / (1 << 25)
    # five standard errors: 1 / sqrt(20,000) of the mean and 1 / sqrt(40,000) of the deviation
    assert abs(draws.mean()) < 5 / math.sqrt(20_000)
    assert abs(draws.std() - 1) < 5 / math.sqrt(40_000)


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 1.0, 20.0, 41.0, 100.0])
@pytest.mark.parametrize("others", [1, 9, 1 << 20])
def test_weights_stay_below_the_odds_and_near_them(epsilon: float, others: int) -> None:
    a, b = odds_below(epsilon, others)
    assert a + others * b < MOST_WEIGHTS
    assert a >= b >= 1
    met = math.log1p((a - b) / b)
    assert met <= epsilon
    assert epsilon > 40.0 or met >= epsilon - 2e-12 - (1.0 / a if b == 1 else 0.0)


@pytest.mark.parametrize(("epsilon", "size"), [(0.5, 1), (1e-3, 4), (1.0, 784), (1.0, 100_000), (100.0, 2)])
def test_noise_on_a_grid_meets_epsilon_from_below_up_to_a_part_in_100_000(epsilon: float, size: int) -> None:
    laplace, gaussian, plain = (
        make(name, epsilon=epsilon, domain=Box(0.0, 1.0, (size,)))
        for name in ("laplace-secure", "gaussian-secure", "gaussian-analytic")
    )
    assert epsilon * (1 - 2e-6) <= laplace.guarantee(0.0).epsilon <= epsilon * (1 + 1e-12)
    assert epsilon * (1 - 1e-5) <= gaussian.guarantee(1e-5).epsilon <= epsilon * (1 + 1e-9)
    assert gaussian.guarantee(1e-5).exact
    assert gaussian.squared_error() == pytest.approx(plain.squared_error(), rel=3e-5)


def test_every_release_is_on_the_grid_whatever_the_record() -> None:
    gaussian = make("gaussian-secure", epsilon=1.0, domain=UNIT)
    assert isinstance(gaussian, GaussianSecure)
    for m, step, dtypes in (
        (make("laplace-secure", epsilon=1.0, domain=UNIT), 2.0 / LEAST_STEPS, (torch.float32, torch.float64)),
        (gaussian, gaussian.step, (torch.float64,)),
    ):
        for dtype in dtypes:
            x = torch.linspace(-1, 1, 5000, dtype=dtype).reshape(-1, 1)
            steps = (m.privatize(x, generator("grid")).double() + 1.0) / step
            assert float((steps - steps.round()).abs().max()) < (1e-6 if m is gaussian else 1e-300)


@pytest.mark.parametrize(("epsilon", "values"), [(1.0, 2), (1.0, 10), (6.0, 3), (100.0, 4)])
def test_exact_coins_have_the_odds_that_their_curve_speaks_of(epsilon: float, values: int) -> None:
    m = make("k-rr-secure", epsilon=epsilon, domain=Box(0, values - 1, (1,)))
    assert isinstance(m, KaryRandomizedResponseSecure)
    assert m.guarantee(0.0).epsilon == pytest.approx(min(epsilon, 60 * math.log(2)), rel=1e-10)
    law = {float(v): math.exp(m.log_other) for v in range(values - 1)} | {values - 1.0: m.keep}
    check_law(releases(m, torch.tensor(values - 1), 100_000), law)


def test_bits_are_flipped_as_often_as_said() -> None:
    m = make("latent-secure", epsilon=8.0, domain=Box(-1.0, 1.0, (2, 2)))
    assert isinstance(m, LatentSecure)
    assert 8.0 * (1 - 1e-10) <= m.guarantee(0.0).epsilon <= 8.0 * (1 + 1e-12)
    packed = m.privatize_bits(torch.zeros((20_000, 5), dtype=torch.uint8), generator("bits"))
    check_law(np.unpackbits(packed.numpy(), axis=1), {1.0: m.flip, 0.0: 1.0 - m.flip})


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["laplace", "gaussian-analytic", "laplace-secure", "gaussian-secure", "k-rr-secure", "latent-secure"]
)
def test_support_attacks_work_on_the_plain_mechanisms_and_not_on_the_secure_ones(name: str) -> None:
    coins = name in ("k-rr-secure", "latent-secure")
    m = make(name, epsilon=1.0, domain=Box(0, 9, (1,)) if name == "k-rr-secure" else UNIT)
    # a pair at which the plain ones are refuted is among three
    options: dict[str, Any] = {"floating_point": True, "dtypes": (torch.float32,), "starts": 2 if coins else 3}
    found = check(m, samples=2000, minutes=10.0, rounds=1 if coins else 2, confidence=1 - 1e-6, **options)
    assert found.refuted != name.endswith("-secure")
