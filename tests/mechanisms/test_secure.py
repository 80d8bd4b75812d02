"""Mechanisms of exact randomness: guarantees, grids, and attacks that work on the plain ones and not on them."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from tensorldp.check import check
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.exact_coins import KaryRandomizedResponseSecure, LatentSecure
from tensorldp.mechanisms.gaussian import GaussianSecure
from tensorldp.privacy import goodness_of_fit
from tensorldp.randomness import generator

UNIT = Box(-1.0, 1.0, (1,))
OPTIONS: dict[str, Any] = {
    "floating_point": True,
    "samples": 3000,
    "minutes": 10.0,  # the rounds end a check, on a slow machine too
    "rounds": 1,
    "dtypes": (torch.float32,),
}


@pytest.mark.parametrize(("epsilon", "size"), [(0.5, 1), (10.0, 1), (1.0, 784), (1.0, 100_000)])
def test_the_gaussian_on_a_grid_keeps_what_the_analytic_one_does_and_costs_no_more(epsilon: float, size: int) -> None:
    domain = Box(0.0, 1.0, (size,))
    secure, plain = (make(name, epsilon=epsilon, domain=domain) for name in ("gaussian-secure", "gaussian-analytic"))
    assert secure.guarantee(1e-5).exact
    assert epsilon * (1 - 1e-5) <= secure.guarantee(1e-5).epsilon <= epsilon * (1 + 1e-9)
    assert secure.squared_error() == pytest.approx(plain.squared_error(), rel=3e-5)


def test_the_gaussian_on_a_grid_releases_points_of_its_grid_alone() -> None:
    m = make("gaussian-secure", epsilon=1.0, domain=UNIT)
    assert isinstance(m, GaussianSecure)
    x = torch.linspace(-1, 1, 5000, dtype=torch.float64).reshape(-1, 1)
    steps = (m.privatize(x, generator("grid")) + 1.0) / m.step
    assert float((steps - steps.round()).abs().max()) < 1e-6


@pytest.mark.parametrize(("plain", "secure"), [("gaussian-analytic", "gaussian-secure")])
def test_the_support_attack_works_on_the_plain_mechanism_and_not_on_the_secure_one(plain: str, secure: str) -> None:
    assert check(make(plain, epsilon=1.0, domain=UNIT), **OPTIONS | {"rounds": 4}).refuted
    assert not check(make(secure, epsilon=1.0, domain=UNIT), confidence=1 - 1e-6, **OPTIONS).refuted


def test_an_epsilon_that_integers_cannot_hold_is_refused() -> None:
    with pytest.raises(InputError, match="too small for a record of 100 elements"):
        make("gaussian-secure", epsilon=1e-7, domain=Box(0.0, 1.0, (100,)))


@pytest.mark.parametrize(("epsilon", "values"), [(1.0, 2), (1.0, 10), (6.0, 3), (100.0, 4)])
def test_exact_coins_have_the_odds_that_their_curve_speaks_of(epsilon: float, values: int) -> None:
    m = make("k-rr-secure", epsilon=epsilon, domain=Box(0, values - 1, (1,)))
    assert isinstance(m, KaryRandomizedResponseSecure)
    assert m.guarantee(0.0).epsilon == pytest.approx(min(epsilon, 60 * math.log(2)), rel=1e-10)
    draws = m.privatize(torch.full((200_000, 1), values - 1, dtype=torch.float64), generator("coins"))
    law = {float(v): math.exp(m.log_other) for v in range(values - 1)} | {values - 1.0: m.keep}
    assert goodness_of_fit(draws.reshape(-1).numpy(), law).accepted


def test_bits_are_flipped_as_often_as_said() -> None:
    m = make("latent-secure", epsilon=8.0, domain=Box(-1.0, 1.0, (2, 2)))
    assert isinstance(m, LatentSecure)
    assert 8.0 * (1 - 1e-10) <= m.guarantee(0.0).epsilon <= 8.0 * (1 + 1e-12)
    packed = torch.zeros((20_000, 5), dtype=torch.uint8)
    bits = np.unpackbits(m.privatize_bits(packed, generator("bits")).numpy(), axis=1)
    assert goodness_of_fit(bits.reshape(-1).astype(float), {1.0: m.flip, 0.0: 1.0 - m.flip}).accepted
    with pytest.raises(InputError, match="reading"):
        make("latent-secure", epsilon=8.0, domain=Box(-1.0, 1.0, (2, 2)), reading="B")


@pytest.mark.parametrize("name", ["k-rr-secure", "latent-secure"])
def test_no_support_attack_works_on_exact_coins(name: str) -> None:
    domain = Box(0, 9, (1,)) if name == "k-rr-secure" else UNIT
    assert not check(make(name, epsilon=1.0, domain=domain), confidence=1 - 1e-6, **OPTIONS).refuted
