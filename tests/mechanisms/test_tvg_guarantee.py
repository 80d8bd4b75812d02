"""Noise, guarantee and likelihood of a Gaussian with directions are those of its explicit covariance."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from exact_laws import check_mean, releases, turn
from scipy.stats import chi2, multivariate_normal
from typed import exact_error, gaussian_mu, make_as

from tensorldp.mechanisms import Ball, Box, Domain, make
from tensorldp.mechanisms.directional import DirectionalGaussian, ModeFactor
from tensorldp.mechanisms.tvg import Idn, Udn, kappa

BOX, BALL = Box(-1, 1, (3, 2)), Ball(2.0, (3, 2))
SLANTED = {"importances": [4.0, 1.0, 0.1], "directions": turn(3)}
FORMS: list[tuple[str, Domain, dict[str, Any]]] = [
    ("tvg", BOX, {}),
    ("tvg", BOX, {"importances": [1.0, 9.0, 0.01], "directions": turn(3, 7)}),
    ("udn", BOX, {}),
    ("udn", BOX, SLANTED),
    ("udn", BALL, SLANTED),
    ("idn", BOX, {}),
    ("idn", BOX, {"importances": [4.0, 1.0, 0.1]}),
    ("mvg", BOX, {}),
    ("mvg", BOX, {"tau": 0.8, "important": 1}),
    ("mvg", BOX, {"theta": [0.5, 0.3, 0.2], "directions": turn(3, 2)}),
    ("matrix", BOX, {"workload": torch.tril(torch.ones(3, 3))}),
    ("optimized", BOX, {}),
    ("optimized", BALL, {}),
    ("optimized", BOX, {"weights": [1.0, 10.0, 0.1, 4.0, 2.0, 0.5]}),
    ("llagp", Box(-1, 1, (3, 3)), {"layers": (2, 3, 4), "step": 7, "steps": 10}),
]


def corners(n: int) -> np.ndarray:
    """One of each two opposite corners of [-1, 1]^n."""
    return np.array([(1.0, *rest) for rest in itertools.product((-1.0, 1.0), repeat=n - 1)])


def explicit_covariance(m: DirectionalGaussian) -> np.ndarray:
    """The covariance of the row-major vec of the noise, from the factors, by an explicit Kronecker product."""
    total = np.eye(1)
    for f in m.factors:
        w = np.eye(f.sigma.numel()) if f.directions is None else f.directions.numpy()
        total = np.kron(total, w @ np.diag(f.sigma.numpy() ** 2) @ w.T)
    return np.kron(total, np.eye(m.size // total.shape[0]))


def worst_mu(m: DirectionalGaussian) -> float:
    """The largest Mahalanobis distance of two records, by enumeration or the spectrum."""
    precision = np.linalg.inv(explicit_covariance(m))
    if isinstance(m.domain, Ball):
        return m.domain.diameter * math.sqrt(np.linalg.eigvalsh(precision).max())
    shifts = m.domain.width * corners(m.size)
    return math.sqrt(((shifts @ precision) * shifts).sum(axis=1).max())


def check_sampler(m: DirectionalGaussian, count: int = 20_000) -> None:
    """Whitened samples have identity covariance: the sum of squared deviations is chi-square, false alarm 1e-6."""
    centre = torch.full(m.shape, float(m.domain.centre), dtype=torch.float64)
    noise = (releases(m, centre, count) - centre).reshape(count, -1).numpy()
    white = np.linalg.solve(np.linalg.cholesky(explicit_covariance(m)), noise.T)
    d = white.shape[0]
    deviation = (white @ white.T / count - np.eye(d)) * math.sqrt(count)
    statistic = (deviation[np.triu_indices(d, 1)] ** 2).sum() + (np.diag(deviation) ** 2).sum() / 2
    assert statistic < chi2.isf(1e-6, d * (d + 1) // 2)


@pytest.mark.parametrize(("name", "domain", "options"), FORMS)
def test_everything_is_that_of_the_explicit_covariance(name: str, domain: Domain, options: dict[str, Any]) -> None:
    m = make(name, epsilon=1, domain=domain, **options)
    assert isinstance(m, DirectionalGaussian)
    covariance, (x, x_prime) = explicit_covariance(m), m.worst_pair()
    check_sampler(m)
    noise = (releases(m, torch.zeros(m.shape), 4000, dtype=torch.float32)).reshape(4000, -1).double()
    check_mean(noise.square().sum(dim=1), exact_error(m))
    assert exact_error(m) == pytest.approx(np.trace(covariance), rel=1e-12)
    shift = (x - x_prime).reshape(-1).numpy()
    attained = math.sqrt(shift @ np.linalg.solve(covariance, shift))
    assert m.curve().exact
    assert gaussian_mu(m.curve()) == pytest.approx(worst_mu(m), rel=1e-10) == pytest.approx(attained, rel=1e-10)
    assert domain.excess(torch.stack([x, x_prime])) <= 1e-12
    y = releases(m, x, 5)
    log_density = multivariate_normal(np.zeros(m.size), covariance).logpdf
    expected = [log_density((row - x).reshape(-1)) - log_density((row - x_prime).reshape(-1)) for row in y]
    assert m.log_likelihood_ratio(y, x, x_prime).tolist() == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_long_slanted_modes_are_an_honest_upper_bound() -> None:
    n = 14
    factor = ModeFactor(torch.linspace(1.0, 3.0, n, dtype=torch.float64), turn(n, 3))
    m = make_as(Udn, epsilon=1, domain=Box(-1, 1, (n, 2)), directions=turn(n, 3), importances=np.linspace(1, 5, n))
    worst, of_mode = (
        ((corners(n) @ f.precision.numpy()) * corners(n)).sum(axis=1).max() for f in (factor, m.factors[0])
    )
    assert factor.attained <= worst * (1 + 1e-12)
    assert worst <= factor.bound
    assert factor.attained > 0.97 * worst  # the local search is a good worst pair
    assert not m.curve().exact
    assert not m.guarantee(1e-5).exact
    assert m.domain.as_box().width * math.sqrt(of_mode * 2) <= gaussian_mu(m.curve())
    assert gaussian_mu(m.curve()) <= m.domain.diameter / float(m.factors[0].sigma.min()) * (1 + 1e-12)


def test_a_long_mode_whose_bound_is_attained_is_exact() -> None:
    """Directions from a Hadamard matrix: the most precise direction is itself a corner."""
    h = np.array([[1.0]])
    for _ in range(4):
        h = np.block([[h, h], [h, -h]])
    options: dict[str, Any] = {"directions": torch.from_numpy(h / 4), "importances": np.linspace(1, 5, 16)}
    m = make_as(Udn, epsilon=1, domain=Box(-1, 1, (16, 2)), **options)
    assert m.curve().exact
    assert gaussian_mu(m.curve()) == pytest.approx(m.domain.diameter / float(m.factors[0].sigma.min()), rel=1e-12)


def test_idn_beats_its_spectral_bound() -> None:
    m = make_as(Idn, epsilon=1, domain=Box(-1, 1, (3, 4)), importances=[9.0, 1.0, 1.0])
    assert gaussian_mu(m.curve()) == pytest.approx(kappa(12, 1, 1e-5), rel=1e-12)  # Theorem 3's mu is attained
    assert gaussian_mu(m.curve()) < m.domain.diameter / float(m.factors[0].sigma.min())
