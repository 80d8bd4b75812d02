import math

import pytest

from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, mechanism_class
from tensorldp.mechanisms.tvg_budget import Schedule, kov_budget, moments_sigma, simple_budget


def test_oracles_of_composition() -> None:
    assert simple_budget(1, 1e-5, rate=0.01, steps=1000) == pytest.approx((0.46599005, 5e-7), rel=2e-8)
    epsilon, delta = kov_budget(1, 1e-5, rate=0.01, steps=1000)  # Kairouz, Oh and Viswanath
    assert epsilon == pytest.approx(0.62761691, abs=5e-9)
    assert delta == pytest.approx(9.00005e-7, rel=1e-6)


def test_kov_budget_solves_one_of_its_equations_and_grows_with_epsilon() -> None:
    e0 = kov_budget(2, 1e-5, rate=1, steps=50)[0]
    linear = 50 * e0 * math.expm1(e0) / (math.exp(e0) + 1)
    tails = (math.log(1e6), math.log(math.e + math.sqrt(50) * e0 * 1e6))
    assert min(linear + e0 * math.sqrt(100 * tail) for tail in tails) == pytest.approx(2, rel=1e-9)
    assert e0 < kov_budget(3, 1e-5, rate=1, steps=50)[0]
    with pytest.raises(InputError, match="slack"):
        kov_budget(1, 1e-5, rate=0.1, steps=5, slack=1e-4)


def test_gaussian_sigma_oracle() -> None:
    assert moments_sigma(1, 1e-5, rate=512 / 60000, steps=7031) == pytest.approx(4.855680, abs=5e-7)
    one, three = (moments_sigma(1, 1e-5, rate=0.01, steps=100, clip=clip) for clip in (1, 3))
    assert three == pytest.approx(3 * one, rel=1e-12)


@pytest.mark.parametrize("name", ["gaussian", "udn", "idn", "matrix", "optimized"])
def test_a_run_without_privacy_has_no_noise_to_state(name: str) -> None:
    run = Schedule(math.inf, 1e-5, rate=0.01, steps=100)
    with pytest.raises(InputError, match="epsilon"):
        mechanism_class(name).step_sigma(run, Box(-1.0, 1.0, (2, 2)))
    assert mechanism_class("none").step_sigma(run, Box(-1.0, 1.0, (2, 2))) == 0.0
