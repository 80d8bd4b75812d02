import math
from typing import Any

import pytest
import torch
from gaussian_checks import check_squared_error
from typed import gaussian_mu, make_as

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Box, make
from tensorldp.mechanisms.dphsgd import Dphsgd, SecantThreshold
from tensorldp.randomness import generator

CURVATURE = torch.tensor([0.5, 1.0, 2.0, 7.0], dtype=torch.float64)


def descend(threshold: SecantThreshold, steps: int, scale: Any = lambda t: 1.0, start: float = 1.0) -> list[float]:
    """Gradient descent without noise on 1/2 sum h_j theta_j^2, the curvature times `scale(t)`."""
    theta = torch.full((4,), start, dtype=torch.float64)
    seen = []
    for t in range(steps):
        seen.append(threshold.update(theta, scale(t) * CURVATURE * theta))
        theta = theta - 0.01 * (1 + t % 3) * CURVATURE * theta
    return seen


def test_table_five_noise() -> None:
    m = make_as(Dphsgd, epsilon=2, domain=Box(-1, 1, (10, 10)))
    assert m.scale == pytest.approx(2 * 100 / 2)
    assert math.sqrt(m.squared_error()) == pytest.approx(2 / 2 * 100 * math.sqrt(200), rel=1e-12)
    assert m.guarantee(0).epsilon == pytest.approx(2, rel=1e-12)
    laplace = make("laplace", epsilon=2, domain=Box(-1, 1, (10, 10)))
    assert m.squared_error() == pytest.approx(laplace.squared_error(), rel=1e-14)


@pytest.mark.parametrize("threshold", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_guarantee_does_not_depend_on_the_threshold(threshold: float, noise: str) -> None:
    m = make("dphsgd", epsilon=1, domain=Ball(1.0, (6,)), threshold=threshold, noise=noise)
    delta = 0 if noise == "laplace" else 1e-5
    assert m.guarantee(delta).epsilon == pytest.approx(1, rel=1e-8)
    assert m.guarantee(delta).unit == "step"


def test_a_threshold_above_one_only_adds_noise() -> None:
    m = make("dphsgd", epsilon=1, domain=Box(-1, 1, (6,)), threshold=4.0)
    assert m.guarantee(0).epsilon == pytest.approx(0.25, rel=1e-12)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("threshold", [0.25, 1.0])
def test_squared_error_includes_clipping(noise: str, threshold: float) -> None:
    domain = Ball(1.0, (6,)) if noise == "gaussian" else Box(-1, 1, (6,))
    check_squared_error(make("dphsgd", epsilon=40, domain=domain, threshold=threshold, noise=noise))


def test_steps_share_the_budget() -> None:
    laplace = make("dphsgd", epsilon=1, domain=Box(-1, 1, (6,)), steps=10)
    assert laplace.guarantee(0).epsilon == pytest.approx(0.1, rel=1e-12)
    gaussian = make("dphsgd", epsilon=1, domain=Ball(1.0, (6,)), steps=10, noise="gaussian")
    assert gaussian.curve().compose(10).epsilon(1e-5) == pytest.approx(1, rel=1e-8)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_likelihood_ratio_at_the_worst_pair(noise: str) -> None:
    m = make("dphsgd", epsilon=1, domain=Box(-1, 1, (3, 2)), threshold=0.5, noise=noise)
    x, x_prime = m.worst_pair()
    loss = m.log_likelihood_ratio(m.privatize(x.expand(100_000, 3, 2), generator("ratio")), x, x_prime)
    if noise == "laplace":
        assert float(loss.max()) == pytest.approx(1, rel=1e-9)
    else:
        mu = gaussian_mu(m.curve())
        assert abs(float(loss.mean()) - mu**2 / 2) < 5 * mu / math.sqrt(100_000)


def test_secant_is_exact_on_a_quadratic_without_noise() -> None:
    threshold = SecantThreshold()
    descend(threshold, 5)
    assert threshold.curvature is not None
    assert threshold.curvature.tolist() == pytest.approx(CURVATURE.tolist(), rel=1e-9)


def test_constant_curvature_never_moves_the_threshold() -> None:
    assert descend(SecantThreshold(2.0), 100) == pytest.approx([2.0] * 100, rel=1e-6)


def test_four_times_the_curvature_halves_the_threshold() -> None:
    threshold = SecantThreshold(1.0, beta2=0.5)
    theta = torch.ones(4, dtype=torch.float64)
    gradient = CURVATURE * theta
    for t in range(80):  # the gradient is integrated, so that every secant is the curvature of its own step
        threshold.update(theta, gradient)
        step = torch.full((4,), 0.01 if t % 2 else -0.01, dtype=torch.float64)
        gradient = gradient + (4.0 if t > 20 else 1.0) * CURVATURE * step
        theta = theta + step
    assert threshold.threshold == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize(("factor", "expected"), [(1e6, 0.25), (1e-6, 4.0)])
def test_threshold_stays_within_a_factor_of_four(factor: float, expected: float) -> None:
    threshold = SecantThreshold(1.0, beta2=0.0, warmup=1)
    theta, gradient = torch.zeros(2), torch.zeros(2)
    for scale in (1.0, 1.0, factor, factor):
        threshold.update(theta, gradient)
        theta, gradient = theta + 1.0, gradient + scale
    threshold.update(theta, gradient)
    assert threshold.threshold == expected


def test_parameters_that_do_not_move_are_skipped() -> None:
    threshold = SecantThreshold(warmup=1)
    for t in range(20):
        threshold.update(torch.tensor([float(t), 0.0]), torch.tensor([2.0 * t, float(t % 5)]))
    assert threshold.threshold == pytest.approx(1.0, rel=1e-6)
    still = SecantThreshold()
    for _ in range(20):
        assert still.update(torch.zeros(3), torch.randn(3, generator=generator("still"))) == 1.0


@pytest.mark.parametrize(
    ("options", "words"), [({"threshold": 0}, "threshold"), ({"noise": "uniform"}, "noise"), ({"steps": 0}, "steps")]
)
def test_mistakes_are_told_in_a_sentence(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        make("dphsgd", epsilon=1, domain=Box(-1, 1, (3,)), **options)


def test_controller_refuses_nonsense() -> None:
    for options in ({"initial": 0}, {"warmup": 0}, {"beta2": 1.0}):
        with pytest.raises(InputError):
            SecantThreshold(**options)
    with pytest.raises(InputError, match="one shape"):
        SecantThreshold().update(torch.zeros(3), torch.zeros(2))
