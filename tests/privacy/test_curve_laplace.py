"""The exact Laplace profile against closed forms, simulation, another accountant and the tables of the sources."""

import itertools
import math
import time
from typing import Any

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld

from tensorldp.curves import saddle_point
from tensorldp.curves.laplace import LaplaceCumulant, LaplaceCurve, log_delta_by_series
from tensorldp.errors import InputError

# computed apart from the code: nominal epsilon, pure, at 1e-5
MNIST = [
    (0.01, 7.809, 1.041),
    (0.1, 78.09, 14.81),
    (0.5, 390.5, 135.4),
    (1, 780.9, 380.1),
    (2, 1562, 1031),
    (5, 3905, 3315),
    (10, 7809, 7218),
    (50, 39047, 38455),
    (100, 78094, 77502),
    (500, 3.905e5, 3.899e5),
]
FEATURES = [(0.1, 128, 20.5), (1, 1280, 591.7), (10, 12800, 11770), (100, 1.28e5, 1.27e5)]


@pytest.mark.parametrize(("nominal", "pure", "approximate"), MNIST)
def test_mnist_table(nominal: float, pure: float, approximate: float) -> None:
    curve = LaplaceCurve(nominal * 255 / 256, 784)
    assert curve.pure_epsilon == pytest.approx(pure, rel=5e-4)
    assert curve.epsilon(1e-5) == pytest.approx(approximate, rel=5e-4)


@pytest.mark.parametrize(("nominal", "pure", "approximate"), FEATURES)
def test_features_table(nominal: float, pure: float, approximate: float) -> None:
    curve = LaplaceCurve(float(nominal), 1280)
    assert curve.epsilon(0.0) == pytest.approx(pure, rel=5e-4)
    assert curve.epsilon(1e-5) == pytest.approx(approximate, rel=5e-4)


def test_one_element_closed_form() -> None:
    curve = LaplaceCurve(2.0)
    for epsilon in (0.0, 0.5, 1.999):
        assert curve.delta(epsilon) == pytest.approx(1 - math.exp((epsilon - 2) / 2), rel=1e-12)
    assert curve.delta(2.0) == curve.delta(5.0) == 0.0
    assert curve.epsilon(0.1) == pytest.approx(2 + 2 * math.log(0.9), rel=1e-9)


@pytest.mark.parametrize("shift", [1e-3, 0.3, 2.0, 30.0])
@pytest.mark.parametrize("share", [0.01, 0.4, 0.9, 0.999])
def test_two_elements_by_quadrature(shift: float, share: float) -> None:
    """The law of a sum of two losses, one of them integrated out."""
    epsilon = share * 2 * shift
    z = (np.arange(400_000) + 0.5) / 400_000 * shift
    weights = np.exp(-z) / 2 * shift / 400_000

    def one(x: np.ndarray) -> np.ndarray:  # delta of one element at any real x
        inside = np.where(x < -shift, -np.expm1(x), -np.expm1((np.minimum(x, shift) - shift) / 2))
        return np.where(x >= shift, 0.0, inside)

    expected = (
        0.5 * one(np.array(epsilon - shift))
        + math.exp(-shift) / 2 * one(np.array(epsilon + shift))
        + float((weights * one(epsilon - (shift - 2 * z))).sum())
    )
    assert LaplaceCurve(shift, 2).delta(epsilon) == pytest.approx(float(expected), rel=1e-6)


@pytest.mark.parametrize(
    ("shift", "count", "epsilon"), [(0.9, 3, 0.5), (1 / 784, 784, 0.05), (1.0, 50, 20.0), (5.0, 20, 80.0)]
)
def test_simulation(shift: float, count: int, epsilon: float) -> None:
    rng = np.random.default_rng(5)
    loss = np.zeros(200_000)
    for _ in range(count):
        z = rng.laplace(size=loss.size)
        loss += np.abs(z - shift) - np.abs(z)
    gain = -np.expm1(np.minimum(0.0, epsilon - loss))
    assert abs(LaplaceCurve(shift, count).delta(epsilon) - gain.mean()) < 5 * gain.std() / math.sqrt(loss.size)


@pytest.mark.parametrize(("shift", "count"), [(0.05, 784), (0.5, 30), (2.0, 6)])
def test_fft_accountant(shift: float, count: int) -> None:
    """dp_accounting's lattice rounded up and down encloses the exact value."""
    curve = LaplaceCurve(shift, count)
    up, down = (
        pld.from_laplace_mechanism(
            1.0 / shift, value_discretization_interval=shift / 100, pessimistic_estimate=side
        ).self_compose(count)
        for side in (True, False)
    )
    for share in (0.05, 0.2, 0.4):
        epsilon = share * curve.pure_epsilon
        high, low = up.get_delta_for_epsilon(epsilon), down.get_delta_for_epsilon(epsilon)
        assert low - 1e-12 <= curve.delta(epsilon) <= high + 1e-12


@pytest.mark.parametrize(
    ("shift", "count", "epsilon"), [(1.0, 50, 30.0), (0.3, 100, 5.0), (0.1, 784, 14.8), (10.0, 60, 500.0)]
)
def test_both_routes_agree(shift: float, count: int, epsilon: float) -> None:
    cumulant = LaplaceCumulant(shift, count)
    saddle = saddle_point.right_saddle(cumulant.slope, epsilon)
    assert saddle_point.log_delta(cumulant, epsilon, saddle) == pytest.approx(
        log_delta_by_series(cumulant, shift, count, epsilon, saddle), rel=1e-8
    )


@pytest.mark.parametrize(("shift", "count"), [(1.0, 4), (1.0, 784), (100.0, 100), (1e-3, 10**6), (1e4, 1000)])
def test_near_the_pure_epsilon(shift: float, count: int) -> None:
    """Only releases with every element at its upper end count: about 2^-n t, t = pure - epsilon."""
    t = 1e-4 * min(shift, 1.0) / count
    curve = LaplaceCurve(shift, count)
    gap = curve.pure_epsilon - (curve.pure_epsilon - t)  # t, less its rounding
    assert curve.log_delta(curve.pure_epsilon - t) == pytest.approx(-count * math.log(2) + math.log(gap), rel=1e-3)


@pytest.mark.parametrize("shift", [1e-9, 1e-5, 0.01, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("count", [2, 17, 784, 10**5, 10**7])
def test_decreasing_and_inverse(shift: float, count: int) -> None:
    curve = LaplaceCurve(shift, count)
    logs = [curve.log_delta(share * curve.pure_epsilon) for share in (0.0, 1e-3, 0.01, 0.1, 0.3, 0.6, 0.9, 0.99, 1.0)]
    assert all(a >= b - 1e-9 * max(1.0, abs(b)) for a, b in itertools.pairwise(logs))
    assert logs[-1] == -math.inf
    for delta in (1e-5, 1e-100):
        epsilon = curve.epsilon(delta)
        assert epsilon <= curve.pure_epsilon
        if 0 < epsilon < 0.999 * curve.pure_epsilon:
            assert curve.log_delta(epsilon) == pytest.approx(math.log(delta), rel=1e-6, abs=1e-5)


def test_tiny_delta_in_logs() -> None:
    curve = LaplaceCurve(1.0, 784)
    assert -700 < curve.log_delta(783.0) < -500
    assert curve.delta(783.0) == pytest.approx(math.exp(curve.log_delta(783.0)))
    assert curve.epsilon(1e-200) < 784


def test_left_of_the_mean() -> None:
    """1 - delta keeps its digits: near the Chernoff rate."""
    curve = LaplaceCurve(1.0, 784)
    assert 0 < 1 - curve.delta(140.0) < 1e-9
    assert curve.delta(0.0) == 1.0


def test_normal_approximation() -> None:
    curve = LaplaceCurve(0.5, 784)
    approximation = curve.mean_loss + 4.265 * math.sqrt(curve.loss_variance)
    assert curve.epsilon(1e-5) == pytest.approx(approximation, rel=0.015)


def test_moments_match_the_cumulant() -> None:
    for shift in (0.01, 1.0, 20.0):
        curve, cumulant = LaplaceCurve(shift, 10), LaplaceCumulant(shift, 10)
        assert cumulant.slope(0.0) == pytest.approx(curve.mean_loss, rel=1e-6)
        assert cumulant.curvature(0.0) == pytest.approx(curve.loss_variance, rel=1e-5)


def test_composition_multiplies_the_count() -> None:
    assert LaplaceCurve(0.3, 4).compose(5) == LaplaceCurve(0.3, 20)


@pytest.mark.parametrize("shift", [0.01, 1.0, 100.0])
def test_fast_for_a_model_over_fifty_rounds(shift: float) -> None:
    start = time.perf_counter()
    epsilon = LaplaceCurve(shift, 2_236_682 * 50).epsilon(1e-5)
    assert time.perf_counter() - start < 1.0
    assert 0 < epsilon < shift * 2_236_682 * 50


@pytest.mark.parametrize(("shift", "count"), [(-1.0, 3), (math.inf, 3), (1.0, 0), (1.0, 2.5)])
def test_bad_arguments(shift: float, count: Any) -> None:
    with pytest.raises(InputError):
        LaplaceCurve(shift, count)
