import math
from typing import Any

import pytest
from exact_laws import turn
from typed import gaussian_mu, make_as

from tensorldp.mechanisms import Box
from tensorldp.mechanisms.mvg import Mvg, MvgBound, binary_allocation, mvg_bound
from tensorldp.mechanisms.tvg import Tvg


def mvg(*shape: int, low: float = -1, high: float = 1, **options: Any) -> Mvg:
    return make_as(Mvg, epsilon=1, domain=Box(low, high, shape), **options)


def four(**options: Any) -> Mvg:
    return mvg(4, 4, low=-0.25, high=0.25, **options)  # gamma = 1, s2 = 2


def bound(rows: int = 4, columns: int = 4, **changes: Any) -> MvgBound:
    return mvg_bound(rows, columns, **{"gamma": 1, "sensitivity": 2, "epsilon": 1, "delta": 1e-5, **changes})


def test_oracles_of_the_bound() -> None:
    terms = bound()
    assert (terms.zeta, terms.alpha, terms.beta) == pytest.approx((8.134520, 13.201124, 135.575330), abs=5e-7)
    assert (terms.phi, terms.bound, terms.budget) == pytest.approx((0.01473082, 2.169970e-4, 1.177192e-8), rel=5e-7)
    terms = bound(2, 3, delta=1e-2)
    assert (terms.alpha, terms.beta) == pytest.approx((9.207107, 47.626988), abs=5e-7)
    assert (terms.bound, terms.budget) == pytest.approx((1.735349e-3, 1.003813e-6), rel=5e-7)
    terms = bound(1, 1)
    assert (terms.alpha, terms.beta, terms.bound) == pytest.approx((6, 22.203420, 7.741239e-3), rel=1e-7)
    m = mvg(28, 28)
    assert (m.terms.zeta, m.terms.bound) == pytest.approx((31.575905, 7.406063e-10), rel=2e-7)
    assert (float(m.variances[0]), m.sigma) == pytest.approx((3.780686e10, 194439.87), rel=2e-7)


def test_plain_zeta_of_the_official_code() -> None:
    plain = bound(zeta_mode="plain")
    assert (plain.zeta, plain.bound) == pytest.approx((66.170413, 3.288637e-6), rel=2e-7)
    assert bound().bound / plain.bound == pytest.approx(66, abs=1)
    large, large_plain = (bound(28, 28, gamma=28, sensitivity=56, zeta_mode=mode).bound for mode in ("sqrt", "plain"))
    assert large / large_plain == pytest.approx(1000, rel=0.05)


def test_ratio_of_the_bounds_is_the_harmonic_square() -> None:
    # B_TVG / B_MVG once the factor sqrt(mn) of MVG's beta is taken out
    ratio = (mvg(28, 28).sigma / make_as(Tvg, epsilon=1, domain=Box(-1, 1, (28, 28))).sigma) ** 2
    assert ratio == pytest.approx(15.41, abs=0.01)
    assert sum(1 / i for i in range(1, 29)) ** 2 == pytest.approx(15.42, abs=0.01)


def test_isotropic_noise_and_its_exact_error() -> None:
    m = mvg(6, 15)
    assert m.sigma == pytest.approx(90**0.25 / math.sqrt(m.terms.bound), rel=1e-13)
    assert m.squared_error() == pytest.approx(90 * math.sqrt(90) / m.terms.bound, rel=1e-12)
    assert mvg(6, 15, low=0, high=2).sigma == pytest.approx(m.sigma, rel=1e-12)  # only the width matters


def test_allocations_spend_the_budget() -> None:
    m = four(tau=0.8)  # two directions are important by default
    assert m.variances.tolist() == pytest.approx([14572.911] * 2 + [29145.823] * 2, abs=5e-4)
    assert m.factors[0].sigma.tolist() == pytest.approx([120.7183] * 2 + [170.7215] * 2, abs=5e-5)
    assert float((m.variances**-2).sum().sqrt()) * math.sqrt(4) == pytest.approx(m.terms.bound, rel=1e-12)
    m = four(theta=[0.1, 0.2, 0.3, 0.4], directions=turn(4))
    assert (m.variances**-2 / m.terms.budget).tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4], rel=1e-6)


def test_binary_allocation_edges() -> None:
    assert binary_allocation(5, [0, 3], 0.8).tolist() == pytest.approx([0.4, 0.2 / 3, 0.2 / 3, 0.4, 0.2 / 3])
    for important in ([], [0, 1, 2]):
        assert binary_allocation(3, important, 0.8).tolist() == pytest.approx([1 / 3] * 3)
    assert binary_allocation(2, [0], 0.9).tolist() == [0.5, 0.5]


def test_the_sampler_bug_squares_the_standard_deviation() -> None:
    right, wrong = four(), four(bug_compat=True)
    assert wrong.sigma == pytest.approx(right.sigma**2, rel=1e-12)
    assert wrong.guarantee(1e-5).note
    assert gaussian_mu(wrong.curve()) == pytest.approx(gaussian_mu(right.curve()) / right.sigma, rel=1e-12)


def test_matrix_error_of_tldp_agrees_only_for_square_matrices() -> None:
    for m, ratio in ((mvg(6, 6), 1.0), (mvg(12, 3), math.sqrt(2.0))):
        printed = math.sqrt(m.shape[0] * m.size / m.terms.bound)
        assert printed / math.sqrt(m.squared_error()) == pytest.approx(ratio, rel=1e-12)
