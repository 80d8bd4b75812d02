"""Independent checks of Gaussian mechanisms: explicit Kronecker products, enumerated corners, sampled moments."""

import itertools
import math

import numpy as np
import torch
from scipy.stats import chi2
from typed import exact_error

from tensorldp.mechanisms import Box, Mechanism
from tensorldp.mechanisms.directional import DirectionalGaussian
from tensorldp.mechanisms.tvg import Udn
from tensorldp.randomness import generator


def turn(n: int, seed: int = 0) -> torch.Tensor:
    q, _ = torch.linalg.qr(torch.randn(n, n, dtype=torch.float64, generator=generator("turn", seed)))
    assert isinstance(q, torch.Tensor)
    return q


def explicit_covariance(m: DirectionalGaussian) -> np.ndarray:
    """The covariance of the row-major vec of the noise, from the factors, by an explicit Kronecker product."""
    total = np.eye(1)
    for f in m.factors:
        w = np.eye(f.sigma.numel()) if f.directions is None else f.directions.numpy()
        total = np.kron(total, w @ np.diag(f.sigma.numpy() ** 2) @ w.T)
    return np.kron(total, np.eye(m.size // total.shape[0]))


def brute_mu(m: DirectionalGaussian) -> float:
    assert isinstance(m.domain, Box)
    precision = np.linalg.inv(explicit_covariance(m))
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=m.size)))
    return m.domain.width * math.sqrt(((corners @ precision) * corners).sum(axis=1).max())


def check_sampler(m: DirectionalGaussian, count: int = 40_000, seed: int = 1) -> None:
    """Whitened samples have identity covariance: the sum of squared deviations is chi-square, false alarm 1e-6."""
    x = torch.full((count, *m.shape), float(m.domain.centre), dtype=torch.float64)
    noise = (m.privatize(x, generator("sampler", seed)) - x).reshape(count, -1).numpy()
    white = np.linalg.solve(np.linalg.cholesky(explicit_covariance(m)), noise.T)
    d = white.shape[0]
    deviation = (white @ white.T / count - np.eye(d)) * math.sqrt(count)
    upper = np.triu_indices(d, 1)
    statistic = (deviation[upper] ** 2).sum() + (np.diag(deviation) ** 2).sum() / 2
    assert statistic < chi2.isf(1e-6, d * (d + 1) // 2)


def check_squared_error(m: Mechanism, count: int = 4000, seed: int = 2) -> None:
    x = m.worst_input().expand(count, *m.shape).contiguous()
    errors = ((m.privatize(x, generator("error", seed)) - x) ** 2).reshape(count, -1).sum(dim=1)
    assert abs(float(errors.mean()) - exact_error(m)) < 5 * float(errors.std()) / math.sqrt(count)


def brute_mu_of_mode(m: Udn) -> float:
    assert isinstance(m.domain, Box)
    n = m.shape[0]
    corners = np.array([(1.0, *c) for c in itertools.product((-1.0, 1.0), repeat=n - 1)])
    form = ((corners @ m.factors[0].precision.numpy()) * corners).sum(axis=1).max()
    return m.domain.width * math.sqrt(form * m.size / n)
