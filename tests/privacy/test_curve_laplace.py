"""Laplace, Gaussian and DP-SGD curves against closed forms, quadrature, simulation and other accountants."""

import math
from functools import reduce
from typing import Any

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy.integrate import quad
from scipy.special import gammaln, logsumexp
from scipy.stats import norm

from tensorldp.curves import saddle_point
from tensorldp.curves.discrete import PureCurve
from tensorldp.curves.dp_sgd import DpSgdCurve, noise_multiplier_for
from tensorldp.curves.gaussian import GaussianCurve, log_delta, mu_of
from tensorldp.curves.laplace import LaplaceCumulant, LaplaceCurve, log_delta_by_series
from tensorldp.curves.product import ProductCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make


def laplace_delta(x: float, shift: float) -> float:
    """delta of one element at any real x."""
    if x >= shift:
        return 0.0
    return -math.expm1(x) if x < -shift else -math.expm1((x - shift) / 2)


def gaussian_delta(x: float, mu: float) -> float:
    return float(norm.cdf(mu / 2 - x / mu) - math.exp(x) * norm.cdf(-mu / 2 - x / mu))


def test_one_element_closed_form() -> None:
    for epsilon in (0.0, 0.5, 1.999, 2.0, 5.0):
        assert LaplaceCurve(2.0).delta(epsilon) == pytest.approx(laplace_delta(epsilon, 2.0), rel=1e-12)
        assert GaussianCurve(1.3).delta(epsilon) == pytest.approx(gaussian_delta(epsilon, 1.3), rel=1e-10)
    assert LaplaceCurve(2.0).epsilon(0.1) == pytest.approx(2 + 2 * math.log(0.9), rel=1e-9)
    assert log_delta(1e4, 1.0) < -1e6


@pytest.mark.parametrize("shift", [1e-3, 0.3, 2.0, 30.0])
@pytest.mark.parametrize("share", [0.01, 0.4, 0.9, 0.999])
def test_two_elements_by_quadrature(shift: float, share: float) -> None:
    """The law of a sum of two losses, one of them integrated out: at either end, or in between."""
    epsilon = share * 2 * shift
    between, _ = quad(
        lambda z: math.exp(-z) / 2 * laplace_delta(epsilon - (shift - 2 * z), shift),
        0.0,
        shift,
        limit=400,
        points=[p for p in (shift - epsilon / 2, epsilon / 2 - shift, epsilon / 2) if 0.0 < p < shift],
        epsabs=0.0,
    )
    ends = 0.5 * laplace_delta(epsilon - shift, shift) + math.exp(-shift) / 2 * laplace_delta(epsilon + shift, shift)
    assert LaplaceCurve(shift, 2).delta(epsilon) == pytest.approx(ends + between, rel=1e-6)


def test_laplace_and_gaussian_by_quadrature() -> None:
    mu, shift = 0.8, 1.2
    curve = ProductCurve(((GaussianCurve(mu), 1), (LaplaceCurve(shift), 1)))
    assert curve.exact
    for epsilon in (0.0, 0.5, 2.0, 4.0):
        expected, _ = quad(
            lambda g, e=epsilon: norm.pdf(g) * laplace_delta(e - mu**2 / 2 - mu * g, shift),
            -10,
            10,
            limit=400,
            points=[(epsilon - mu**2 / 2 - s) / mu for s in (-shift, shift)],
        )
        assert curve.delta(epsilon) == pytest.approx(expected, rel=1e-6)


def test_gaussian_beside_randomized_response() -> None:
    curve = ProductCurve(((GaussianCurve(0.7), 1), (PureCurve(1.0, True), 1)))
    keep = 1 / (1 + math.exp(-1))
    for epsilon in (0.0, 1.0, 3.0):
        true = keep * gaussian_delta(epsilon - 1, 0.7) + (1 - keep) * gaussian_delta(epsilon + 1, 0.7)
        assert true - 1e-9 <= curve.delta(epsilon) <= true * 1.01 + 1e-6


def accountant(parts: tuple[tuple[LaplaceCurve, int], ...], pessimistic: bool) -> Any:
    """dp_accounting's distribution on a lattice, rounded up or down."""
    step = min(curve.shift for curve, _ in parts) / 100
    laws = [
        pld.from_laplace_mechanism(
            1.0 / curve.shift, value_discretization_interval=step, pessimistic_estimate=pessimistic
        ).self_compose(curve.count * count)
        for curve, count in parts
    ]
    return reduce(lambda one, other: one.compose(other), laws)


@pytest.mark.parametrize("parts", [[(0.05, 784)], [(0.5, 30)], [(2.0, 6)], [(1.0, 60)], [(0.5, 100), (1.5, 40)]])
def test_another_accountant_rounded_up_and_down_encloses_the_exact_value(parts: list[tuple[float, int]]) -> None:
    curves = tuple((LaplaceCurve(*part), 1) for part in parts)
    curve, down, up = ProductCurve(curves), accountant(curves, False), accountant(curves, True)
    assert curve.exact
    for share in (0.05, 0.2, 0.4):
        epsilon = share * curve.pure_epsilon
        low, high = (bound.get_delta_for_epsilon(epsilon) for bound in (down, up))
        assert low - 1e-12 <= curve.delta(epsilon) <= high + 1e-12


@pytest.mark.parametrize(
    ("shift", "count", "epsilon"), [(1.0, 50, 30.0), (0.3, 100, 5.0), (0.1, 784, 14.8), (10.0, 60, 500.0)]
)
def test_both_routes_agree(shift: float, count: int, epsilon: float) -> None:
    cumulant = LaplaceCumulant(shift, count)
    saddle = saddle_point.right_saddle(cumulant.slope, epsilon)
    by_series = log_delta_by_series(cumulant, shift, count, epsilon, saddle)
    assert saddle_point.log_delta(cumulant, epsilon, saddle) == pytest.approx(by_series, rel=1e-8)


@pytest.mark.parametrize(("shift", "count"), [(1.0, 4), (1.0, 784), (100.0, 100), (1e-3, 10**6), (1e4, 1000)])
def test_near_the_pure_epsilon(shift: float, count: int) -> None:
    """Only releases with every element at its upper end count: about 2^-n t, t = pure - epsilon."""
    curve = LaplaceCurve(shift, count)
    epsilon = curve.pure_epsilon - 1e-4 * min(shift, 1.0) / count
    gap = curve.pure_epsilon - epsilon
    assert curve.log_delta(epsilon) == pytest.approx(-count * math.log(2) + math.log(gap), rel=1e-3)


def test_left_of_the_mean_delta_keeps_the_digits_of_its_distance_from_1() -> None:
    assert 0 < 1 - LaplaceCurve(1.0, 784).delta(140.0) < 1e-9
    assert LaplaceCurve(1.0, 784).delta(0.0) == 1.0


@pytest.mark.parametrize("shift", [0.01, 1.0, 20.0])
def test_moments_match_the_cumulant(shift: float) -> None:
    curve, cumulant = LaplaceCurve(shift, 10), LaplaceCumulant(shift, 10)
    assert cumulant.slope(0.0) == pytest.approx(curve.mean_loss, rel=1e-6)
    assert cumulant.curvature(0.0) == pytest.approx(curve.loss_variance, rel=1e-5)


def exact_log_delta(epsilon: float, mu: float) -> float:
    """The two terms' difference with all the digits that it takes."""
    with mpmath.workdps(60 + 3 * int(abs(math.log10(mu))) + int(abs(math.log10(epsilon or 1.0)))):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        first, second = (mpmath.erfc((e / m - sign * m / 2) / mpmath.sqrt(2)) / 2 for sign in (1, -1))
        return float(mpmath.log(first - mpmath.exp(e) * second))


@pytest.mark.parametrize("epsilon", [1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 0.03, 1.0, 1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("delta", [1e-300, 1e-100, 1e-50, 1e-12, 1e-5, 1e-3, 0.5])
def test_gaussian_delta_is_exact_down_to_the_least_epsilon_and_delta(epsilon: float, delta: float) -> None:
    mu = mu_of(epsilon, delta)
    exact = exact_log_delta(epsilon, mu)
    last_digit = 1e-15 * (mu + epsilon / mu) * math.sqrt(-2.0 * math.log(delta))  # what that of mu makes of delta
    assert log_delta(epsilon, mu) == pytest.approx(exact, rel=0.0, abs=2e-9 + last_digit)
    assert exact == pytest.approx(math.log(delta), rel=0.0, abs=2e-9 + 200.0 * last_digit)
    again = GaussianCurve(mu).epsilon(delta)
    assert log_delta(again, mu) == pytest.approx(math.log(delta), rel=0.0, abs=1e-8 + 200.0 * last_digit)


@pytest.mark.parametrize("mu", [1e-20, 1e-12, 1e-6, 1e-3])
@pytest.mark.parametrize("share", [0.0, 0.3, 19.9, 20.1, 36.0])
def test_gaussian_delta_is_exact_for_little_more_than_nothing(mu: float, share: float) -> None:
    assert log_delta(share * mu, mu) == pytest.approx(exact_log_delta(share * mu, mu), rel=0.0, abs=2e-9)


@pytest.mark.parametrize("mu", [1e8, 1.1e8, 3e8, 1e9, 1e10])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 0.3])
def test_the_epsilon_of_a_large_mu_is_rounded_up_by_no_more_than_its_last_digits(mu: float, delta: float) -> None:
    epsilon = GaussianCurve(mu).epsilon(delta)
    assert exact_log_delta(epsilon, mu) <= math.log(delta) + 1e-6
    assert exact_log_delta(epsilon * (1.0 - 2e-13), mu) >= math.log(delta) - 1e-6


@pytest.mark.parametrize("mu", [1e17, 1e50, 1e100])
def test_a_mu_whose_loss_has_no_digits_still_has_a_delta_on_either_side(mu: float) -> None:
    curve = GaussianCurve(mu)
    epsilon = curve.epsilon(1e-5)
    assert curve.delta(epsilon) <= 1e-5
    assert epsilon == pytest.approx(mu**2 / 2.0, rel=1e-12)
    assert curve.delta(0.999 * epsilon) == 1.0


def test_the_analytic_gaussian_meets_the_least_budget() -> None:
    m = make("gaussian-analytic", epsilon=1e-12, delta=1e-50, domain=Box(0, 1, (4,)))
    assert m.guarantee(1e-50).exact
    assert m.guarantee(1e-50).epsilon == pytest.approx(1e-12, rel=1e-9)
    assert m.privacy_profile(1e-12) == pytest.approx(1e-50, rel=1e-8)


def moments(z: float, q: float, steps: int, delta: float) -> float:
    """The moments accountant of Abadi et al. at integer orders, with the classical conversion."""

    def renyi(a: int) -> float:
        k = np.arange(a + 1)
        choose = gammaln(a + 1) - gammaln(k + 1) - gammaln(a - k + 1)
        return float(logsumexp(choose + (a - k) * math.log1p(-q) + k * math.log(q) + k * (k - 1) / (2 * z * z))) / (
            a - 1
        )

    return min(steps * renyi(a) + math.log(1 / delta) / (a - 1) for a in range(2, 256))


@pytest.mark.parametrize(
    ("z", "q", "steps", "classical"),
    [(4.0, 0.01, 10_000, 1.2586), (1.3, 256 / 60000, 4687, 1.3497), (0.7, 256 / 60000, 16406, 8.948)],
)
def test_both_accountants_stay_below_the_moments(z: float, q: float, steps: int, classical: float) -> None:
    assert moments(z, q, steps, 1e-5) == pytest.approx(classical, rel=1e-3)
    by_rdp = DpSgdCurve(z, q, steps, "rdp").epsilon(1e-5)
    assert DpSgdCurve(z, q, steps).epsilon(1e-5) < by_rdp < classical
    assert z != 4.0 or by_rdp == pytest.approx(1.0355, abs=1e-4)  # by the improved conversion


def test_full_lots_are_the_gaussian_mechanism() -> None:
    curve = DpSgdCurve(2.0, 1.0, 16)
    assert curve.epsilon(1e-5) == pytest.approx(GaussianCurve(2.0).epsilon(1e-5), rel=1e-12)
    assert curve.delta(1.0) == pytest.approx(GaussianCurve(2.0).delta(1.0), rel=1e-12)


def test_noise_multiplier_inverts() -> None:
    z = noise_multiplier_for(2.0, 1e-5, 0.02, 500, "rdp")
    assert 1.99 < DpSgdCurve(z, 0.02, 500, "rdp").epsilon(1e-5) <= 2.0


def test_more_steps_than_a_lattice_composes_in_seconds_are_refused_with_the_accountant_that_takes_them() -> None:
    with pytest.raises(InputError, match=r"at most 10000000, got 100000000.*the accountant rdp gives an upper bound"):
        DpSgdCurve(20.0, 1e-3, 10**8).epsilon(1e-5)
    assert 1.0 < DpSgdCurve(20.0, 1e-3, 10**8, "rdp").epsilon(1e-5) < 3.0
