"""Compositions of different curves against enumeration, quadrature and simulation."""

import itertools
import math
import time
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from tensorldp.curves.base import NoPrivacyCurve
from tensorldp.curves.discrete import DiscreteCurve, PureCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.curves.product import AtomCurve, ProductCurve
from tensorldp.errors import InputError


def test_gaussians_combine_in_mu() -> None:
    curve = ProductCurve(((GaussianCurve(1.0), 3), (GaussianCurve(2.0), 1)))
    assert curve.exact
    assert curve.epsilon(1e-5) == pytest.approx(GaussianCurve(math.sqrt(7)).epsilon(1e-5), rel=1e-9)
    assert curve.delta(1.0) == pytest.approx(GaussianCurve(math.sqrt(7)).delta(1.0), rel=1e-12)


def test_equal_laplaces_merge() -> None:
    curve = ProductCurve(((LaplaceCurve(0.5, 3), 2), (LaplaceCurve(0.5, 4), 1)))
    assert curve.exact
    assert curve.delta(1.0) == pytest.approx(LaplaceCurve(0.5, 10).delta(1.0), rel=1e-12)


def test_laplace_and_gaussian_by_quadrature() -> None:
    mu, shift = 0.8, 1.2

    def rest(x: float) -> float:  # the Laplace delta at any real epsilon
        if x >= shift:
            return 0.0
        return -math.expm1(x) if x < -shift else -math.expm1((x - shift) / 2)

    curve = ProductCurve(((GaussianCurve(mu), 1), (LaplaceCurve(shift), 1)))
    assert curve.exact
    for epsilon in (0.0, 0.5, 2.0, 4.0):
        expected, _ = quad(
            lambda g, e=epsilon: norm.pdf(g) * rest(e - mu**2 / 2 - mu * g),
            -10,
            10,
            limit=400,
            points=[(epsilon - mu**2 / 2 - s) / mu for s in (-shift, shift)],
        )
        assert curve.delta(epsilon) == pytest.approx(expected, rel=1e-6)


def test_different_laplaces_by_simulation() -> None:
    curve = ProductCurve(((LaplaceCurve(0.5, 100), 1), (LaplaceCurve(1.5, 40), 1)))
    assert curve.exact
    rng = np.random.default_rng(1)
    loss = np.zeros(100_000)
    for shift, count in ((0.5, 100), (1.5, 40)):
        for _ in range(count):
            z = rng.laplace(size=loss.size)
            loss += np.abs(z - shift) - np.abs(z)
    for epsilon in (20.0, 35.0, 50.0):
        gain = -np.expm1(np.minimum(0.0, epsilon - loss))
        assert abs(curve.delta(epsilon) - gain.mean()) < 5 * gain.std() / math.sqrt(loss.size)


def test_a_model_tensor_by_tensor_is_fast() -> None:
    parts = tuple((LaplaceCurve(0.01 * k, 100 * k), 50) for k in range(1, 159))
    start = time.perf_counter()
    curve = ProductCurve(parts)
    epsilon = curve.epsilon(1e-5)
    assert time.perf_counter() - start < 2.0
    assert curve.exact
    mean = sum(n * part.mean_loss for part, n in parts)
    spread = math.sqrt(sum(n * part.loss_variance for part, n in parts))
    assert epsilon == pytest.approx(mean + 4.265 * spread, rel=1e-3)


def test_randomized_responses_are_a_close_upper_bound() -> None:
    budgets = (1.0, 0.5, 0.3)
    curve = ProductCurve(tuple((PureCurve(b, True), 1) for b in budgets))
    assert not curve.exact
    assert curve.pure_epsilon == pytest.approx(1.8)
    for epsilon in (0.0, 0.4, 1.0, 1.7):
        true = 0.0
        for signs in itertools.product((1, -1), repeat=3):
            loss = sum(s * b for s, b in zip(signs, budgets, strict=True))
            mass = math.prod(1 / (1 + math.exp(-s * b)) for s, b in zip(signs, budgets, strict=True))
            true += mass * max(0.0, -math.expm1(epsilon - loss))
        assert true - 1e-9 <= curve.delta(epsilon) <= true + 2e-3


def test_gaussian_beside_randomized_response() -> None:
    curve = ProductCurve(((GaussianCurve(0.7), 1), (PureCurve(1.0, True), 1)))
    keep = 1 / (1 + math.exp(-1))

    def gaussian(x: float) -> float:
        value = GaussianCurve(0.7).delta(abs(x))
        return value if x >= 0 else 1 - math.exp(x) * (1 - value)

    for epsilon in (0.0, 1.0, 3.0):
        true = keep * gaussian(epsilon - 1) + (1 - keep) * gaussian(epsilon + 1)
        assert true - 1e-9 <= curve.delta(epsilon) <= true * 1.01 + 1e-6
    assert curve.delta(curve.epsilon(1e-5)) == pytest.approx(1e-5, rel=1e-4)


def test_atoms_are_taken_apart() -> None:
    curve = ProductCurve(((AtomCurve(LaplaceCurve(0.5, 20), 1e-4), 2), (GaussianCurve(1.0), 1)))
    assert curve.atom == pytest.approx(1 - (1 - 1e-4) ** 2)
    assert curve.epsilon(1e-4) == math.inf
    inner = ProductCurve(((LaplaceCurve(0.5, 40), 1), (GaussianCurve(1.0), 1)))
    assert curve.delta(3.0) == pytest.approx(curve.atom + (1 - curve.atom) * inner.delta(3.0), rel=1e-9)


def test_atoms_of_finite_pairs_and_of_no_privacy() -> None:
    logs = tuple(math.log(v) if v else -math.inf for v in (0.1, 0.6, 0.3, 0.0))
    curve = ProductCurve(((DiscreteCurve(logs, logs[::-1]), 1), (GaussianCurve(1.0), 1)))
    assert curve.atom == pytest.approx(0.1)
    assert curve.delta(50.0) == pytest.approx(0.1, abs=1e-6)
    assert 0.1 < curve.delta(1.0) < 1.0
    assert ProductCurve(((NoPrivacyCurve(), 1), (GaussianCurve(1.0), 1))).epsilon(0.5) == math.inf


def test_nested_products_and_composition() -> None:
    inner = ProductCurve(((GaussianCurve(1.0), 1), (LaplaceCurve(0.5, 60), 1)))
    assert inner.compose(2).delta(5.0) == pytest.approx(ProductCurve(((inner, 2),)).delta(5.0))
    assert inner.compose(1) is inner


@pytest.mark.parametrize("parts", [(), ((GaussianCurve(1.0), 0),), ((1.0, 1),), (GaussianCurve(1.0),)])
def test_bad_parts(parts: Any) -> None:
    with pytest.raises(InputError):
        ProductCurve(parts)
