"""Independent checks of Gaussian mechanisms: explicit Kronecker products, enumerated corners, sampled moments."""

import itertools
import math

import numpy as np
import torch
from draws import releases
from scipy.stats import chi2

from tensorldp.mechanisms import Ball
from tensorldp.mechanisms.directional import DirectionalGaussian
from tensorldp.randomness import generator


def turn(n: int, seed: int = 0) -> torch.Tensor:
    q, _ = torch.linalg.qr(torch.randn(n, n, dtype=torch.float64, generator=generator("turn", seed)))
    assert isinstance(q, torch.Tensor)
    return q


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
