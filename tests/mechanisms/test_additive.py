import math
from typing import Any

import pytest
import torch
from scipy.stats import norm
from typed import exact_error, gaussian_mu, make_as

from tensorldp.curves.gaussian import mu_of
from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Box, make
from tensorldp.mechanisms.gaussian import Gaussian, GaussianAnalytic, GaussianClassical
from tensorldp.mechanisms.laplace import Laplace
from tensorldp.randomness import generator
from tensorldp_papers.papers.tldp.error_table import gaussian_norm, laplace_norm

MNIST = Box(0, 255, (1, 28, 28))
UNIT = Box(-1, 1, (784,))


def rms(name: str, box: Box, epsilon: float, **options: Any) -> float:
    m = make(name, epsilon=epsilon, domain=box, **options)
    return math.sqrt(exact_error(m) / m.size)


def test_laplace_norm_oracle() -> None:
    m = make_as(Laplace, epsilon=1.0, domain=MNIST, delta_range=256)
    assert laplace_norm(m.scale, 784) == pytest.approx(7.9412e6, rel=1e-4)
    assert math.sqrt(m.squared_error()) == pytest.approx(7.948e6, rel=1e-4)  # Table 5: right as rms


def test_gaussian_norm_oracles() -> None:
    m = make_as(Gaussian, epsilon=1.0, domain=MNIST, delta_range=256)
    assert gaussian_norm(m.sigma, 784) == pytest.approx(1.4187e5, rel=1e-4)
    table5 = make_as(Gaussian, epsilon=1.0, domain=MNIST, delta_range=256, form="table5")
    assert math.sqrt(table5.squared_error()) == pytest.approx(2.810e6, rel=1e-3)


@pytest.mark.parametrize(("epsilon", "expected"), [(0.1, 4.486e5), (0.5, 2.006e5), (10, 4.486e4), (100, 1.419e4)])
def test_theorem2_gaussian_by_table(epsilon: float, expected: float) -> None:
    m = make_as(Gaussian, epsilon=epsilon, domain=MNIST, delta_range=256)
    assert gaussian_norm(m.sigma, 784) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("epsilon", "expected"), [(0.1, 6.146e6), (0.5, 1.405e6), (1, 7.456e5), (100, 1.892e4)])
def test_analytic_gaussian_on_mnist(epsilon: float, expected: float) -> None:
    m = make_as(GaussianAnalytic, epsilon=epsilon, domain=MNIST)
    assert gaussian_norm(m.sigma, 784) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("epsilon", "laplace", "analytic"), [(0.5, 4435, 393.8), (1, 2218, 208.9), (10, 221.8, 28.0), (784, 2.83, 1.57)]
)
def test_calibrated_noise_of_section_7(epsilon: float, laplace: float, analytic: float) -> None:
    assert rms("laplace", UNIT, epsilon) == pytest.approx(laplace, rel=1e-3)
    assert rms("gaussian-analytic", UNIT, epsilon) == pytest.approx(analytic, rel=3e-3)


@pytest.mark.parametrize(
    ("epsilon", "analytic", "classical"),
    [
        (0.1, 30.74957, 48.44805),
        (1, 3.730632, 4.844805),
        (2, 1.993812, 2.422403),
        (8, 0.600229, 0.6056007),
        (10, 0.499889, 0.484481),
    ],
)
def test_unit_sensitivity(epsilon: float, analytic: float, classical: float) -> None:
    ball = Ball(0.5, (7,))
    assert make_as(GaussianAnalytic, epsilon=epsilon, domain=ball).sigma == pytest.approx(analytic, rel=1e-6)
    m = make_as(GaussianClassical, epsilon=epsilon, domain=ball)
    assert m.sigma == pytest.approx(classical, rel=1e-6)
    assert (m.guarantee(1e-5).epsilon <= epsilon) == (epsilon < 8.42)


def test_classical_stops_at_8_42() -> None:
    for epsilon, enough in ((8.41, True), (8.43, False)):
        m = make("gaussian-classical", epsilon=epsilon, domain=Ball(0.5, (3,)))
        assert (m.guarantee(1e-5).epsilon <= epsilon) == enough


@pytest.mark.parametrize(("epsilon", "mu"), [(0.1, 0.032521), (0.5, 0.1422), (1, 0.26805), (10, 2.0004), (100, 10.563)])
def test_mu_of(epsilon: float, mu: float) -> None:
    assert mu_of(epsilon, 1e-5) == pytest.approx(mu, rel=3e-4)


def test_per_element_and_whole_tensor_baselines() -> None:
    assert rms("gaussian-classical", UNIT, 1) == pytest.approx(271.3, rel=1e-3)
    assert rms("gaussian-per-element", UNIT, 1) == pytest.approx(9512.1, rel=1e-4)


@pytest.mark.parametrize(("epsilon", "expected"), [(0.5, 4.377), (1, 6.573), (2, 9.997), (10, 28.4), (100, 159.4)])
def test_theorem2_gaussian_guarantee(epsilon: float, expected: float) -> None:
    m = make("gaussian", epsilon=epsilon, domain=UNIT)
    assert m.guarantee(1e-5).epsilon == pytest.approx(expected, rel=2e-3)
    assert m.guarantee(0.0).epsilon == math.inf
    assert gaussian_mu(m.curve()) == pytest.approx(math.sqrt(2 * epsilon))


def test_theorem2_gaussian_exceeds_its_epsilon() -> None:
    assert make("gaussian", epsilon=1, domain=UNIT).privacy_profile(1.0) == pytest.approx(0.286, abs=2e-3)


def test_table5_gaussian_is_another_mechanism() -> None:
    m = make("gaussian", epsilon=3, domain=UNIT, form="table5")
    assert gaussian_mu(m.curve()) == pytest.approx(2 * 3 / math.sqrt(784))


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


def test_l2_lipschitz_likelihood() -> None:
    m = make("gaussian-analytic", epsilon=2.0, domain=Box(-1, 1, (5,)))
    first, second = m.worst_pair()
    y = m.privatize(first.expand(20_000, 5).contiguous(), generator("llr"))
    ratio = m.log_likelihood_ratio(y, first, second)
    mu = gaussian_mu(m.curve())
    assert float(ratio.mean()) == pytest.approx(mu**2 / 2, abs=5 * mu / math.sqrt(20_000))
    hockey = float((1 - torch.exp(2.0 - ratio)).clamp_min(0).mean())
    assert hockey == pytest.approx(1e-5, abs=2e-4)
    assert norm.sf((2 - mu**2 / 2) / mu) > hockey


def test_none_releases_the_record() -> None:
    m = make("none", epsilon=math.inf, domain=UNIT)
    x = torch.zeros(2, 784)
    assert torch.equal(m.privatize(x, generator("none")), x)
    assert m.guarantee(1e-5).epsilon == math.inf


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match="form"):
        make("gaussian", epsilon=1, domain=UNIT, form="theorem3")
    with pytest.raises(InputError, match="delta_range"):
        make("laplace", epsilon=1, domain=UNIT, delta_range=0)
