"""The covariance query: domain, residual sums, guarantees."""

import math

import pytest
import torch
from scipy.stats import kstest
from small import fixed, table
from typed import gaussian_mu, make_as

from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make, mechanism_class, names
from tensorldp.mechanisms.mvg import Mvg
from tensorldp.mechanisms.tvg import Idn
from tensorldp_papers.papers.tvg import covariance as query
from tensorldp_papers.papers.tvg.covariance import covariance, covariance_curve, query_domain, release_covariance

N, D = 2126, 21
ROWS = torch.rand(40, 5, generator=fixed(3), dtype=torch.float64) * 2 - 1


def test_the_query_has_the_sensitivities_of_the_source_and_of_the_proof() -> None:
    for reading, diameter in (("printed", 0.0197554), ("tight", 0.0139692)):
        mechanism = make("gaussian-classical", epsilon=1.0, domain=query_domain(N, D, reading))
        assert mechanism.domain.diameter == pytest.approx(diameter, rel=1e-5)
    with pytest.raises(InputError, match="must be one of printed, tight, got 'loose'"):
        query_domain(N, D, "loose")


def test_no_two_records_move_the_query_by_more_than_the_tight_sensitivity_and_two_attain_it() -> None:
    x = torch.where(torch.rand(5000, 2, 6, generator=fixed(4)) < 0.5, -1.0, 1.0).double()
    moved = (x[:, 0, :, None] * x[:, 0, None] - x[:, 1, :, None] * x[:, 1, None]).flatten(1).norm(dim=1)
    assert float(moved.max()) == pytest.approx(math.sqrt(2) * 6)


def test_both_readings_of_the_eigenvalues_on_a_worked_example() -> None:
    clean = torch.diag(torch.tensor([1.0, 3.0], dtype=torch.float64))
    turned = torch.tensor([[2.0, 1.0], [1.0, 2.0]], dtype=torch.float64)  # same eigenvalues, turned by 45 degrees
    truth = covariance(ROWS)
    for estimate, of, noisy, true in (
        (truth, truth, 0.0, 0.0),
        (turned, clean, 2.0, 2.0),  # v^T S v = 2 for both vectors
        (5.0 * clean, clean, 4.0**2 + 12.0**2, 0.0),
    ):
        found = query.residual_sums(estimate, of)
        assert [found["rss_noisy"], found["rss_true"]] == pytest.approx([noisy, true], abs=1e-12)
    with pytest.raises(InputError, match="two symmetric matrices"):
        query.residual_sums(torch.tensor([[0.0, 1.0], [0.0, 0.0]]), clean)


def test_the_noise_is_symmetric_and_has_the_law_of_the_mechanism() -> None:
    """False alarms: 2e-6."""
    mechanism = make_as(Idn, epsilon=1.0, domain=query_domain(len(ROWS), 5, "printed"))
    draws = torch.stack([release_covariance(mechanism, ROWS, fixed(k)) - covariance(ROWS) for k in range(400)])
    assert torch.allclose(draws, draws.mT)
    diagonal = draws.diagonal(dim1=1, dim2=2).flatten() / mechanism.sigma
    corner = draws[:, 0, 1] * math.sqrt(2) / mechanism.sigma
    assert min(kstest(part.numpy(), "norm").pvalue for part in (diagonal, corner)) > 1e-6


def test_a_record_is_guaranteed_more_than_a_corner_of_the_domain() -> None:
    mechanism = make("idn", epsilon=1.0, domain=query_domain(N, D, "printed"))
    curve = covariance_curve(mechanism, N, D)
    assert gaussian_mu(curve) == pytest.approx(gaussian_mu(mechanism.curve()) / math.sqrt(2))
    assert not curve.exact
    tight = make("gaussian-analytic", epsilon=2.0, domain=query_domain(N, 30, "tight"))
    assert covariance_curve(tight, N, 30).epsilon(1e-5) == pytest.approx(2.0)
    jl = make("jl", epsilon=2.0, domain=Box(-1.0, 1.0, (5,)))
    assert covariance_curve(jl, N, 5).delta(0.0) == jl.curve().delta(0.0)  # its domain is that of one row


@pytest.mark.parametrize("name", [name for name in names() if name != "jl" and not mechanism_class(name).integer])
def test_only_additive_mechanisms_release_a_covariance(name: str) -> None:
    mechanism = make(name, epsilon=1.0, domain=query_domain(len(ROWS), 5, "printed"))
    if mechanism.additive:
        assert release_covariance(mechanism, ROWS, fixed()).shape == (5, 5)
        covariance_curve(mechanism, *ROWS.shape)
        return
    with pytest.raises(InputError, match=f"the noise of {name} as it is set up depends on the record"):
        release_covariance(mechanism, ROWS, fixed())
    with pytest.raises(InputError, match=f"the noise of {name} as it is set up depends on the record"):
        covariance_curve(mechanism, *ROWS.shape)


def test_mvg_takes_the_norm_of_the_query_itself() -> None:
    domain = query_domain(N, D, "printed")
    given = make_as(Mvg, epsilon=1.0, domain=domain, gamma=float(D))
    assert given.terms.alpha > 1e4 * make_as(Mvg, epsilon=1.0, domain=domain).terms.alpha
    with pytest.raises(InputError, match="gamma of mvg"):
        make("mvg", epsilon=1.0, domain=domain, gamma=1e-9)


def test_rows_come_from_the_public_range_or_are_clipped() -> None:
    image = table(torch.tensor([[0, 8, 16]], dtype=torch.uint8), "image", low=0.0, high=16.0)
    assert query.unit_rows(image, 3.0).tolist() == [[-1.0, 0.0, 1.0]]
    assert query.unit_rows(table(torch.tensor([[-9.0, 1.5, 3.0]])), 3.0).tolist() == [[-1.0, 0.5, 1.0]]
    with pytest.raises(InputError, match="is text"):
        query.unit_rows(table(torch.zeros(1, 3), "text"), 3.0)
