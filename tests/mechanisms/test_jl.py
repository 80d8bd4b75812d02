import math
from typing import Any

import numpy as np
import pytest
import torch
from exact_laws import check_mean
from scipy.stats import chi2
from typed import make_as

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Box, Domain
from tensorldp.mechanisms.jl import JohnsonLindenstrauss, StatedCurve, dimension, floor
from tensorldp.randomness import generator

FOUR = Box(-1, 1, (4,))


def jl(epsilon: float, domain: Domain = FOUR, **options: Any) -> JohnsonLindenstrauss:
    return make_as(JohnsonLindenstrauss, epsilon=epsilon, domain=domain, **options)


def table(rows: int = 200, columns: int = 4) -> torch.Tensor:
    return torch.rand(rows, columns, dtype=torch.float64, generator=generator("table")) * 2 - 1


@pytest.mark.parametrize(("eta", "nu", "r", "w"), [(0.5, 0.05, 119, 11625.456), (0.1, 0.05, 2952, 67654.785)])
def test_constants(eta: float, nu: float, r: int, w: float) -> None:
    assert dimension(eta, nu) == r
    assert floor(r, 1, 1e-5) == pytest.approx(w, abs=5e-4)
    m = jl(1, Box(-1, 1, (21,)), eta=eta, nu=nu)
    assert (m.rows, m.floor) == (r, pytest.approx(w, abs=5e-4))
    assert m.diameter == pytest.approx(2 * math.sqrt(21))  # scaling moves a replaced row by at most one
    assert jl(1, Ball(3.0, (21,))).diameter == 6.0


def test_the_gram_matrix_has_the_wishart_law() -> None:
    """E C~ = A^T A + w^2 E, and the trace of the whitened C~ is chi-square with r d degrees of freedom."""
    m, x = jl(1e6), table()
    target = (x / m.diameter).T @ (x / m.diameter) + m.floor**2 * torch.eye(4)
    draws = torch.stack([m.gram(x, generator("jl", i)) for i in range(300)])
    check_mean(draws, target)
    traces = torch.linalg.solve(target, draws).diagonal(dim1=1, dim2=2).sum() * m.rows
    assert chi2.ppf(1e-6, 300 * m.rows * 4) < float(traces) < chi2.isf(1e-6, 300 * m.rows * 4)


def test_many_rows_and_no_floor_give_the_exact_covariance_centred_and_scaled() -> None:
    for m, shape in ((jl(1e12, eta=0.02), (4,)), (jl(1e12, Box(0, 10, (2, 2)), eta=0.02), (2, 2))):
        x = m.domain.centre + m.domain.as_box().width / 2 * table()
        exact = (x - m.domain.centre).T @ (x - m.domain.centre) / 200
        estimate = m.covariance(x.float().reshape(200, *shape), generator("exact"))
        assert estimate.dtype == torch.float64
        # a product M^T M is symmetric but for the order in which a BLAS sums its 200 rows
        torch.testing.assert_close(estimate, estimate.T, rtol=1e-10, atol=1e-12 * float(estimate.abs().max()))
        assert float((estimate - exact).norm() / exact.norm()) < 0.04
    few = jl(1, Box(-1, 1, (6,)))  # a table with fewer rows than columns has a floor everywhere
    assert float(torch.linalg.eigvalsh(few.gram(table(2, 6), generator("few")))[0]) > 0.2 * few.floor**2


def test_guarantee_is_the_theorems_and_not_exact() -> None:
    m = jl(1)
    guarantee = m.guarantee(1e-5)
    assert (guarantee.epsilon, guarantee.exact, guarantee.unit) == (1.0, False, "record")
    assert m.guarantee(1e-6).epsilon == math.inf
    assert m.privacy_profile(1.0) == 1e-5
    assert jl(1, centre="mean").guarantee(1e-5).note


def test_stated_curve_composes_like_randomized_response() -> None:
    curve = StatedCurve(0.3, 1e-4).compose(7)
    losses = np.array([(2 * b - 7) * 0.3 for b in range(8)])
    p = 1 / (1 + math.exp(-0.3))
    weights = np.array([math.comb(7, b) * p**b * (1 - p) ** (7 - b) for b in range(8)])
    inner = (weights * np.clip(1 - np.exp(0.5 - losses), 0, None)).sum()
    atom = 1 - (1 - 1e-4) ** 7
    assert curve.delta(0.5) == pytest.approx(atom + (1 - atom) * inner, rel=1e-12)
    assert curve.epsilon(2 * atom) <= 7 * 0.3
    assert StatedCurve(0.3, 1e-4).delta(0.0) == pytest.approx(1e-4 + (1 - 1e-4) * math.tanh(0.15), rel=1e-12)


def test_a_hundred_million_uses_of_a_statement_are_composed_at_once() -> None:
    curve = StatedCurve(1e-3, 1e-30).compose(10**8)
    assert curve.epsilon(1e-6) == pytest.approx(96.7173, rel=1e-5)


def test_it_is_outside_the_same_shape_contract_and_refuses_bad_tables() -> None:
    m = jl(1)
    assert not m.same_shape
    with pytest.raises(InputError, match="covariance"):
        m.privatize(table(), generator("refused"))
    with pytest.raises(InputError, match="log_likelihood_ratio"):
        m.log_likelihood_ratio(table(), table(), table())
    with pytest.raises(InputError, match="outside"):
        m.covariance(table() * 3, generator("outside"))
    with pytest.raises(InputError, match="at least one row"):
        m.covariance(torch.empty(0, 4), generator("empty"))


@pytest.mark.parametrize("epsilon", [1e-2, 1.0, 1e3, 1e6, 3e6, 1e7, 1e9, 1e12])
def test_a_row_at_the_edge_against_one_at_the_centre_keeps_what_is_stated(epsilon: float) -> None:
    m = jl(epsilon, Ball(1, (1,)), delta=1e-5)
    stated, share = m.guarantee(1e-5).epsilon, 0.25 / m.floor**2
    assert (stated == epsilon) == (epsilon <= 3e6)
    # the loss is share / 2 X - (r/2) ln(1 + share), X chi-square with r degrees of freedom
    assert chi2.sf((stated + m.rows / 2 * math.log1p(share)) * 2 / share, m.rows) <= 1e-5
