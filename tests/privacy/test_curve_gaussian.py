"""The Gaussian profile against the tables of the sources."""

import math

import mpmath
import pytest
from scipy.stats import norm
from typed import gaussian_mu

from tensorldp.curves.base import NoPrivacyCurve
from tensorldp.curves.gaussian import GaussianCurve, log_delta, mu_of
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.curves.product import AtomCurve, ProductCurve
from tensorldp.mechanisms import Box, make

MNIST_G = [
    (0.01, 23.93),
    (0.1, 130.1),
    (0.5, 507),
    (1, 945.2),
    (2, 1793),
    (5, 4265),
    (10, 8310),
    (50, 40083),
    (100, 79470),
    (500, 3.927e5),
]
FEATURES_G = [(0.1, 195.4), (1, 1495), (10, 13481), (100, 1.302e5)]


@pytest.mark.parametrize(("nominal", "expected"), MNIST_G)
def test_mnist_table(nominal: float, expected: float) -> None:
    assert GaussianCurve(255 / 256 * math.sqrt(2 * nominal * 784)).epsilon(1e-5) == pytest.approx(expected, rel=5e-4)


@pytest.mark.parametrize(("nominal", "expected"), FEATURES_G)
def test_features_table(nominal: float, expected: float) -> None:
    assert GaussianCurve(math.sqrt(2 * nominal * 1280)).epsilon(1e-5) == pytest.approx(expected, rel=5e-4)


@pytest.mark.parametrize(("nominal", "expected"), [(0.5, 4.377), (1, 6.573), (2, 9.997), (10, 28.4), (100, 159.4)])
def test_one_element(nominal: float, expected: float) -> None:
    assert GaussianCurve(math.sqrt(2 * nominal)).epsilon(1e-5) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("epsilon", "mu"), [(0.1, 0.032521), (0.5, 0.1422), (1, 0.26805), (10, 2.0004), (100, 10.563)])
def test_mu_table(epsilon: float, mu: float) -> None:
    assert mu_of(epsilon, 1e-5) == pytest.approx(mu, rel=2e-4)
    assert GaussianCurve(mu_of(epsilon, 1e-5)).epsilon(1e-5) == pytest.approx(epsilon, rel=1e-8)


def test_closed_form() -> None:
    mu, epsilon = 1.3, 0.7
    expected = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert GaussianCurve(mu).delta(epsilon) == pytest.approx(expected, rel=1e-12)
    assert log_delta(1e4, 1.0) < -1e6


def exact_log_delta(epsilon: float, mu: float) -> float:
    """The two terms' difference with all the digits that it takes."""
    with mpmath.workdps(60 + 3 * int(abs(math.log10(mu))) + int(abs(math.log10(epsilon or 1.0)))):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        first, second = (mpmath.erfc((e / m - sign * m / 2) / mpmath.sqrt(2)) / 2 for sign in (1, -1))
        return float(mpmath.log(first - mpmath.exp(e) * second))


@pytest.mark.parametrize("epsilon", [1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 0.03, 1.0, 1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("delta", [1e-300, 1e-100, 1e-50, 1e-12, 1e-5, 1e-3, 0.5])
def test_delta_is_exact_down_to_the_least_epsilon_and_delta(epsilon: float, delta: float) -> None:
    mu = mu_of(epsilon, delta)
    exact = exact_log_delta(epsilon, mu)
    last_digit = 1e-15 * (mu + epsilon / mu) * math.sqrt(-2.0 * math.log(delta))  # what that of mu makes of delta
    assert log_delta(epsilon, mu) == pytest.approx(exact, rel=0.0, abs=2e-9 + last_digit)
    assert exact == pytest.approx(math.log(delta), rel=0.0, abs=2e-9 + 200.0 * last_digit)
    again = GaussianCurve(mu).epsilon(delta)
    assert log_delta(again, mu) == pytest.approx(math.log(delta), rel=0.0, abs=1e-8 + 200.0 * last_digit)


@pytest.mark.parametrize("mu", [1e-20, 1e-12, 1e-6, 1e-3])
@pytest.mark.parametrize("share", [0.0, 0.3, 19.9, 20.1, 36.0])
def test_delta_is_exact_for_little_more_than_nothing(mu: float, share: float) -> None:
    assert log_delta(share * mu, mu) == pytest.approx(exact_log_delta(share * mu, mu), rel=0.0, abs=2e-9)


def test_the_analytic_gaussian_meets_the_least_budget() -> None:
    m = make("gaussian-analytic", epsilon=1e-12, delta=1e-50, domain=Box(0, 1, (4,)))
    assert m.guarantee(1e-50).exact
    assert m.guarantee(1e-50).epsilon == pytest.approx(1e-12, rel=1e-9)
    assert m.privacy_profile(1e-12) == pytest.approx(1e-50, rel=1e-8)


def test_idn_as_printed() -> None:
    """Theorem 3 with (b - a) / sqrt(I): sigma = 2 / (sqrt(I) kappa) and a shift of 2 sqrt(I), I = 784."""
    kappa = 0.031654
    assert GaussianCurve(784 * kappa).epsilon(1e-5) == pytest.approx(413, rel=2e-3)


def test_classical_formula_stops_at_8_42() -> None:
    profile = [make("gaussian-classical", epsilon=e, domain=Box(0, 1, (4,))).privacy_profile(e) for e in (8.40, 8.42)]
    assert profile[0] < 1e-5 < profile[1]


def test_composition_and_no_noise() -> None:
    assert gaussian_mu(GaussianCurve(0.5).compose(9)) == pytest.approx(1.5)
    assert GaussianCurve(0.0).epsilon(1e-5) == 0.0
    assert NoPrivacyCurve().epsilon(0.5) == math.inf


def test_atom() -> None:
    curve = AtomCurve.over(GaussianCurve(1.0), 1e-3)
    assert curve.epsilon(1e-3) == curve.epsilon(0.0) == math.inf
    assert curve.delta(2.0) == pytest.approx(1e-3 + 0.999 * GaussianCurve(1.0).delta(2.0))
    assert curve.compose(10).atom == pytest.approx(1 - 0.999**10)
    assert curve.delta(curve.epsilon(0.01)) == pytest.approx(0.01, rel=1e-6)


def test_tldp_of_the_smallest_epsilon_has_atoms() -> None:
    """At epsilon 0.01 the atoms of MNIST raise 1.041 to 1.104."""
    box = Box(0, 255, (784,))
    guarantee = make("tldp-l", epsilon=0.01, domain=box, delta_range=256).guarantee(1e-5)
    assert guarantee.epsilon == pytest.approx(1.104, abs=2e-3)
    assert make("tldp-g", epsilon=0.01, domain=box, delta_range=256).guarantee(1e-5).epsilon == math.inf
    assert make("tldp-l", epsilon=1.0, domain=box, delta_range=256).curve().pure_epsilon == pytest.approx(780.9375)


@pytest.mark.parametrize("log_mass", [math.log(1e-3), -700.0, -740.0, -5000.0])
def test_an_atom_is_there_however_small(log_mass: float) -> None:
    mass = math.exp(log_mass)
    curve = AtomCurve.over(LaplaceCurve(0.5, 4), mass, log_mass)
    for many in (curve, curve.compose(3), ProductCurve(((curve, 2), (LaplaceCurve(0.1, 1), 1)))):
        assert many.epsilon(0.0) == math.inf
        assert many.epsilon_without_atom(0.0) == many.pure_epsilon < math.inf
        assert many.log_atom >= log_mass
        assert many.atom == pytest.approx(math.exp(many.log_atom), rel=1e-9, abs=1e-300)
    assert curve.compose(3).log_atom == pytest.approx(log_mass + math.log(3), rel=1e-3)
    assert curve.compose(2).compose(3).log_atom == pytest.approx(curve.compose(6).log_atom)


def test_without_an_atom_there_is_one_number() -> None:
    for curve in (GaussianCurve(1.0), LaplaceCurve(0.5, 4), ProductCurve(((LaplaceCurve(0.5, 4), 1),))):
        for delta in (0.0, 1e-5, 0.2):
            assert curve.epsilon_without_atom(delta) == curve.epsilon(delta)
    assert NoPrivacyCurve().epsilon_without_atom(1e-5) == math.inf


def test_without_its_atom_a_curve_is_the_rest() -> None:
    curve = AtomCurve(GaussianCurve(1.0), 1e-3)
    product = ProductCurve(((curve, 1), (GaussianCurve(0.5), 1)))
    assert curve.epsilon_without_atom(1e-5) == GaussianCurve(1.0).epsilon(1e-5)
    rest = ProductCurve(((GaussianCurve(1.0), 1), (GaussianCurve(0.5), 1)))
    assert product.epsilon_without_atom(1e-2) == pytest.approx(rest.epsilon(1e-2), rel=1e-6)
