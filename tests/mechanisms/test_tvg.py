import math
from typing import Any

import pytest
import torch
from exact_laws import turn
from typed import gaussian_mu, make_as

from tensorldp.curves.gaussian import mu_of
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make, mechanism_class
from tensorldp.mechanisms.directional import DirectionalGaussian
from tensorldp.mechanisms.gaussian import GaussianAnalytic
from tensorldp.mechanisms.tvg import IMPORTANCE_FLOOR, Idn, Udn, _Tvg, kappa, optimal_sigma, zeta
from tensorldp.mechanisms.tvg_budget import Schedule, kov_budget, moments_sigma, simple_budget
from tensorldp.randomness import generator

SQUARE = Box(-1, 1, (28, 28))
SIGMAS = [  # computed apart from the code: shape, epsilon, AGM, IDN, UDN, TVG, MVG
    ((28, 28), 0.1, 1722, 17683, 93572, 4.951e5, 1.944e6),
    ((28, 28), 1, 208.9, 1769, 9361, 49536, 1.944e5),
    ((28, 28), 100, 5.302, 18.53, 98.05, 518.8, 1946),
    ((32, 96), 10, 55.41, 654.0, 3700, 36250, 1.469e5),
    ((1, 1280), 1, 266.9, 2814, 2814, 1.007e5, 1.007e5),
    ((1482, 1509), 1, 11159, 4.484e6, 1.726e8, 6.705e9, 5.282e10),
]


def sigma_of(name: str, epsilon: float, domain: Box) -> float:
    m = make(name, epsilon=epsilon, domain=domain)
    assert isinstance(m, GaussianAnalytic | DirectionalGaussian)
    return m.sigma


@pytest.mark.parametrize(("shape", "epsilon", "agm", "idn", "udn", "tvg", "mvg"), SIGMAS)
def test_sigma_columns_of_the_looseness_table(
    shape: tuple[int, ...], epsilon: float, agm: float, idn: float, udn: float, tvg: float, mvg: float
) -> None:
    for name, expected in {"gaussian-analytic": agm, "idn": idn, "udn": udn, "tvg": tvg, "mvg": mvg}.items():
        assert sigma_of(name, epsilon, Box(-1, 1, shape)) == pytest.approx(expected, rel=6e-4), name


def test_true_epsilon_columns() -> None:
    for name, value in {"idn": 16.8, "udn": 2.31, "tvg": 0.37, "mvg": 0.088}.items():
        guarantee = make(name, epsilon=100, domain=SQUARE).guarantee(1e-5)
        assert guarantee.exact
        assert guarantee.epsilon == pytest.approx(value, rel=0.02), name


def test_zeta_and_bound_oracles() -> None:
    assert zeta(784, 1e-5) == pytest.approx(31.575905, abs=5e-7)
    kappas = [kappa(size, epsilon, 1e-5) for size, epsilon in ((784, 0.1), (784, 100), (2_236_682, 1))]
    assert kappas == pytest.approx([0.0031668, 3.0223, 6.671e-4], rel=9e-5)
    tiny = kappa(10**12, 1e-9, 1e-5)  # where the naive form loses all digits
    assert tiny == pytest.approx(1e-9 / zeta(10**12, 1e-5), rel=1e-12)
    assert make_as(Udn, epsilon=1, domain=SQUARE).bound == pytest.approx(3.195046e-7, rel=2e-7)
    for name, at_one, at_ten in (("udn", 9361.393, 940.339), ("idn", 1769.137, 177.707)):
        assert sigma_of(name, 1, SQUARE) == pytest.approx(at_one, abs=5e-4)
        assert sigma_of(name, 10, SQUARE) == pytest.approx(at_ten, abs=5e-4)


def test_small_case_and_the_ratio_sqrt_of_the_first_dimension() -> None:
    udn, idn = (sigma_of(name, 1, Box(-1, 1, (4, 4))) for name in ("udn", "idn"))
    assert (udn, idn) == pytest.approx((131.12846, 65.56423), abs=5e-6)
    assert udn / idn == pytest.approx(math.sqrt(4), rel=1e-14)


def test_corrected_sensitivity_is_the_diameter() -> None:
    idn = make_as(Idn, epsilon=1, domain=SQUARE)
    assert idn.s_hat == pytest.approx(56.0, rel=1e-15)
    assert idn.sigma == pytest.approx(idn.s_hat / idn.kappa, rel=1e-14)


@pytest.mark.parametrize(("epsilon", "sigma", "mu", "true"), [(1, 2.26, 24.8, 413), (10, 0.227, 246.7, 31_571)])
def test_idn_as_printed(epsilon: int, sigma: float, mu: float, true: int) -> None:
    m = make_as(Idn, epsilon=epsilon, domain=SQUARE, form="printed")
    assert m.s_hat == pytest.approx(0.0714, abs=5e-5)
    assert m.sigma == pytest.approx(sigma, rel=2.5e-3)
    assert gaussian_mu(m.curve()) == pytest.approx(mu, rel=2.5e-3)
    assert m.guarantee(1e-5).epsilon == pytest.approx(true, rel=1e-3)
    assert mu_of(true, 1e-5) == pytest.approx(mu, rel=2.5e-3)
    assert "printed" in m.guarantee(1e-5).note


def test_a_vector_record_takes_its_length_as_first_dimension() -> None:
    for name, ratio in (("udn", math.sqrt(1280)), ("idn", 1.0)):
        row, vector = (sigma_of(name, 1, Box(-1, 1, shape)) for shape in ((1, 1280), (1280,)))
        assert vector / row == pytest.approx(ratio, rel=1e-14)


def test_theorems_hold_over_a_grid() -> None:
    for name in ("tvg", "udn", "idn", "mvg"):
        for shape in ((1,), (3, 5), (200, 300)):
            for epsilon in (1e-3, 0.1, 1, 30, 1e4):
                for delta in (1e-1, 1e-5, 1e-9):
                    m = make(name, epsilon=epsilon, domain=Box(-1, 1, shape), delta=delta)
                    assert m.privacy_profile(epsilon) <= 0.0165 * delta


@pytest.mark.parametrize("name", ["tvg", "udn", "idn"])
def test_importances_spend_the_bound_and_reach_the_optimum(name: str) -> None:
    p = torch.tensor([4.0, 1.0, 0.25, 9.0], dtype=torch.float64)
    m = make_as(_Tvg, name, epsilon=1, domain=Box(-1, 1, (4, 6)), importances=p)
    sigma = m.factors[0].sigma
    assert float((sigma**-2).sum()) == pytest.approx(m.bound, rel=1e-12)
    best = float(p.sqrt().sum()) ** 2 / m.bound  # Eq. 29
    assert float((p * sigma**2).sum()) == pytest.approx(best, rel=1e-12)
    share = torch.rand(20, 4, dtype=torch.float64, generator=generator("split"))
    other = share / share.sum(dim=1, keepdim=True) * m.bound
    assert float((p / other).sum(dim=1).min()) >= best * (1 - 1e-12)  # no other split of the bound does better
    # the oracle table's error: I sum sqrt(P) sum 1/sqrt(P) / (I_1 B)
    assert m.squared_error() == pytest.approx(6 * float(p.sqrt().sum() * p.rsqrt().sum()) / m.bound, rel=1e-12)


def test_an_importance_of_zero_is_capped_and_equal_ones_are_the_isotropic_mechanism() -> None:
    sigma = optimal_sigma(torch.tensor([1.0, 0.0], dtype=torch.float64), 2.0)
    assert float(sigma[1] / sigma[0]) == pytest.approx(IMPORTANCE_FLOOR**-0.25)
    assert float((sigma**-2).sum()) == pytest.approx(2.0)
    same = make_as(Udn, epsilon=1, domain=SQUARE, importances=[2.0] * 28, directions=turn(28))
    assert same.isotropic
    assert same.sigma == pytest.approx(sigma_of("udn", 1, SQUARE), rel=1e-14)


def test_workload_sets_the_importances_of_algorithm_one() -> None:
    w, directions = torch.arange(15, dtype=torch.float64).reshape(5, 3) - 4, turn(3, 5)
    options: tuple[dict[str, Any], ...] = ({"workload": w}, {"importances": ((w @ directions) ** 2).sum(dim=0)})
    found, by_hand = (make_as(Udn, epsilon=1, domain=Box(-1, 1, (3, 4)), directions=directions, **o) for o in options)
    # two products of small whole numbers and unit directions: equal but for rounding, which differs between BLAS
    torch.testing.assert_close(found.factors[0].sigma, by_hand.factors[0].sigma, rtol=1e-12, atol=0.0)


def test_right_singular_directions_minimise_the_weighted_error() -> None:
    w = torch.randn(5, 4, dtype=torch.float64, generator=generator("workload"))

    def weighted_error(directions: torch.Tensor) -> float:
        m = make_as(Udn, epsilon=1, domain=Box(-1, 1, (4, 2)), workload=w, directions=directions)
        return float(((w @ directions * m.factors[0].sigma) ** 2).sum())

    singular = weighted_error(torch.linalg.svd(w).Vh.T)
    assert all(singular <= weighted_error(turn(4, seed)) for seed in range(10))


def test_oracles_of_composition() -> None:
    assert simple_budget(1, 1e-5, rate=0.01, steps=1000) == pytest.approx((0.46599005, 5e-7), rel=2e-8)
    epsilon, delta = kov_budget(1, 1e-5, rate=0.01, steps=1000)  # Kairouz, Oh and Viswanath
    assert epsilon == pytest.approx(0.62761691, abs=5e-9)
    assert delta == pytest.approx(9.00005e-7, rel=1e-6)


def test_kov_budget_solves_one_of_its_equations_and_grows_with_epsilon() -> None:
    e0 = kov_budget(2, 1e-5, rate=1, steps=50)[0]
    linear = 50 * e0 * math.expm1(e0) / (math.exp(e0) + 1)
    tails = (math.log(1e6), math.log(math.e + math.sqrt(50) * e0 * 1e6))
    assert min(linear + e0 * math.sqrt(100 * tail) for tail in tails) == pytest.approx(2, rel=1e-9)
    assert e0 < kov_budget(3, 1e-5, rate=1, steps=50)[0]
    with pytest.raises(InputError, match="slack"):
        kov_budget(1, 1e-5, rate=0.1, steps=5, slack=1e-4)


def test_gaussian_sigma_oracle() -> None:
    assert moments_sigma(1, 1e-5, rate=512 / 60000, steps=7031) == pytest.approx(4.855680, abs=5e-7)
    one, three = (moments_sigma(e, 1e-5, rate=0.01, steps=100, clip=clip) for e, clip in ((1, 1), (2, 6)))
    assert three == pytest.approx(3 * one, rel=1e-12)


@pytest.mark.parametrize("name", ["gaussian", "udn", "idn", "matrix", "optimized"])
def test_a_run_without_privacy_has_no_noise_to_state(name: str) -> None:
    run = Schedule(math.inf, 1e-5, rate=0.01, steps=100)
    with pytest.raises(InputError, match="epsilon"):
        mechanism_class(name).step_sigma(run, Box(-1.0, 1.0, (2, 2)))
    assert mechanism_class("none").step_sigma(run, Box(-1.0, 1.0, (2, 2))) == 0.0
