import math
from typing import Any

import pytest
from typed import exact_error, gaussian_mu, make_as

from tensorldp.mechanisms import Ball, Box, make
from tensorldp.mechanisms.gaussian import Gaussian, GaussianAnalytic, GaussianClassical
from tensorldp_papers.papers.tldp.error_table import gaussian_norm

MNIST = Box(0, 255, (1, 28, 28))
UNIT = Box(-1, 1, (784,))


def rms(name: str, epsilon: float, domain: Box = UNIT, **options: Any) -> float:
    return math.sqrt(exact_error(make(name, epsilon=epsilon, domain=domain, **options)) / domain.size)


@pytest.mark.parametrize(
    ("epsilon", "expected"), [(0.1, 4.486e5), (0.5, 2.006e5), (1, 1.4187e5), (10, 4.486e4), (100, 1.419e4)]
)
def test_theorem2_gaussian_by_table(epsilon: float, expected: float) -> None:
    m = make_as(Gaussian, epsilon=epsilon, domain=MNIST, delta_range=256)
    assert gaussian_norm(m.sigma, 784) == pytest.approx(expected, rel=3e-4)


@pytest.mark.parametrize(("epsilon", "expected"), [(0.1, 6.146e6), (0.5, 1.405e6), (1, 7.456e5), (100, 1.892e4)])
def test_analytic_gaussian_on_mnist(epsilon: float, expected: float) -> None:
    m = make_as(GaussianAnalytic, epsilon=epsilon, domain=MNIST)
    assert gaussian_norm(m.sigma, 784) == pytest.approx(expected, rel=1e-3)


def test_calibrated_noise_of_section_7() -> None:
    assert [rms("laplace", e) for e in (0.5, 1, 10, 784)] == pytest.approx([4435, 2218, 221.8, 2.83], rel=1e-3)
    analytic = [rms("gaussian-analytic", e) for e in (0.5, 1, 10, 784)]
    assert analytic == pytest.approx([393.8, 208.9, 28.0, 1.57], rel=3e-3)
    assert rms("gaussian-classical", 1) == pytest.approx(271.3, rel=1e-3)
    assert rms("gaussian-per-element", 1) == pytest.approx(9512.1, rel=1e-4)


@pytest.mark.parametrize(
    ("epsilon", "analytic", "classical"),
    [(0.1, 30.74957, 48.44805), (1, 3.730632, 4.844805), (8, 0.600229, 0.6056007), (10, 0.499889, 0.484481)],
)
def test_unit_sensitivity(epsilon: float, analytic: float, classical: float) -> None:
    assert make_as(GaussianAnalytic, epsilon=epsilon, domain=Ball(0.5, (7,))).sigma == pytest.approx(analytic, rel=1e-6)
    m = make_as(GaussianClassical, epsilon=epsilon, domain=Ball(0.5, (7,)))
    assert m.sigma == pytest.approx(classical, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.1, 8, 8.41, 8.43, 10])
def test_classical_stops_at_8_42(epsilon: float) -> None:
    m = make("gaussian-classical", epsilon=epsilon, domain=Ball(0.5, (3,)))
    assert (m.guarantee(1e-5).epsilon <= epsilon) == (epsilon < 8.42)


@pytest.mark.parametrize(("epsilon", "expected"), [(0.5, 4.377), (1, 6.573), (2, 9.997), (10, 28.4), (100, 159.4)])
def test_theorem2_gaussian_guarantee(epsilon: float, expected: float) -> None:
    m = make("gaussian", epsilon=epsilon, domain=UNIT)
    assert m.guarantee(1e-5).epsilon == pytest.approx(expected, rel=2e-3)
    assert m.guarantee(0.0).epsilon == math.inf
    assert gaussian_mu(m.curve()) == pytest.approx(math.sqrt(2 * epsilon))
    table5 = make("gaussian", epsilon=epsilon, domain=UNIT, form="table5")  # another mechanism
    assert gaussian_mu(table5.curve()) == pytest.approx(2 * epsilon / math.sqrt(784))


def test_theorem2_gaussian_exceeds_its_epsilon() -> None:
    assert make("gaussian", epsilon=1, domain=UNIT).privacy_profile(1.0) == pytest.approx(0.286, abs=2e-3)


def test_laplace_is_exactly_epsilon() -> None:
    g = make("laplace", epsilon=0.7, domain=MNIST).guarantee(0.0)
    assert g.epsilon == pytest.approx(0.7)
    assert g.exact
    printed = make("laplace", epsilon=1.0, domain=MNIST, delta_range=256).guarantee(0.0)
    assert printed.epsilon == pytest.approx(255 / 256)


def test_laplace_event_probabilities() -> None:
    """docs/mathematics/papers.md#dp-lecture: Delta_f = 1 for a change of 100 is off by e^100."""
    m = make("laplace", epsilon=1.0, domain=Box(0, 100, (1,)), delta_range=1.0)
    assert m.guarantee(0.0).epsilon == pytest.approx(100.0)
