import math
from typing import Any

import numpy as np
import pytest
import torch
from gaussian_checks import brute_mu, check_sampler, check_squared_error, turn
from scipy.stats import matrix_normal
from typed import gaussian_mu, make_as

from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.mvg import Mvg, binary_allocation, mvg_bound
from tensorldp.mechanisms.tvg import Tvg, kappa
from tensorldp.randomness import generator


def four(**options: Any) -> Mvg:
    return make_as(Mvg, epsilon=1, domain=Box(-0.25, 0.25, (4, 4)), **options)  # gamma = 1, s2 = 2


def test_bound_of_the_four_by_four_case() -> None:
    terms = mvg_bound(4, 4, gamma=1, sensitivity=2, epsilon=1, delta=1e-5)
    assert terms.zeta == pytest.approx(8.134520, abs=5e-7)
    assert terms.alpha == pytest.approx(13.201124, abs=5e-7)
    assert terms.beta == pytest.approx(135.575330, abs=5e-7)
    assert terms.phi == pytest.approx(0.01473082, abs=5e-9)
    assert terms.bound == pytest.approx(2.169970e-4, abs=5e-11)
    assert terms.budget == pytest.approx(1.177192e-8, abs=5e-15)


def test_plain_zeta_of_the_four_by_four_case() -> None:
    terms = mvg_bound(4, 4, gamma=1, sensitivity=2, epsilon=1, delta=1e-5, zeta_mode="plain")
    assert terms.zeta == pytest.approx(66.170413, abs=5e-7)
    assert terms.bound == pytest.approx(3.288637e-6, abs=5e-13)
    sqrt = mvg_bound(4, 4, gamma=1, sensitivity=2, epsilon=1, delta=1e-5)
    assert sqrt.bound / terms.bound == pytest.approx(66, abs=1)


def test_plain_zeta_is_about_a_thousand_times_smaller_at_28() -> None:
    sqrt, plain = (
        mvg_bound(28, 28, gamma=28, sensitivity=56, epsilon=1, delta=1e-5, zeta_mode=mode).bound
        for mode in ("sqrt", "plain")
    )
    assert sqrt / plain == pytest.approx(1000, rel=0.05)


def test_two_by_three_case() -> None:
    terms = mvg_bound(2, 3, gamma=1, sensitivity=2, epsilon=1, delta=1e-2)
    assert terms.alpha == pytest.approx(9.207107, abs=5e-7)
    assert terms.beta == pytest.approx(47.626988, abs=5e-7)
    assert terms.bound == pytest.approx(1.735349e-3, abs=5e-10)
    assert terms.budget == pytest.approx(1.003813e-6, abs=5e-13)


def test_mnist_case() -> None:
    m = make_as(Mvg, epsilon=1, domain=Box(-1, 1, (28, 28)))
    assert m.terms.zeta == pytest.approx(31.575905, abs=5e-7)
    assert m.terms.bound == pytest.approx(7.406063e-10, rel=2e-7)
    assert float(m.variances[0]) == pytest.approx(3.780686e10, rel=2e-7)
    assert m.sigma == pytest.approx(194439.87, abs=5e-3)


def test_scalar_case_is_worse_than_tvg() -> None:
    terms = mvg_bound(1, 1, gamma=1, sensitivity=2, epsilon=1, delta=1e-5)
    assert (terms.alpha, terms.beta) == pytest.approx((6, 22.203420), abs=5e-7)
    assert terms.bound == pytest.approx(7.741239e-3, abs=5e-10)
    assert terms.bound < (kappa(1, 1, 1e-5) / 2) ** 2


def test_mvg_bound_is_below_tvgs_wherever_gamma_is_half_the_diameter_or_more() -> None:
    for rows, columns in ((1, 1), (1, 9), (4, 4), (5, 40)):
        for epsilon in (0.01, 1, 100):
            for gamma in (1.0, 3.0):
                terms = mvg_bound(rows, columns, gamma=gamma, sensitivity=2, epsilon=epsilon, delta=1e-5)
                assert terms.bound <= (kappa(rows * columns, epsilon, 1e-5) / 2) ** 2


def test_ratio_of_the_bounds_is_the_harmonic_square() -> None:
    harmonic = sum(1 / i for i in range(1, 29))
    domain = Box(-1, 1, (28, 28))
    mvg, tvg = make_as(Mvg, epsilon=1, domain=domain), make_as(Tvg, epsilon=1, domain=domain)
    # B_TVG / B_MVG once the factor sqrt(mn) of MVG's beta is taken out
    ratio = (mvg.sigma / tvg.sigma) ** 2
    assert ratio == pytest.approx(15.41, abs=0.01)
    assert harmonic**2 == pytest.approx(15.42, abs=0.01)


def test_isotropic_noise_and_its_exact_error() -> None:
    m = make_as(Mvg, epsilon=1, domain=Box(-1, 1, (6, 15)))
    assert m.sigma == pytest.approx(90**0.25 / math.sqrt(m.terms.bound), rel=1e-13)
    assert m.squared_error() == pytest.approx(90 * math.sqrt(90) / m.terms.bound, rel=1e-12)


def test_centring_makes_only_the_width_matter() -> None:
    shifted, centred = (make_as(Mvg, epsilon=1, domain=Box(low, low + 2, (4, 5))) for low in (0, -1))
    assert shifted.sigma == pytest.approx(centred.sigma, rel=1e-12)


@pytest.mark.parametrize(
    ("change", "larger"),
    [
        ({"epsilon": 2}, True),
        ({"sensitivity": 3}, False),
        ({"gamma": 2}, False),
        ({"rows": 5}, False),
        ({"columns": 6}, False),
    ],
)
def test_bound_is_monotone(change: dict[str, int], larger: bool) -> None:
    base: dict[str, Any] = {"rows": 4, "columns": 5, "gamma": 1, "sensitivity": 2, "epsilon": 1, "delta": 1e-5}
    assert (mvg_bound(**{**base, **change}).bound > mvg_bound(**base).bound) is larger


def test_phi_tends_to_two_epsilon_over_beta() -> None:
    terms = mvg_bound(4, 4, gamma=1e-9, sensitivity=2, epsilon=1e-3, delta=1e-5)
    assert terms.phi == pytest.approx(2 * 1e-3 / terms.beta, rel=1e-9)


def test_lower_bound_of_ji_and_li() -> None:
    for shape in ((4, 4), (28, 28), (32, 40)):
        for epsilon in (0.1, 1, 10):
            m = make("mvg", epsilon=epsilon, domain=Box(-1, 1, shape))
            rank = np.arange(1, min(shape) + 1)
            mix = 1.25 * (1 / rank).sum() + 0.25 * (rank**-0.5).sum()
            assert m.squared_error() >= m.size * m.domain.diameter**2 * mix / (2 * epsilon)


def test_binary_allocation_oracle_and_tightness() -> None:
    m = four(tau=0.8, important=2)
    assert m.variances.tolist() == pytest.approx([14572.911] * 2 + [29145.823] * 2, abs=5e-4)
    assert m.factors[0].sigma.tolist() == pytest.approx([120.7183] * 2 + [170.7215] * 2, abs=5e-5)
    norm = float((m.variances**-2).sum().sqrt()) * math.sqrt(4)
    assert norm == pytest.approx(m.terms.bound, rel=1e-12)


def test_binary_allocation_edges() -> None:
    assert binary_allocation(5, [0, 3], 0.8).tolist() == pytest.approx([0.4, 0.2 / 3, 0.2 / 3, 0.4, 0.2 / 3])
    for important in ([], [0, 1, 2]):
        assert binary_allocation(3, important, 0.8).tolist() == pytest.approx([1 / 3] * 3)
    assert binary_allocation(2, [0], 0.9).tolist() == [0.5, 0.5]


def test_any_theta_spends_the_budget() -> None:
    theta = torch.tensor([0.1, 0.2, 0.3, 0.4])
    m = four(theta=theta, directions=turn(4))
    assert float((m.variances**-2).sum()) == pytest.approx(m.terms.budget, rel=1e-6)
    assert (m.variances**-2 / m.terms.budget).tolist() == pytest.approx(theta.tolist(), rel=1e-6)


@pytest.mark.parametrize(
    "options", [{}, {"tau": 0.8, "important": 1}, {"theta": [0.5, 0.3, 0.2], "directions": turn(3, 2)}]
)
def test_sampler_and_exact_guarantee(options: dict[str, Any]) -> None:
    m = make_as(Mvg, epsilon=1, domain=Box(-1, 1, (3, 2)), **options)
    check_sampler(m)
    check_squared_error(m)
    assert m.curve().exact
    assert gaussian_mu(m.curve()) == pytest.approx(brute_mu(m), rel=1e-12)


def test_density_is_the_matrix_normal() -> None:
    m = make_as(Mvg, epsilon=1, domain=Box(-1, 1, (3, 2)), theta=[0.5, 0.3, 0.2], directions=turn(3, 2))
    directions = m.factors[0].directions
    assert directions is not None
    w = directions.numpy()
    density = matrix_normal(np.zeros((3, 2)), rowcov=w @ np.diag(m.variances.numpy()) @ w.T, colcov=np.eye(2))
    x, x_prime = m.worst_pair()
    y = m.privatize(x.expand(4, 3, 2), generator("matrix"))
    expected = density.logpdf((y - x).numpy()) - density.logpdf((y - x_prime).numpy())
    assert m.log_likelihood_ratio(y, x, x_prime).tolist() == pytest.approx(expected.tolist(), rel=1e-8, abs=1e-12)


def test_the_sampler_bug_squares_the_standard_deviation() -> None:
    right, wrong = four(), four(bug_compat=True)
    assert wrong.sigma == pytest.approx(right.sigma**2, rel=1e-12)
    assert wrong.guarantee(1e-5).note
    assert gaussian_mu(wrong.curve()) == pytest.approx(gaussian_mu(right.curve()) / right.sigma, rel=1e-12)


def test_matrix_error_of_tldp_agrees_only_for_square_matrices() -> None:
    square, tall = (make_as(Mvg, epsilon=1, domain=Box(-1, 1, shape)) for shape in ((6, 6), (12, 3)))
    printed = [math.sqrt(m.shape[0] * m.size / m.terms.bound) for m in (square, tall)]
    assert printed[0] == pytest.approx(math.sqrt(square.squared_error()), rel=1e-12)
    assert printed[1] != pytest.approx(math.sqrt(tall.squared_error()), rel=0.1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"zeta_mode": "cube"}, "zeta_mode"),
        ({"theta": [0.5] * 4}, "sum to 1"),
        ({"theta": [1.0]}, "vector of 4"),
        ({"theta": [0.25] * 4, "tau": 0.8}, "not both"),
        ({"tau": 1.5}, "tau"),
        ({"tau": 0.8, "important": 9}, "important"),
        ({"directions": torch.ones(4, 4)}, "orthogonal"),
    ],
)
def test_mistakes_are_told_in_a_sentence(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        four(**options)
