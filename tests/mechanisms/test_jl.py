import math
from typing import Any

import pytest
import torch
from exact_laws import check_mean
from scipy.stats import chi2
from typed import make_as

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Box, Domain
from tensorldp.mechanisms.jl import JohnsonLindenstrauss, dimension, floor
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


def test_the_guarantee_is_that_of_the_rows_drawn_and_below_the_theorems() -> None:
    m = jl(1)
    guarantee = m.guarantee(1e-9)
    assert 0 < guarantee.epsilon < 1e-3
    assert (guarantee.exact, guarantee.unit, m.guarantee(0.0).epsilon) == (True, "record", math.inf)
    assert not jl(1, Box(-1, 1, (3,))).curve().exact
    mean = jl(1, centre="mean")
    assert mean.guarantee(1e-5).note
    assert not mean.curve().exact


def test_the_worst_pair_is_orthogonal_and_as_far_from_the_centre_as_can_be() -> None:
    for m in (jl(1), jl(1, Box(0, 10, (2, 2))), jl(1, Ball(3.0, (6,)))):
        rows = [((row - m.domain.centre) / m.diameter).reshape(-1) for row in m.worst_pair()]
        assert [float(row.norm()) for row in rows] == pytest.approx([0.5, 0.5])
        assert float(rows[0] @ rows[1]) == pytest.approx(0.0, abs=1e-15)


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


@pytest.mark.parametrize("epsilon", [1e4, 1e5, 1e6, 3e6, 1e7, 1e9])
@pytest.mark.parametrize("others", [0.0, 0.4])
def test_no_pair_of_tables_exceeds_the_guarantee(epsilon: float, others: float) -> None:
    """A row at the edge against one at the centre, with `others` of w^2 from other rows, by the chi-square law."""
    m = jl(epsilon, Ball(1, (1,)), delta=1e-5)
    curve, q, r = m.curve(), 0.25 / m.floor**2 / (1 + others), m.rows
    for guaranteed in (curve.epsilon(delta) for delta in (1e-5, 1e-3, 0.1)):
        least = (guaranteed + r / 2 * math.log1p(q)) * 2 / q  # of X, where the loss q X / 2 - (r/2) log(1 + q) is that
        delta = chi2.sf(least, r) - math.exp(guaranteed + chi2.logsf(least * (1 + q), r))
        assert delta <= curve.delta(guaranteed)
