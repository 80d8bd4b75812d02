import math
from typing import Any

import numpy as np
import pytest
import torch
from gaussian_checks import check_sampler, check_squared_error, explicit_covariance, turn
from scipy.stats import multivariate_normal
from typed import gaussian_mu, make_as

from tensorldp.curves.gaussian import mu_of
from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Box, Domain, make
from tensorldp.mechanisms.directional import DirectionalGaussian
from tensorldp.mechanisms.gaussian import GaussianAnalytic
from tensorldp.mechanisms.tvg import IMPORTANCE_FLOOR, Idn, Udn, _Tvg, kappa, optimal_sigma, zeta
from tensorldp.randomness import generator

SIGMAS = [  # computed apart from the code: shape, epsilon, AGM, IDN, UDN, TVG, MVG
    ((28, 28), 0.1, 1722, 17683, 93572, 4.951e5, 1.944e6),
    ((28, 28), 1, 208.9, 1769, 9361, 49536, 1.944e5),
    ((28, 28), 10, 27.99, 177.7, 940.3, 4976, 19445),
    ((28, 28), 100, 5.302, 18.53, 98.05, 518.8, 1946),
    ((32, 96), 1, 413.6, 6532, 36950, 3.620e5, 1.469e6),
    ((32, 96), 10, 55.41, 654.0, 3700, 36250, 1.469e5),
    ((32, 40), 1, 266.9, 2814, 15919, 1.007e5, 4.085e5),
    ((1, 1280), 1, 266.9, 2814, 2814, 1.007e5, 1.007e5),
    ((1482, 1509), 1, 11159, 4.484e6, 1.726e8, 6.705e9, 5.282e10),
    ((1482, 1509), 100, 283.2, 44836, 1.726e6, 6.706e7, 5.282e8),
]


def sigma_of(name: str, epsilon: float, domain: Domain) -> float:
    m = make(name, epsilon=epsilon, domain=domain)
    assert isinstance(m, GaussianAnalytic | DirectionalGaussian)
    return m.sigma


@pytest.mark.parametrize(("shape", "epsilon", "agm", "idn", "udn", "tvg", "mvg"), SIGMAS)
def test_sigma_columns_of_the_looseness_table(
    shape: tuple[int, ...], epsilon: float, agm: float, idn: float, udn: float, tvg: float, mvg: float
) -> None:
    domain = Box(-1, 1, shape)
    for name, expected in {"gaussian-analytic": agm, "idn": idn, "udn": udn, "tvg": tvg, "mvg": mvg}.items():
        assert sigma_of(name, epsilon, domain) == pytest.approx(expected, rel=6e-4), name


@pytest.mark.parametrize(
    ("shape", "epsilon", "expected"),
    [
        ((28, 28), 0.1, (0.0074, 0.0010, 1.1e-4, 3e-6)),
        ((28, 28), 1, (0.097, 0.0153, 0.0022, 4.1e-4)),
        ((28, 28), 10, (1.20, 0.194, 0.031, 0.0067)),
        ((28, 28), 100, (16.8, 2.31, 0.37, 0.088)),
        ((32, 96), 1, (0.049, 0.0070, 4.5e-4, 5.6e-5)),
        ((32, 96), 10, (0.606, 0.091, 0.0072, 0.0014)),
        ((32, 40), 1, (0.076, 0.011, 0.0013, 2.1e-4)),
        ((1, 1280), 1, (0.076, 0.076, 0.0013, 0.0013)),
        ((1482, 1509), 100, (0.22, 0.0037, 0.0, 0.0)),
    ],
)
def test_true_epsilon_columns(shape: tuple[int, ...], epsilon: float, expected: tuple[float, ...]) -> None:
    for name, value in zip(("idn", "udn", "tvg", "mvg"), expected, strict=True):
        guarantee = make(name, epsilon=epsilon, domain=Box(-1, 1, shape)).guarantee(1e-5)
        assert guarantee.exact
        assert guarantee.epsilon == pytest.approx(value, rel=0.045, abs=2e-5), name


@pytest.mark.parametrize(
    ("size", "epsilon", "expected"),
    [
        (784, 0.1, 0.0031668),
        (784, 1, 0.031654),
        (784, 10, 0.31512),
        (784, 100, 3.0223),
        (3072, 1, 0.016971),
        (3072, 10, 0.16949),
        (1280, 1, 0.025426),
        (2_236_682, 1, 6.671e-4),
        (2_236_682, 100, 0.066712),
    ],
)
def test_kappa_column(size: int, epsilon: float, expected: float) -> None:
    assert kappa(size, epsilon, 1e-5) == pytest.approx(expected, rel=9e-5)


def test_kappa_keeps_its_digits_where_the_naive_form_loses_all() -> None:
    assert kappa(10**12, 1e-9, 1e-5) == pytest.approx(1e-9 / zeta(10**12, 1e-5), rel=1e-12)


def test_zeta_and_bound_oracles() -> None:
    assert zeta(784, 1e-5) == pytest.approx(31.575905, abs=5e-7)
    udn = make_as(Udn, epsilon=1, domain=Box(-1, 1, (28, 28)))
    assert udn.bound == pytest.approx(3.195046e-7, rel=2e-7)
    assert udn.sigma == pytest.approx(9361.393, abs=5e-4)
    assert make_as(Udn, epsilon=10, domain=Box(-1, 1, (28, 28))).sigma == pytest.approx(940.339, abs=5e-4)
    assert make_as(Idn, epsilon=1, domain=Box(-1, 1, (28, 28))).sigma == pytest.approx(1769.137, abs=5e-4)
    assert make_as(Idn, epsilon=10, domain=Box(-1, 1, (28, 28))).sigma == pytest.approx(177.707, abs=5e-4)


def test_small_case_and_the_ratio_sqrt_of_the_first_dimension() -> None:
    domain = Box(-1, 1, (4, 4))
    udn, idn = make_as(Udn, epsilon=1, domain=domain), make_as(Idn, epsilon=1, domain=domain)
    assert udn.sigma == pytest.approx(131.12846, abs=5e-6)
    assert idn.sigma == pytest.approx(65.56423, abs=5e-6)
    assert udn.sigma / idn.sigma == pytest.approx(math.sqrt(4), rel=1e-14)


def test_corrected_sensitivity_is_the_diameter() -> None:
    idn = make_as(Idn, epsilon=1, domain=Box(-1, 1, (28, 28)))
    assert idn.s_hat == pytest.approx(56.0, rel=1e-15)
    assert idn.sigma == pytest.approx(idn.s_hat / idn.kappa, rel=1e-14)


@pytest.mark.parametrize(("epsilon", "sigma", "mu", "true"), [(1, 2.26, 24.8, 413), (10, None, None, 31_571)])
def test_idn_as_printed(epsilon: int, sigma: float | None, mu: float | None, true: int) -> None:
    m = make_as(Idn, epsilon=epsilon, domain=Box(-1, 1, (28, 28)), form="printed")
    assert m.s_hat == pytest.approx(0.0714, abs=5e-5)
    if sigma is not None:
        assert m.sigma == pytest.approx(sigma, abs=5e-3)
        assert gaussian_mu(m.curve()) == pytest.approx(mu, abs=0.05)
    assert m.guarantee(1e-5).epsilon == pytest.approx(true, rel=1e-3)
    assert "printed" in m.guarantee(1e-5).note


def test_slopes_of_table_four() -> None:
    def slope(name: str, divide: Any) -> float:
        def error(n: int) -> float:
            m = make(name, epsilon=1, domain=Box(-1, 1, (n, n)))
            return math.log(m.squared_error() / divide(n))

        return (error(1000) - error(100)) / (2 * math.log(10))

    assert slope("idn", lambda n: 1.0) == pytest.approx(2.98, abs=0.01)
    assert slope("udn", lambda n: n) == pytest.approx(2.98, abs=0.01)
    harmonic = {n: sum(1 / i for i in range(1, n + 1)) for n in (100, 1000)}
    assert slope("mvg", lambda n: n * harmonic[n] ** 2) == pytest.approx(3.48, abs=0.01)
    assert slope("gaussian-analytic", lambda n: 1.0) == pytest.approx(2.0, abs=0.01)


def test_printed_forms_of_the_tables_scale() -> None:
    """Section 0: IDN 8.5 times, UDN 45, TVG 237 and MVG 931 times the analytic Gaussian."""
    domain = Box(-1, 1, (28, 28))
    agm = make_as(GaussianAnalytic, epsilon=1, domain=domain).sigma
    for name, ratio in {"idn": 8.47, "udn": 44.8, "tvg": 237, "mvg": 931}.items():
        assert sigma_of(name, 1, domain) / agm == pytest.approx(ratio, rel=2e-3)


def test_a_vector_record_takes_its_length_as_first_dimension() -> None:
    row, vector = (make_as(Udn, epsilon=1, domain=Box(-1, 1, shape)) for shape in ((1, 1280), (1280,)))
    assert vector.sigma / row.sigma == pytest.approx(math.sqrt(1280), rel=1e-14)
    idn_row, idn_vector = (make_as(Idn, epsilon=1, domain=Box(-1, 1, shape)) for shape in ((1, 1280), (1280,)))
    assert idn_row.sigma == pytest.approx(idn_vector.sigma, rel=1e-14)


def test_theorems_hold_over_a_grid() -> None:
    for name in ("tvg", "udn", "idn", "mvg"):
        for shape in ((1,), (3, 5), (28, 28), (200, 300)):
            for epsilon in (1e-3, 0.1, 1, 30, 1e4):
                for delta in (1e-1, 1e-5, 1e-9):
                    m = make(name, epsilon=epsilon, domain=Box(-1, 1, shape), delta=delta)
                    assert m.privacy_profile(epsilon) <= 0.0165 * delta


@pytest.mark.parametrize("name", ["tvg", "udn", "idn"])
def test_importances_spend_the_bound_and_reach_the_optimum(name: str) -> None:
    p = torch.tensor([4.0, 1.0, 0.25, 9.0])
    m = make_as(_Tvg, name, epsilon=1, domain=Box(-1, 1, (4, 6)), importances=p)
    sigma = m.factors[0].sigma
    assert float((sigma**-2).sum()) == pytest.approx(m.bound, rel=1e-12)
    best = float(p.sqrt().sum()) ** 2 / m.bound  # Eq. 29
    assert float((p * sigma**2).sum()) == pytest.approx(best, rel=1e-12)
    for seed in range(20):  # no other split of the bound does better
        share = torch.rand(4, dtype=torch.float64, generator=generator("split", seed))
        assert float((p / (share / share.sum() * m.bound)).sum()) >= best * (1 - 1e-12)
    assert m.squared_error() == pytest.approx(6 * float((sigma**2).sum()), rel=1e-12)


def test_error_with_importances_matches_the_oracle_table() -> None:
    p = torch.tensor([4.0, 1.0, 0.25])
    m = make_as(Idn, epsilon=1, domain=Box(-1, 1, (3, 5)), importances=p)
    expected = 15 * float(p.sqrt().sum() * p.rsqrt().sum()) / (3 * m.bound)
    assert m.squared_error() == pytest.approx(expected, rel=1e-12)


def test_an_importance_of_zero_is_capped() -> None:
    sigma = optimal_sigma(torch.tensor([1.0, 0.0], dtype=torch.float64), 2.0)
    assert bool(torch.isfinite(sigma).all())
    assert float(sigma[1] / sigma[0]) == pytest.approx(IMPORTANCE_FLOOR**-0.25)
    assert float((sigma**-2).sum()) == pytest.approx(2.0)


def test_uniform_importances_are_the_isotropic_mechanism() -> None:
    plain = make_as(Udn, epsilon=1, domain=Box(-1, 1, (4, 3)))
    same = make_as(Udn, epsilon=1, domain=Box(-1, 1, (4, 3)), importances=[2.0] * 4, directions=turn(4))
    assert same.isotropic
    assert same.sigma == pytest.approx(plain.sigma, rel=1e-14)


def test_workload_sets_the_importances_of_algorithm_one() -> None:
    w, directions = torch.arange(15, dtype=torch.float64).reshape(5, 3) - 4, turn(3, 5)
    by_workload = make_as(Udn, epsilon=1, domain=Box(-1, 1, (3, 4)), workload=w, directions=directions)
    by_hand = make_as(
        Udn,
        epsilon=1,
        domain=Box(-1, 1, (3, 4)),
        importances=((w @ directions) ** 2).sum(dim=0),
        directions=directions,
    )
    # two products of small whole numbers and unit directions: equal but for rounding, which differs between BLAS
    torch.testing.assert_close(by_workload.factors[0].sigma, by_hand.factors[0].sigma, rtol=1e-12, atol=0.0)


def test_right_singular_directions_minimise_the_weighted_error() -> None:
    w = torch.randn(5, 4, dtype=torch.float64, generator=generator("workload"))

    def weighted_error(directions: torch.Tensor) -> float:
        m = make_as(Udn, epsilon=1, domain=Box(-1, 1, (4, 2)), workload=w, directions=directions)
        assert m.factors[0].directions is not None
        u = m.factors[0].directions @ torch.diag(m.factors[0].sigma)
        return float(((w @ u) ** 2).sum())

    singular = weighted_error(torch.linalg.svd(w).Vh.T)
    assert all(singular <= weighted_error(turn(4, seed)) for seed in range(10))


@pytest.mark.parametrize("name", ["tvg", "udn", "idn"])
@pytest.mark.parametrize("directional", [False, True])
def test_sampler_covariance_and_squared_error(name: str, directional: bool) -> None:
    options: dict[str, Any] = {"importances": [4.0, 1.0, 0.1]} if directional else {}
    if directional and name != "idn":
        options["directions"] = turn(3)
    m = make_as(_Tvg, name, epsilon=1, domain=Box(-1, 1, (3, 2)), **options)
    check_sampler(m)
    check_squared_error(m)


def test_float32_noise_has_the_same_law_and_reproduces() -> None:
    m = make_as(Udn, epsilon=50, domain=Box(0, 1, (3, 2)), directions=turn(3), importances=[4.0, 1.0, 0.1])
    x = torch.full((5000, 3, 2), 0.25)
    out = m.privatize(x, generator("f32"))
    assert out.dtype == torch.float32
    assert torch.equal(out, m.privatize(x, generator("f32")))
    assert bool((x == 0.25).all())
    errors = ((out.double() - 0.25) ** 2).reshape(5000, -1).sum(dim=1)
    assert abs(float(errors.mean()) - m.squared_error()) < 5 * float(errors.std()) / math.sqrt(5000)


@pytest.mark.parametrize("domain", [Box(-1, 1, (3, 2)), Ball(1.0, (3, 2))])
def test_likelihood_ratio_is_that_of_the_explicit_normal(domain: Domain) -> None:
    m = make_as(Udn, epsilon=1, domain=domain, directions=turn(3), importances=[4.0, 1.0, 0.1])
    x, x_prime = m.worst_pair()
    y = m.privatize(x.expand(5, 3, 2), generator("llr"))
    density = multivariate_normal(np.zeros(6), explicit_covariance(m))
    expected = [
        density.logpdf((row - x).numpy().ravel()) - density.logpdf((row - x_prime).numpy().ravel()) for row in y
    ]
    assert m.log_likelihood_ratio(y, x, x_prime).tolist() == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_profile_matches_the_sampled_privacy_loss() -> None:
    m = make("idn", epsilon=60, domain=Box(-1, 1, (2, 2)), importances=[4.0, 1.0])
    x, x_prime = m.worst_pair()
    y = m.privatize(x.expand(200_000, 2, 2), generator("loss"))
    gain = (1 - torch.exp(1.0 - m.log_likelihood_ratio(y, x, x_prime))).clamp_min(0.0)
    spread = float(gain.std()) / math.sqrt(200_000)
    assert abs(float(gain.mean()) - m.privacy_profile(1.0)) < 5 * spread


def test_printed_overstatement_is_what_mu_says() -> None:
    assert mu_of(413, 1e-5) == pytest.approx(24.8, abs=0.05)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"importances": [1.0, -1.0, 1.0]}, "non-negative"),
        ({"importances": [1.0, 1.0]}, "vector of 3"),
        ({"importances": "abc"}, "vector of 3"),
        ({"importances": [0.0, 0.0, 0.0]}, "not all zero"),
        ({"directions": torch.ones(3, 3)}, "orthogonal"),
        ({"directions": torch.eye(2)}, "3"),
        ({"workload": torch.ones(2, 4)}, "3 columns"),
        ({"workload": torch.ones(2, 3), "importances": [1.0] * 3}, "not both"),
        ({"form": "printed"}, "unknown option"),
    ],
)
def test_mistakes_are_told_in_a_sentence(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        make("udn", epsilon=1, domain=Box(-1, 1, (3, 2)), **options)


def test_idn_refuses_directions_and_unknown_forms() -> None:
    with pytest.raises(InputError, match="directions"):
        make("idn", epsilon=1, domain=Box(-1, 1, (3, 2)), directions=torch.eye(3))
    with pytest.raises(InputError, match="form of idn"):
        make("idn", epsilon=1, domain=Box(-1, 1, (3, 2)), form="typo")
