import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import chisquare, kstest
from typed import make_as

from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.sampled_coordinates import (
    HYBRID_THRESHOLD,
    Hybrid,
    SampledCoordinates,
    distinct_indices,
    duchi_variance,
    piecewise_bound,
    piecewise_variance,
)
from tensorldp.randomness import generator, numpy_generator


def test_one_dimensional_variances() -> None:
    assert duchi_variance(0, 1) == pytest.approx(4.682694, abs=1e-6)
    assert duchi_variance(1, 1) == pytest.approx(3.682694, abs=1e-6)
    assert piecewise_variance(0, 1) == pytest.approx(3.682103, abs=1e-6)
    assert piecewise_variance(1, 1) == pytest.approx(5.223597, abs=1e-6)
    assert piecewise_variance(0, 4) == pytest.approx(0.084836, abs=1e-6)
    assert piecewise_variance(1, 4) == pytest.approx(0.241354, abs=1e-6)
    for t in (0.0, 0.3, 1.0):
        for epsilon, variance in ((1, 4.288992), (4, 0.218979)):
            hybrid = make_as(SampledCoordinates, "hybrid", epsilon=epsilon, domain=Box(-1, 1, (1,)))
            assert hybrid.variance(t) == pytest.approx(variance, abs=1e-6)


def test_thresholds() -> None:
    assert pytest.approx(0.6093525, abs=1e-7) == HYBRID_THRESHOLD
    for epsilon, better in ((1.289, False), (1.2905, True)):
        assert (piecewise_variance(1, epsilon) < duchi_variance(0, epsilon)) == better


@pytest.mark.parametrize(
    ("epsilon", "piecewise", "hybrid"),
    [
        (0.5, (17420, 13880), (13070, 13070)),
        (1, (4878, 2887), (4146, 3363)),
        (2, (1745, 506), (1600, 817)),
        (4, (972, 66.5), (955, 172)),
        (8, (430, 75.8), (407, 147)),
        (16, (214, 37.9), (203, 73.4)),
        (64, (52.7, 10.2), (49.6, 19.3)),
        (100, (33.3, 6.84), (31.3, 12.7)),
    ],
)
def test_cube_of_784(epsilon: float, piecewise: tuple[float, ...], hybrid: tuple[float, ...]) -> None:
    for name, (corner, zero) in (("piecewise", piecewise), ("hybrid", hybrid)):
        m = make_as(SampledCoordinates, name, epsilon=epsilon, domain=Box(-1, 1, (784,)))
        assert m._element_error(1.0) == pytest.approx(corner, rel=2e-3)
        assert m._element_error(0.0) == pytest.approx(zero, rel=5e-3)
        assert m.squared_error() == pytest.approx(784 * max(m._element_error(0.0), m._element_error(1.0)))


@pytest.mark.parametrize(
    ("epsilon", "size", "expected"), [(0.1, 784, 1), (5, 784, 2), (100, 784, 40), (100, 3, 3), (2.5, 1, 1)]
)
def test_sampled_coordinates(epsilon: float, size: int, expected: int) -> None:
    m = make_as(Hybrid, epsilon=epsilon, domain=Box(-1, 1, (size,)))
    assert m.sampled == expected
    y = m.privatize(torch.full((50, size), 0.25), generator("count"))
    assert bool(((y != 0).sum(dim=1) == expected).all())


@pytest.mark.parametrize("name", ["piecewise", "hybrid"])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 7.6, 40.0])
def test_exactly_epsilon(name: str, epsilon: float) -> None:
    g = make(name, epsilon=epsilon, domain=Box(-1, 1, (30,))).guarantee(0.0)
    assert g.epsilon == pytest.approx(epsilon)
    assert g.exact


@pytest.mark.parametrize("t", [-1.0, 0.4, 1.0])
def test_piecewise_law(t: float) -> None:
    m = make("piecewise", epsilon=2.0, domain=Box(-1, 1, (1,)))
    y = m.privatize(torch.full((200_000, 1), t, dtype=torch.float64), generator("pm", t)).numpy().ravel()
    bound, z = piecewise_bound(2.0), math.e
    left = (bound + 1) / 2 * t - (bound - 1) / 2
    right = left + bound - 1

    def cdf(v: Any) -> Any:
        near = z / (z + 1) * np.clip((v - left) / (bound - 1), 0, 1)
        far = (np.clip(v, -bound, left) + bound + np.clip(v, right, bound) - right) / (bound + 1)
        return near + far / (z + 1)

    assert kstest(y, cdf).pvalue > 1e-6
    assert np.abs(y).max() <= bound * (1 + 1e-12)


@pytest.mark.parametrize("name", ["piecewise", "hybrid"])
def test_unbiased_on_any_box(name: str) -> None:
    m = make(name, epsilon=6.0, domain=Box(10, 14, (5,)))
    x = torch.tensor([10.0, 11.0, 12.0, 13.5, 14.0], dtype=torch.float64)
    y = m.privatize(x.expand(200_000, 5).contiguous(), generator("mean", name))
    assert bool(((y.mean(dim=0) - x).abs() < 5 * y.std(dim=0) / math.sqrt(200_000)).all())


@pytest.mark.parametrize("name", ["piecewise", "hybrid"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_likelihood_matches_the_profile(name: str, dtype: torch.dtype) -> None:
    m = make(name, epsilon=1.5, domain=Box(5, 6, (2,)))
    first, second = m.worst_pair()
    y = m.privatize(first.to(dtype).expand(100_000, 2).contiguous(), generator("llr", name))
    ratio = m.log_likelihood_ratio(y, first, second)
    assert float(ratio.abs().max()) <= 1.5 + 1e-9
    for epsilon in (0.0, 0.7, 1.3):
        delta = float((1 - torch.exp(epsilon - ratio)).clamp_min(0).mean())
        assert delta == pytest.approx(m.privacy_profile(epsilon), abs=5 * 0.5 / math.sqrt(100_000))


@pytest.mark.parametrize(("d", "k"), [(6, 2), (6, 6), (300, 120)])
def test_distinct_indices(d: int, k: int) -> None:
    rows = 6000 if d < 10 else 300
    drawn = distinct_indices(rows, d, k, numpy_generator(generator("distinct", d, k)))
    assert all(len(set(row)) == k for row in drawn.tolist())
    assert drawn.min() >= 0
    assert drawn.max() < d
    if d == 6 and k == 2:
        codes = np.sort(drawn, axis=1) @ np.array([6, 1])
        counts = np.unique(codes, return_counts=True)[1]
        assert len(counts) == 15
        assert chisquare(counts).pvalue > 1e-6


def test_large_epsilon_does_not_overflow() -> None:
    m = make_as(Hybrid, epsilon=3000.0, domain=Box(-1, 1, (1,)))
    assert math.isfinite(m.squared_error())
    assert m.guarantee(0.0).epsilon == pytest.approx(3000.0)


def test_the_likelihood_ratio_fits_float64_releases_at_interior_records() -> None:
    m = make("hybrid", epsilon=2.0, domain=Box(-1.0, 1.0, (1,)))
    x, x_prime = torch.tensor([0.9], dtype=torch.float64), torch.tensor([-0.2], dtype=torch.float64)
    y = m.privatize(x_prime.expand(200_000, 1).contiguous(), generator("interior"))
    ratio = torch.exp(m.log_likelihood_ratio(y, x, x_prime))  # its mean under x' is 1
    assert float(ratio.mean()) == pytest.approx(1.0, abs=5.0 * float(ratio.std()) / math.sqrt(200_000))
