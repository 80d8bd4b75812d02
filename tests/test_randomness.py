import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

from tensorldp.errors import InputError
from tensorldp.randomness import (
    SEGMENT,
    add_gaussian,
    add_laplace,
    check_generator,
    derive_seed,
    generator,
    numpy_generator,
    sparse_positions,
    standard_normal,
    uniform,
)

DRAWS = 100_000_000


def blocks(add: Any, scale: float, dtype: torch.dtype = torch.float32) -> Iterator[torch.Tensor]:
    source = generator("tails", add.__name__)
    zero = torch.zeros(1_000_000, dtype=dtype)
    for _ in range(DRAWS // zero.numel()):
        yield add(zero, scale, source)


def inside_poisson(count: int, expected: float) -> bool:
    return stats.poisson.ppf(5e-7, expected) <= count <= stats.poisson.ppf(1 - 5e-7, expected)


def test_laplace_tails() -> None:
    far, beyond, largest = 0, 0, 0.0
    for z in blocks(add_laplace, 2.0):
        size = z.abs() / 2.0
        assert bool(torch.isfinite(z).all())
        far += int((size > 10).sum())
        beyond += int((size > 15).sum())
        largest = max(largest, float(size.max()))
    assert inside_poisson(far, DRAWS * math.exp(-10))
    assert inside_poisson(beyond, DRAWS * math.exp(-15))
    # a 24-bit uniform stops at 24 ln 2 = 16.6; the largest of 1e8 is log 1e8 = 18.4 + Gumbel
    assert stats.gumbel_r.ppf(5e-7) < largest - math.log(DRAWS) < stats.gumbel_r.ppf(1 - 5e-7)
    assert largest > 24 * math.log(2.0)


def test_gaussian_tails() -> None:
    far, beyond, largest = 0, 0, 0.0
    for z in blocks(add_gaussian, 3.0):
        size = z.abs() / 3.0
        assert bool(torch.isfinite(z).all())
        far += int((size > 4).sum())
        beyond += int((size > 5).sum())
        largest = max(largest, float(size.max()))
    assert inside_poisson(far, DRAWS * 2 * stats.norm.sf(4))
    assert inside_poisson(beyond, DRAWS * 2 * stats.norm.sf(5))
    # Box-Muller on 24 bits stops at 5.8, which would take 2e9 draws to tell; a tail cut below 5.2 fails here
    assert 5.2 < largest < 8.0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_laws(dtype: torch.dtype) -> None:
    zero = torch.zeros(200_000, dtype=dtype)
    assert stats.kstest(add_laplace(zero, 1.5, generator("ks")).numpy(), stats.laplace(scale=1.5).cdf).pvalue > 1e-6
    assert stats.kstest(add_gaussian(zero, 1.5, generator("ks")).numpy(), stats.norm(scale=1.5).cdf).pvalue > 1e-6
    assert stats.kstest(standard_normal(zero, generator("ks")).numpy(), stats.norm.cdf).pvalue > 1e-6


def test_uniform_is_open_and_uniform() -> None:
    u = uniform((300_000,), generator("uniform")).numpy()
    assert u.min() > 0.0
    assert u.max() < 1.0
    assert stats.kstest(u, stats.uniform.cdf).pvalue > 1e-6


@pytest.mark.parametrize("probability", [0.0, 1e-30, 1e-6, 0.01, 0.3, 1.0])
def test_sparse_positions(probability: float) -> None:
    count, source = 1000, generator("sparse", probability)
    hits = np.zeros(count)
    totals = []
    for _ in range(500):
        found = sparse_positions(count, probability, source)
        assert len(np.unique(found)) == len(found)
        hits[found] += 1
        totals.append(len(found))
    assert stats.binomtest(int(hits.sum()), 500 * count, probability).pvalue > 1e-6
    if 0.001 < probability < 1.0:
        expected = 500 * probability
        spread = expected * (1 - probability)
        assert stats.chi2.sf(((hits - expected) ** 2 / spread).sum(), count) > 1e-6


def test_seeds() -> None:
    assert derive_seed("a", 1) == derive_seed("a", 1)
    assert derive_seed("a", 1) != derive_seed("a", 2)
    assert derive_seed("ab", "c") != derive_seed("a", "bc")
    assert 0 <= derive_seed("a") < 2**63
    source = generator("numpy")
    assert numpy_generator(source).random() != numpy_generator(source).random()


def test_check_generator() -> None:
    with pytest.raises(InputError, match=r"torch.Generator"):
        check_generator(np.random.default_rng(0), torch.zeros(1))


@pytest.mark.parametrize("add", [add_laplace, add_gaussian])
def test_draws_do_not_depend_on_threads_and_segments_differ(add: Any) -> None:
    zero = torch.zeros(3 * SEGMENT + 5, dtype=torch.float64)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = add(zero, 1.0, generator("threads"))
        torch.set_num_threads(3)
        together = add(zero, 1.0, generator("threads"))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(alone, together)
    parts = alone[: 3 * SEGMENT].reshape(3, SEGMENT)
    correlation = np.corrcoef(parts.numpy())[np.triu_indices(3, 1)]
    assert np.abs(correlation).max() < 5.1 / math.sqrt(SEGMENT)  # 1e-6 over three pairs


def test_laplace_signs_are_fair_and_independent() -> None:
    z = add_laplace(torch.zeros(8 * 250_000, dtype=torch.float64), 1.0, generator("signs")).sign().reshape(-1, 8)
    correlation = (z.T @ z) / len(z) - torch.eye(8, dtype=torch.float64)
    assert float(correlation.abs().max()) < 5.5 / math.sqrt(len(z))  # 1e-6 over 28 pairs
    assert float(z.mean(dim=0).abs().max()) < 5.3 / math.sqrt(len(z))
