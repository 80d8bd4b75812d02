"""Noise shaped by an optimum: the matrix mechanism's strategy, and the shares of a loss budget."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from typed import gaussian_mu, make_as

from tensorldp.mechanisms import Ball, Box, Domain
from tensorldp.mechanisms.gaussian import GaussianClassical
from tensorldp.mechanisms.matrix import MatrixMechanism, error_factor, optimal_strategy
from tensorldp.mechanisms.optimized import Optimized, box_sigma, loss_budget
from tensorldp.randomness import generator

PREFIX = np.tril(np.ones((8, 8)))
STRATEGY = optimal_strategy(PREFIX)
BALL, BOX = Ball(1.0, (7,)), Box(-1, 1, (2, 3))


def matrix(domain: Domain, **options: Any) -> MatrixMechanism:
    return make_as(MatrixMechanism, epsilon=1, domain=domain, **options)


def optimized(domain: Domain = BALL, epsilon: float = 1.0, **options: Any) -> Optimized:
    return make_as(Optimized, epsilon=epsilon, domain=domain, **options)


def test_identity_workload_is_the_gaussian_mechanism() -> None:
    domain = Box(-1, 1, (6, 4))
    assert np.allclose(optimal_strategy(np.eye(6)), np.eye(6))
    m, plain = matrix(domain, workload=torch.eye(6)), matrix(domain)
    assert m.isotropic
    assert m.sigma == pytest.approx(plain.sigma, rel=1e-12)
    assert plain.sigma == pytest.approx(2 * math.sqrt(24) * math.sqrt(2 * math.log(2e5)), rel=1e-14)
    classical = make_as(GaussianClassical, epsilon=1, domain=domain)  # which has the constant of TVG's code
    assert matrix(domain, constant=1.25).sigma == pytest.approx(classical.sigma, rel=1e-14)


def test_prefix_sums_oracles() -> None:
    assert error_factor(PREFIX, np.eye(8)) == pytest.approx(36)
    toeplitz = np.zeros((8, 8))  # square root of the prefix matrix: coefficients of (1 - z)^(-1/2)
    for lag in range(8):
        toeplitz += math.comb(2 * lag, lag) / 4**lag * np.eye(8, k=-lag)
    assert np.allclose(toeplitz @ toeplitz, PREFIX)
    assert error_factor(PREFIX, toeplitz) == pytest.approx(20.119552, abs=5e-7)
    best, rng = error_factor(PREFIX, STRATEGY), np.random.default_rng(1)
    assert best == pytest.approx(17.866177, abs=2e-6)
    for _ in range(50):  # a minimum among perturbations
        assert error_factor(PREFIX, STRATEGY + 1e-3 * rng.normal(size=(8, 8))) >= best * (1 - 1e-9)


def test_transposed_factor_has_unit_columns_and_the_plain_one_has_not() -> None:
    assert np.allclose(np.linalg.norm(STRATEGY, axis=0), 1, atol=1e-9)
    assert np.allclose(STRATEGY, np.triu(STRATEGY))
    assert np.linalg.norm(STRATEGY.T, axis=0).max() > 1.1
    # pinv(L) without ||A|| is not the mechanism of A = L^T for a general workload: it underestimates the noise
    right, wrong = (np.linalg.norm(PREFIX @ np.linalg.inv(a)) ** 2 for a in (STRATEGY, STRATEGY.T))
    assert right == pytest.approx(error_factor(PREFIX, STRATEGY), rel=1e-9)
    assert abs(wrong / right - 1) > 0.05


@pytest.mark.parametrize("domain", [Box(-1, 1, (8, 1)), Ball(1.0, (8, 1))])
def test_record_sensitivity_keeps_the_nominal_guarantee(domain: Domain) -> None:
    m = matrix(domain, workload=torch.from_numpy(PREFIX))
    assert m.privacy_profile(1.0) <= 1e-5
    assert m.curve().exact  # eight rows are enumerated
    assert gaussian_mu(m.curve()) == pytest.approx(1 / math.sqrt(2 * math.log(2e5)), rel=1e-12)
    few = matrix(domain, workload=torch.randn(2, 8, generator=generator("workload")))
    assert math.isfinite(few.squared_error())  # it misses directions, and there is noise everywhere


def test_column_sensitivity_is_the_papers_and_speaks_of_one_element() -> None:
    m = matrix(Box(-1, 1, (8, 3)), workload=torch.from_numpy(PREFIX), sensitivity="column")
    assert m.answer_sigma == pytest.approx(2 * math.sqrt(2 * math.log(2e5)), rel=1e-9)
    expected = m.answer_sigma**2 * 3 * np.trace(np.linalg.inv(STRATEGY.T @ STRATEGY))
    assert m.squared_error() == pytest.approx(expected, rel=1e-9)
    assert m.guarantee(1e-5).epsilon > 1
    assert "one element" in m.guarantee(1e-5).note


def test_noise_is_the_pseudo_inverse_applied_to_isotropic_noise() -> None:
    strategy = torch.tensor([[1.0, 0.2], [0.0, 0.8], [0.5, -0.3]], dtype=torch.float64)
    m = matrix(Box(-1, 1, (2, 1)), strategy=strategy)
    expected = torch.linalg.pinv(strategy) @ torch.linalg.pinv(strategy).T * m.answer_sigma**2
    assert torch.allclose(torch.linalg.inv(m.factors[0].precision), expected, rtol=1e-10)


@pytest.mark.parametrize(("epsilon", "budget", "sigma"), [(1, 0.04163988, 4.900555), (10, 3.100710, 0.567897)])
def test_oracles_of_the_loss_budget(epsilon: float, budget: float, sigma: float) -> None:
    assert loss_budget(epsilon, 1e-5) == pytest.approx(budget, rel=2e-7)
    assert optimized(Ball(0.5, (10,)), epsilon).sigma == pytest.approx(sigma, abs=5e-7)  # a = 1
    assert loss_budget(epsilon * 1e-9, 1e-5) == pytest.approx((epsilon * 1e-9) ** 2 / (2 * math.log(1e5)), rel=1e-8)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_closed_form_is_the_best_over_orders(epsilon: float) -> None:
    orders = np.exp(np.arange(-3.0, 9.0, 1e-3))
    grid = float(((2 * epsilon + 2 * math.log(1e-5) / orders) / (1 + orders)).max())
    assert grid * (1 - 1e-12) <= loss_budget(epsilon, 1e-5) <= grid * (1 + 1e-6)


@pytest.mark.parametrize("epsilon", [0.1, 1, 100])
def test_guarantee_is_per_step_below_nominal_and_spends_the_budget(epsilon: float) -> None:
    m = optimized(epsilon=epsilon)
    assert m.guarantee(1e-5).unit == "step"
    assert m.guarantee(1e-5).epsilon < epsilon
    assert (2 / m.sigma) ** 2 == pytest.approx(m.budget, rel=1e-12)  # tight for any difference of full length
    assert gaussian_mu(m.curve()) ** 2 == pytest.approx(m.budget, rel=1e-12)
    hundred = optimized(epsilon=epsilon, steps=100)
    assert hundred.sigma / m.sigma == pytest.approx(10, rel=1e-14)
    assert hundred.curve().compose(100).epsilon(1e-5) == pytest.approx(m.guarantee(1e-5).epsilon, rel=1e-9)


def test_box_weights_are_tight_optimal_and_scale_free() -> None:
    w = torch.tensor([1.0, 10.0, 0.1, 4.0, 2.0, 0.5], dtype=torch.float64)
    m, flat = optimized(BOX, weights=w), optimized(BOX)
    assert gaussian_mu(m.curve()) ** 2 == pytest.approx(m.budget, rel=1e-12)
    assert torch.allclose(optimized(BOX, weights=1000 * w).factors[0].sigma, m.factors[0].sigma, rtol=1e-12)
    objective = float((w * m.factors[0].sigma).sum())
    assert objective < float(w.sum()) * flat.sigma
    share = torch.rand(20, 6, dtype=torch.float64, generator=generator("split"))
    other = 2 / (share / share.sum(dim=1, keepdim=True) * m.budget).sqrt()
    assert float((other @ w).min()) >= objective * (1 - 1e-12)  # no other split of the budget does better
    assert optimized(BOX, weights=[3.0] * 6).sigma == pytest.approx(flat.sigma, rel=1e-12)
    capped = box_sigma(torch.tensor([1.0, 0.0], dtype=torch.float64), 1.0, 1.0)  # at a weight of zero
    assert float(capped[1] / capped[0]) == pytest.approx(1e4)
