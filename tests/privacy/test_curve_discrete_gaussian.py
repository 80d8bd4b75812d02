"""The discrete Gaussian's curve against sums over its whole law."""

import math

import numpy as np
import pytest

from tensorldp.curves.discrete import DiscreteGaussianCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.errors import InputError


def brute(sigma: int, shift: int, count: int, epsilon: float) -> float:
    """The hockey-stick divergence by summing the law of the elements' noises, convolved element by element."""
    k = np.arange(-12 * sigma, 12 * sigma + 1)
    one = np.exp(-(k.astype(float) ** 2) / (2 * sigma**2))
    one /= one.sum()
    law = one
    for _ in range(count - 1):
        law = np.convolve(law, one)
    total = np.arange(-12 * sigma * count, 12 * sigma * count + 1).astype(float)
    loss = (2 * shift * total + count * shift**2) / (2 * sigma**2)
    return math.fsum(law * np.maximum(0.0, -np.expm1(epsilon - loss)))


@pytest.mark.parametrize(("sigma", "shift", "count"), [(64, 1, 1), (64, 64, 1), (100, 333, 1), (70, 35, 3)])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 3.0])
def test_delta_is_the_sum(sigma: int, shift: int, count: int, epsilon: float) -> None:
    expected = brute(sigma, shift, count, epsilon)
    found = DiscreteGaussianCurve(sigma, shift, count).delta(epsilon)
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-13)


def test_no_smaller_shift_is_worse() -> None:
    for epsilon in (0.1, 1.0):
        deltas = [brute(64, shift, 1, epsilon) for shift in range(1, 129)]
        assert deltas == sorted(deltas)


def test_it_approaches_the_gaussian_and_composes() -> None:
    fine = DiscreteGaussianCurve(1 << 20, 1 << 18, 4)
    assert fine.epsilon(1e-6) == pytest.approx(GaussianCurve(0.5).epsilon(1e-6), rel=1e-5)
    assert fine.compose(3) == DiscreteGaussianCurve(1 << 20, 1 << 18, 12)
    assert fine.delta(fine.epsilon(1e-6)) <= 1e-6
    assert fine.epsilon(0.0) == math.inf
    with pytest.raises(InputError, match="sigma"):
        DiscreteGaussianCurve(10, 1)
