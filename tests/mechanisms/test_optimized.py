import math
from typing import Any

import pytest
import torch
from gaussian_checks import brute_mu, check_sampler, check_squared_error
from typed import gaussian_mu, make_as

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Box, Domain, make
from tensorldp.mechanisms.gaussian import GaussianAnalytic, GaussianClassical
from tensorldp.mechanisms.optimized import Optimized, box_sigma, loss_budget
from tensorldp.randomness import generator


def test_oracles_at_epsilon_one() -> None:
    assert loss_budget(1, 1e-5) == pytest.approx(0.04163988, abs=5e-9)
    m = make_as(Optimized, epsilon=1, domain=Ball(0.5, (10,)))  # a = 1
    assert m.sigma == pytest.approx(4.900555, abs=5e-7)
    assert make_as(GaussianClassical, epsilon=1, domain=Ball(0.5, (10,))).sigma == pytest.approx(4.844805, abs=5e-7)
    assert make_as(GaussianAnalytic, epsilon=1, domain=Ball(0.5, (10,))).sigma == pytest.approx(3.730632, abs=5e-7)


def test_oracles_at_epsilon_ten() -> None:
    assert loss_budget(10, 1e-5) == pytest.approx(3.100710, abs=5e-7)
    assert make_as(Optimized, epsilon=10, domain=Ball(0.5, (10,))).sigma == pytest.approx(0.567897, abs=5e-7)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_closed_form_is_the_best_over_orders(epsilon: float) -> None:
    def y(order: float) -> float:
        return (2 * epsilon + 2 * math.log(1e-5) / order) / (1 + order)

    grid = max(y(math.exp(i / 1000)) for i in range(-3000, 9000))
    assert loss_budget(epsilon, 1e-5) == pytest.approx(grid, rel=1e-6)
    assert loss_budget(epsilon, 1e-5) >= grid * (1 - 1e-12)


def test_a_hundred_steps_multiply_sigma_by_ten() -> None:
    one, hundred = (make_as(Optimized, epsilon=1, domain=Ball(1.0, (10,)), steps=t) for t in (1, 100))
    assert hundred.sigma / one.sigma == pytest.approx(10, rel=1e-14)
    assert hundred.curve().compose(100).epsilon(1e-5) == pytest.approx(one.guarantee(1e-5).epsilon, rel=1e-9)


def test_small_epsilon_keeps_its_digits() -> None:
    assert loss_budget(1e-9, 1e-5) == pytest.approx(1e-18 / (2 * math.log(1e5)), rel=1e-9)


def test_constraint_is_tight_for_any_difference_of_full_length() -> None:
    m = make_as(Optimized, epsilon=1, domain=Ball(1.0, (7,)))
    shift = torch.randn(7, dtype=torch.float64, generator=generator("shift"))
    shift *= 2 / shift.norm()
    assert float((shift**2 / m.sigma**2).sum()) == pytest.approx(m.budget, rel=1e-12)
    assert gaussian_mu(m.curve()) ** 2 == pytest.approx(m.budget, rel=1e-12)


def test_guarantee_is_per_step_and_below_nominal() -> None:
    for epsilon in (0.1, 1, 10, 100):
        guarantee = make("optimized", epsilon=epsilon, domain=Ball(1.0, (7,))).guarantee(1e-5)
        assert guarantee.unit == "step"
        assert guarantee.epsilon < epsilon


def test_box_weights_are_sound_tight_and_scale_free() -> None:
    domain = Box(-1, 1, (2, 3))
    w = torch.tensor([1.0, 10.0, 0.1, 4.0, 2.0, 0.5], dtype=torch.float64)
    m = make_as(Optimized, epsilon=1, domain=domain, weights=w)
    assert m.curve().exact
    assert gaussian_mu(m.curve()) ** 2 == pytest.approx(m.budget, rel=1e-12)
    assert brute_mu(m) == pytest.approx(gaussian_mu(m.curve()), rel=1e-12)
    scaled = make_as(Optimized, epsilon=1, domain=domain, weights=1000 * w)
    assert torch.allclose(scaled.factors[0].sigma, m.factors[0].sigma, rtol=1e-12)
    flat = make_as(Optimized, epsilon=1, domain=domain)
    objective = float((w * m.factors[0].sigma).sum())
    assert objective < float(w.sum()) * flat.sigma
    for seed in range(20):  # no other split of the budget does better
        share = torch.rand(6, dtype=torch.float64, generator=generator("split", seed))
        sigma = 2 / (share / share.sum() * m.budget).sqrt()
        assert float((w * sigma).sum()) >= objective * (1 - 1e-12)
    check_sampler(m)
    check_squared_error(m)


def test_equal_weights_are_the_isotropic_solution() -> None:
    domain = Box(-1, 1, (2, 3))
    equal = make_as(Optimized, epsilon=1, domain=domain, weights=[3.0] * 6)
    assert equal.sigma == pytest.approx(make_as(Optimized, epsilon=1, domain=domain).sigma, rel=1e-12)


def test_weight_of_zero_is_capped() -> None:
    sigma = box_sigma(torch.tensor([1.0, 0.0], dtype=torch.float64), 1.0, 1.0)
    assert float(sigma[1] / sigma[0]) == pytest.approx(1e4)


@pytest.mark.parametrize("domain", [Ball(2.0, (2, 3)), Box(-1, 1, (2, 3))])
def test_isotropic_sampler(domain: Domain) -> None:
    m = make_as(Optimized, epsilon=1, domain=domain)
    check_sampler(m)
    check_squared_error(m)


@pytest.mark.parametrize(
    ("options", "domain", "words"),
    [
        ({"weights": [1.0] * 4}, Ball(1.0, (4,)), "need a Box"),
        ({"weights": [1.0]}, Box(0, 1, (4,)), "4 finite"),
        ({"weights": [-1.0] * 4}, Box(0, 1, (4,)), "non-negative"),
        ({"weights": "w"}, Box(0, 1, (4,)), "numbers"),
        ({"steps": 0}, Box(0, 1, (4,)), "steps"),
    ],
)
def test_mistakes_are_told_in_a_sentence(options: dict[str, Any], domain: Domain, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make("optimized", epsilon=1, domain=domain, **options)
