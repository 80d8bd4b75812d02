import math
from typing import Any

import numpy as np
import pytest
import torch
from gaussian_checks import brute_mu, check_sampler, check_squared_error
from typed import gaussian_mu, make_as

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Box, Domain, make
from tensorldp.mechanisms.gaussian import GaussianClassical
from tensorldp.mechanisms.matrix import LARGEST, MatrixMechanism, error_factor, optimal_strategy

PREFIX = np.tril(np.ones((8, 8)))


def test_identity_workload_is_the_gaussian_mechanism() -> None:
    assert np.allclose(optimal_strategy(np.eye(6)), np.eye(6))
    assert error_factor(np.eye(6), np.eye(6)) == pytest.approx(6)
    m = make_as(MatrixMechanism, epsilon=1, domain=Box(-1, 1, (6, 4)), workload=torch.eye(6))
    plain = make_as(MatrixMechanism, epsilon=1, domain=Box(-1, 1, (6, 4)))
    assert m.isotropic
    assert m.sigma == pytest.approx(plain.sigma, rel=1e-12)
    assert plain.sigma == pytest.approx(2 * math.sqrt(24) * math.sqrt(2 * math.log(2e5)), rel=1e-14)


def test_the_constant_of_tvgs_code_gives_the_classical_gaussian() -> None:
    domain = Box(-1, 1, (6, 4))
    classical = make_as(GaussianClassical, epsilon=1, domain=domain)
    assert make_as(MatrixMechanism, epsilon=1, domain=domain, constant=1.25).sigma == pytest.approx(
        classical.sigma, rel=1e-14
    )


def test_prefix_sums_oracles() -> None:
    assert error_factor(PREFIX, np.eye(8)) == pytest.approx(36)
    toeplitz = np.zeros((8, 8))  # square root of the prefix matrix: coefficients of (1 - z)^(-1/2)
    for lag in range(8):
        toeplitz += math.comb(2 * lag, lag) / 4**lag * np.eye(8, k=-lag)
    assert np.allclose(toeplitz @ toeplitz, PREFIX)
    assert error_factor(PREFIX, toeplitz) == pytest.approx(20.119552, abs=5e-7)
    found = error_factor(PREFIX, optimal_strategy(PREFIX))
    assert found <= 17.8662
    assert found == pytest.approx(17.866177, abs=2e-6)


def test_transposed_factor_has_unit_columns_and_the_plain_one_has_not() -> None:
    strategy = optimal_strategy(PREFIX)
    assert np.allclose(np.linalg.norm(strategy, axis=0), 1, atol=1e-9)
    assert np.allclose(strategy, np.triu(strategy))
    assert np.linalg.norm(strategy.T, axis=0).max() > 1.1


def test_optimum_is_a_minimum_among_perturbations() -> None:
    strategy = optimal_strategy(PREFIX)
    best = error_factor(PREFIX, strategy)
    rng = np.random.default_rng(1)
    for _ in range(50):
        assert error_factor(PREFIX, strategy + 1e-3 * rng.normal(size=(8, 8))) >= best * (1 - 1e-9)


def test_the_code_that_inverts_the_other_factor_underestimates_the_noise() -> None:
    """pinv(L) without ||A|| is not the mechanism of A = L^T for a general workload."""
    strategy = optimal_strategy(PREFIX)
    right = np.linalg.norm(PREFIX @ np.linalg.inv(strategy)) ** 2
    wrong = np.linalg.norm(PREFIX @ np.linalg.inv(strategy.T)) ** 2
    assert right == pytest.approx(17.866177, abs=2e-6)
    assert abs(wrong / right - 1) > 0.05


def test_a_workload_that_misses_directions_still_gets_noise_everywhere() -> None:
    w = torch.randn(2, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    m = make_as(MatrixMechanism, epsilon=1, domain=Box(-1, 1, (5, 2)), workload=w)
    assert math.isfinite(m.squared_error())
    assert m.guarantee(1e-5).epsilon < 1


@pytest.mark.parametrize("domain", [Box(-1, 1, (8, 1)), Ball(1.0, (8, 1))])
def test_record_sensitivity_keeps_the_nominal_guarantee(domain: Domain) -> None:
    m = make("matrix", epsilon=1, domain=domain, workload=torch.from_numpy(PREFIX))
    assert m.privacy_profile(1.0) <= 1e-5
    assert m.curve().exact  # eight rows are enumerated
    assert gaussian_mu(m.curve()) == pytest.approx(1 / math.sqrt(2 * math.log(2e5)), rel=1e-12)


def test_column_sensitivity_is_the_papers_and_speaks_of_one_element() -> None:
    m = make_as(
        MatrixMechanism,
        epsilon=1,
        domain=Box(-1, 1, (8, 3)),
        workload=torch.from_numpy(PREFIX),
        sensitivity="column",
    )
    assert m.answer_sigma == pytest.approx(2 * math.sqrt(2 * math.log(2e5)), rel=1e-9)
    assert m.strategy is not None
    expected = m.answer_sigma**2 * 3 * np.trace(np.linalg.inv((m.strategy.T @ m.strategy).numpy()))
    assert m.squared_error() == pytest.approx(expected, rel=1e-9)
    assert m.guarantee(1e-5).epsilon > 1
    assert "one element" in m.guarantee(1e-5).note


def test_sampler_covariance_error_and_worst_corner() -> None:
    m = make_as(MatrixMechanism, epsilon=1, domain=Box(-1, 1, (3, 2)), workload=torch.tril(torch.ones(3, 3)))
    check_sampler(m)
    check_squared_error(m)
    assert gaussian_mu(m.curve()) == pytest.approx(brute_mu(m), rel=1e-12)


def test_noise_is_the_pseudo_inverse_applied_to_isotropic_noise() -> None:
    strategy = torch.tensor([[1.0, 0.2], [0.0, 0.8], [0.5, -0.3]], dtype=torch.float64)
    m = make_as(MatrixMechanism, epsilon=1, domain=Box(-1, 1, (2, 1)), strategy=strategy)
    f = m.factors[0]
    assert f.directions is not None
    covariance = f.directions @ torch.diag(f.sigma**2) @ f.directions.T
    expected = m.answer_sigma**2 * torch.linalg.pinv(strategy) @ torch.linalg.pinv(strategy).T
    assert torch.allclose(covariance, expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("shape", "options", "words"),
    [
        ((3, 2), {"workload": torch.ones(2, 4)}, "3 columns"),
        ((3, 2), {"workload": torch.zeros(2, 3)}, "all zero"),
        ((3, 2), {"strategy": torch.ones(3, 3)}, "full column rank"),
        ((3, 2), {"sensitivity": "row"}, "sensitivity"),
        ((3, 2), {"constant": 0}, "constant"),
        ((LARGEST + 1, 1), {"workload": torch.ones(1, LARGEST + 1)}, "at most"),
    ],
)
def test_mistakes_are_told_in_a_sentence(shape: tuple[int, ...], options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        make("matrix", epsilon=1, domain=Box(-1, 1, shape), **options)


def test_too_many_rows_are_refused_before_memory_is() -> None:
    with pytest.raises(InputError, match="8192 at most, got 1000000"):
        make("matrix", epsilon=1.0, domain=Box(0, 1, (1_000_000,)))
