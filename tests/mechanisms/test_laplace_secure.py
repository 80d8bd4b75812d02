"""The Laplace mechanism on a grid: exact draws, its guarantee, and no leak by floats."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.laplace_secure import STEPS, bernoulli_exp, discrete_laplace
from tensorldp.privacy import goodness_of_fit
from tensorldp.privacy.checking import check
from tensorldp.randomness import generator

UNIT = Box(-1.0, 1.0, (1,))


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


@pytest.mark.parametrize(("epsilon", "size"), [(1.0, 1), (1e-3, 4), (0.3, 784), (100.0, 2)])
def test_epsilon_is_met_from_below_up_to_a_millionth(epsilon: float, size: int) -> None:
    pure = make("laplace-secure", epsilon=epsilon, domain=Box(0.0, 1.0, (size,))).guarantee(0.0).epsilon
    assert epsilon * (1 - 2e-6) <= pure <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_release_is_on_the_grid_whatever_the_record(dtype: torch.dtype) -> None:
    m = make("laplace-secure", epsilon=1.0, domain=UNIT)
    x = torch.linspace(-1, 1, 5000, dtype=dtype).reshape(-1, 1)
    steps = (m.privatize(x, generator("grid")).double() + 1.0) / (2.0 / STEPS)
    assert torch.equal(steps, steps.round())


def test_the_support_attack_works_on_laplace_and_not_here() -> None:
    options: dict[str, Any] = {"floating_point": True, "samples": 3000, "minutes": 0.05, "dtypes": (torch.float32,)}
    assert check(make("laplace", epsilon=1.0, domain=UNIT), **options).refuted
    assert not check(make("laplace-secure", epsilon=1.0, domain=UNIT), confidence=1 - 1e-6, **options).refuted


def test_an_epsilon_that_integers_cannot_hold_is_refused() -> None:
    with pytest.raises(InputError, match="must be at least"):
        make("laplace-secure", epsilon=1e-9, domain=UNIT)
