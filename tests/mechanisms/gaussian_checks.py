"""Independent checks of Gaussian mechanisms: explicit Kronecker products, enumerated corners, sampled moments."""

import itertools
import math

import numpy as np
import torch
from scipy.stats import chi2

from tensorldp.randomness import generator


def turn(n, seed=0):
    return torch.linalg.qr(torch.randn(n, n, dtype=torch.float64, generator=generator("turn", seed)))[0]


def explicit_covariance(m):
    """The covariance of the row-major vec of the noise, from the factors, by an explicit Kronecker product."""
    total = np.eye(1)
    for f in m.factors:
        w = np.eye(f.sigma.numel()) if f.directions is None else f.directions.numpy()
        total = np.kron(total, w @ np.diag(f.sigma.numpy() ** 2) @ w.T)
    return np.kron(total, np.eye(m.size // total.shape[0]))


def brute_mu(m):
    precision = np.linalg.inv(explicit_covariance(m))
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=m.size)))
    return m.domain.width * math.sqrt(((corners @ precision) * corners).sum(axis=1).max())


def check_sampler(m, count=40_000, seed=1):
    """Whitened samples have identity covariance: the sum of squared deviations is chi-square, false alarm 1e-6."""
    x = torch.full((count, *m.shape), float(m.domain.center), dtype=torch.float64)
    noise = (m.privatize(x, generator("sampler", seed)) - x).reshape(count, -1).numpy()
    white = np.linalg.solve(np.linalg.cholesky(explicit_covariance(m)), noise.T)
    d = white.shape[0]
    deviation = (white @ white.T / count - np.eye(d)) * math.sqrt(count)
    upper = np.triu_indices(d, 1)
    statistic = (deviation[upper] ** 2).sum() + (np.diag(deviation) ** 2).sum() / 2
    assert statistic < chi2.isf(1e-6, d * (d + 1) // 2)


def check_squared_error(m, count=4000, seed=2):
    x = m.worst_input().expand(count, *m.shape).contiguous()
    errors = ((m.privatize(x, generator("error", seed)) - x) ** 2).reshape(count, -1).sum(dim=1)
    assert abs(float(errors.mean()) - m.squared_error()) < 5 * float(errors.std()) / math.sqrt(count)


def brute_mu_of_mode(m):
    n = m.shape[0]
    corners = np.array([(1.0, *c) for c in itertools.product((-1.0, 1.0), repeat=n - 1)])
    form = ((corners @ m.factors[0].precision.numpy()) * corners).sum(axis=1).max()
    return m.domain.width * math.sqrt(form * m.size / n)
