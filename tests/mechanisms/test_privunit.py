import math
import time
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import betainc
from scipy.stats import kstest, norm
from typed import make_as

from tensorldp import privacy
from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Box, make
from tensorldp.mechanisms.privunit import (
    PrivUnit,
    PrivUnitG,
    ProjUnit,
    gaussian_cap,
    hadamard,
    normal_height,
    sphere_cap,
    sphere_height,
    sphere_log_tail,
)
from tensorldp.randomness import generator, numpy_generator

EXACT = {
    2: (39.1252, 9.5218, 2.1401, 0.3556, 0.0217),
    10: (239.0513, 59.7326, 14.8981, 3.6743, 0.8418),
    100: (2504.9283, 629.3485, 160.3636, 42.8181, 12.7325),
    784: (19727.92, 4959.089, 1266.170, 340.574, 103.638),
    3072: (77339.42, 19442.22, 4965.14, 1336.59, 407.74),
    21840: (549914.9, 138244.4, 35307.0, 9506.7, 2902.2),
}


@pytest.mark.parametrize("d", sorted(EXACT))
def test_exact_error(d: int) -> None:
    for epsilon, expected in zip((0.5, 1, 2, 4, 8), EXACT[d], strict=True):
        g = sphere_cap(float(epsilon), d).gamma
        assert 1 / g**2 - 1 == pytest.approx(expected, rel=2e-5, abs=6e-5)


@pytest.mark.parametrize(("epsilon", "d", "expected"), [(1, 50, 312.856), (4, 50, 21.0559), (12, 50, 3.0848)])
def test_error_at_50(epsilon: int, d: int, expected: float) -> None:
    assert 1 / sphere_cap(float(epsilon), d).gamma ** 2 - 1 == pytest.approx(expected, rel=2e-5)


@pytest.mark.parametrize(
    ("epsilon", "d", "apple", "moment"),
    [
        (6, 100, 26.89, 21.7155),
        (1, 1000, 6476.4, 6327.378),
        (2, 1000, 1773.23, 1616.373),
        (4, 1000, 614.73, 435.603),
        (7, 1000, 200.04, 165.291),
        (10, 1000, 107.54, 94.545),
        (5, 500_000, 191004.5, 145990.7),
    ],
)
def test_below_the_published_table(epsilon: int, d: int, apple: float, moment: float) -> None:
    found = 1 / sphere_cap(float(epsilon), d).gamma ** 2
    assert found == pytest.approx(moment, rel=1e-5)
    assert found <= apple


@pytest.mark.parametrize(
    ("epsilon", "g", "q", "p", "error"),
    [
        (0.5, 0.199284, 0.421020, 0.545229, 25.179853),
        (1, 0.397463, 0.345513, 0.589326, 6.330042),
        (2, 0.786480, 0.215793, 0.670323, 1.616681),
        (4, 1.515638, 0.0648055, 0.790946, 0.435321),
        (8, 2.742945, 3.04455e-3, 0.901023, 0.132913),
        (16, 4.561326, 2.54158e-6, 0.957600, 0.048064),
        (64, 10.580917, 1.82683e-26, 0.991297, 0.008932),
        (100, 13.509606, 6.86271e-42, 0.994609, 0.005479),
    ],
)
def test_gaussian_table(epsilon: float, g: float, q: float, p: float, error: float) -> None:
    cap = gaussian_cap(float(epsilon))
    assert cap.gamma == pytest.approx(g, abs=1e-6)
    assert math.exp(cap.log_q) == pytest.approx(q, rel=1e-5)
    assert cap.p == pytest.approx(p, abs=1e-6)
    assert 1 / cap.gamma**2 == pytest.approx(error, abs=1e-6)


@pytest.mark.parametrize("epsilon", [1e-12, 1e-8, 1e-6])
@pytest.mark.parametrize("d", [2, 65, 3073, 2_236_683])
def test_a_tiny_epsilon_has_two_caps_and_little_or_nothing_between(epsilon: float, d: int) -> None:
    curve = sphere_cap(epsilon, d).curve()
    assert curve.epsilon(0.0) == pytest.approx(epsilon, rel=1e-3)


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 5.0, 50.0, 700.0])
@pytest.mark.parametrize("d", [2, 3, 10, 785, 2_236_683])
def test_budget_and_optimum(epsilon: float, d: int) -> None:
    start = time.perf_counter()
    cap = sphere_cap.__wrapped__(epsilon, d)
    assert time.perf_counter() - start < 0.05
    # p (1-q) / (q (1-p)) = e^epsilon
    loss = cap.log_p + math.log1p(-math.exp(cap.log_q)) - cap.log_q - cap.log_miss
    assert loss == pytest.approx(epsilon, rel=1e-9)
    # m(g) = g, and no neighbour is better; m = E[u] is recomputed from the law of u
    if cap.complement > 1e-6:

        def mean(g: float) -> float:
            tail = math.exp(sphere_log_tail(g, d))
            density = math.exp(-math.log(d - 1) + (d - 1) / 2 * math.log1p(-g * g) - log_beta(d))
            return density / (tail + 1 / math.expm1(epsilon)) if epsilon < 600 else math.nan

        if epsilon < 60:
            assert mean(cap.gamma) == pytest.approx(cap.gamma, rel=1e-6)
            assert mean(cap.gamma) >= max(mean(cap.gamma * 0.98), mean(min(cap.gamma * 1.02, 1 - 1e-9))) * (1 - 1e-7)


def log_beta(d: int) -> float:
    return math.lgamma((d - 1) / 2) + math.lgamma(0.5) - math.lgamma(d / 2)


def test_continued_fraction_meets_the_incomplete_beta() -> None:
    for d, g in ((785, 0.88), (50, 0.9999), (20_000, 0.23)):
        direct = float(betainc((d - 1) / 2, 0.5, 1 - g * g)) / 2
        assert direct > 0
        far = sphere_log_tail(g, d)
        assert far == pytest.approx(math.log(direct), rel=1e-9)
    # half the cap at a little more: the log tail stays smooth where betainc underflows
    values = [sphere_log_tail(g, 785) for g in np.linspace(0.85, 0.99, 60)]
    steps = np.diff(values)
    assert np.all(steps < 0)
    assert np.all(np.diff(steps) < 0)
    assert values[-1] < -1500


@pytest.mark.parametrize("d", [2, 3, 4, 785, 2_236_683])
@pytest.mark.parametrize("epsilon", [0.5, 3.0, 9.0])
def test_height_law(d: int, epsilon: float) -> None:
    cap = sphere_cap(epsilon, d)
    u, sine = sphere_height(100_000, cap, d, numpy_generator(generator("height", d, epsilon)))
    assert np.allclose(u**2 + sine**2, 1.0, atol=1e-9)
    q = math.exp(cap.log_q)

    def tail(g: Any) -> Any:
        half = betainc((d - 1) / 2, 0.5, np.clip(1 - g * g, 0, 1)) / 2
        return np.where(g >= 0, half, 1 - half)

    def cdf(v: Any) -> Any:
        outside = np.minimum((1 - tail(v)) / (1 - q), 1.0)
        inside = np.clip(1 - tail(v) / q, 0.0, 1.0)
        return cap.p * inside + (1 - cap.p) * outside

    assert kstest(u, cdf).pvalue > 1e-6


@pytest.mark.parametrize("epsilon", [0.5, 4.0, 100.0])
def test_normal_height_law(epsilon: float) -> None:
    cap = gaussian_cap(epsilon)
    a = normal_height(100_000, cap, numpy_generator(generator("normal height", epsilon)))
    q = math.exp(cap.log_q)

    def cdf(v: Any) -> Any:
        inside = np.clip(1 - norm.sf(v) / q, 0, 1)
        return cap.p * inside + (1 - cap.p) * np.minimum(norm.cdf(v) / (1 - q), 1.0)

    assert np.isfinite(a).all()
    assert kstest(a, cdf).pvalue > 1e-6


@pytest.mark.parametrize("shape", [(1,), (2,), (50,), (3, 32, 32)])
def test_norm_and_mean(shape: tuple[int, ...]) -> None:
    m = make_as(PrivUnit, epsilon=4.0, domain=Ball(3.0, shape, centre=0.5))
    d = math.prod(shape)
    record = 0.5 + 3.0 * torch.randn(shape, generator=generator("v"), dtype=torch.float64) / (2 * math.sqrt(d))
    record = m.ball.project(record.unsqueeze(0))[0]
    y = m.privatize(record.expand(4000, *shape).contiguous(), generator("unit", d)).reshape(4000, -1) - 0.5
    # the released norm is R/m but for the dropped coordinate
    assert float(y.norm(dim=1).max()) <= 3.0 / m.cap.gamma * (1 + 1e-6)
    v = (record - 0.5).flatten()
    along = y @ v / v.norm()
    assert float(along.mean()) == pytest.approx(float(v.norm()), abs=5 * float(along.std()) / math.sqrt(4000))


def test_unlifted_records_keep_the_norm_and_the_printed_error() -> None:
    m = make_as(PrivUnit, epsilon=4.0, domain=Ball(2.0, (784,)), lift=False)
    assert m.squared_error() / 4 == pytest.approx(340.574, rel=1e-5)
    v = torch.randn(100, 784, generator=generator("unlifted"))
    v = 2.0 * v / v.norm(dim=1, keepdim=True)
    y = m.privatize(v, generator("y"))
    assert torch.allclose(y.norm(dim=1), torch.full((100,), 2.0 / m.cap.gamma), rtol=1e-5)
    with pytest.raises(InputError, match="lift"):
        m.privatize(0.5 * v, generator("y"))


@pytest.mark.parametrize("name", ["privunit", "privunit-g"])
@pytest.mark.parametrize("norm_share", [0.0, 0.6, 1.0])
def test_error_is_the_same_everywhere(name: str, norm_share: float) -> None:
    m = make(name, epsilon=3.0, domain=Ball(1.0, (12,)))
    x = torch.zeros(100_000, 12, dtype=torch.float64)
    x[:, 3] = norm_share
    errors = (m.privatize(x, generator(name, norm_share)) - x).square().sum(dim=1)
    standard_error = float(errors.std()) / math.sqrt(len(errors))
    assert float(errors.mean()) == pytest.approx(m.squared_error(), abs=5 * standard_error)


@pytest.mark.parametrize(
    ("epsilon", "exact", "gaussian"),
    [(0.5, 19730, 19740), (1, 4959, 4963), (4, 340.6, 341.3), (16, 37.2, 37.7), (64, 6.51, 7.00), (100, 3.81, 4.30)],
)
def test_cube_of_784(epsilon: float, exact: float, gaussian: float) -> None:
    box = Box(-1, 1, (784,))
    assert make_as(PrivUnit, epsilon=epsilon, domain=box).squared_error() / 784 == pytest.approx(exact, rel=2e-3)
    assert make_as(PrivUnitG, epsilon=epsilon, domain=box).squared_error() / 784 == pytest.approx(gaussian, rel=2e-3)


@pytest.mark.parametrize("name", ["privunit", "privunit-g", "projunit"])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 10.0, 100.0])
def test_exactly_epsilon(name: str, epsilon: float) -> None:
    g = make(name, epsilon=epsilon, domain=Ball(1.0, (784,))).guarantee(0.0)
    assert g.epsilon == pytest.approx(epsilon, rel=1e-9)
    assert g.exact == (name != "projunit")


@pytest.mark.parametrize("name", ["privunit", "privunit-g"])
def test_likelihood_matches_the_profile(name: str) -> None:
    m = make(name, epsilon=1.5, domain=Box(-1, 1, (6,)))
    first, second = m.worst_pair()
    y = m.privatize(first.expand(100_000, 6).contiguous(), generator("llr", name))
    ratio = m.log_likelihood_ratio(y, first, second)
    for epsilon in (0.0, 0.7, 1.3):
        delta = float((1 - torch.exp(epsilon - ratio)).clamp_min(0).mean())
        assert delta == pytest.approx(m.privacy_profile(epsilon), abs=5 * 0.5 / math.sqrt(100_000))


@pytest.mark.parametrize("name", ["privunit", "privunit-g"])
def test_likelihood_of_inner_records(name: str) -> None:
    """E over M(x') of the ratio is 1, and it stays within epsilon."""
    m = make(name, epsilon=2.0, domain=Ball(1.0, (4,)))
    x, x_prime = torch.tensor([0.3, 0.0, -0.2, 0.1]), torch.tensor([0.0, 0.9, 0.1, 0.0])
    y = m.privatize(x_prime.expand(200_000, 4).contiguous(), generator("inner", name))
    ratio = m.log_likelihood_ratio(y, x, x_prime).exp()
    assert float(ratio.log().abs().max()) <= 2.0 + 1e-9
    assert float(ratio.mean()) == pytest.approx(1.0, abs=5 * float(ratio.std()) / math.sqrt(200_000))


def test_hadamard() -> None:
    for n in (1, 2, 64, 512):
        x = torch.randn(3, n, generator=generator("h"), dtype=torch.float64)
        y = hadamard(x)
        assert torch.allclose(hadamard(y), x)
        assert torch.allclose(y.norm(dim=1), x.norm(dim=1))
    eye = hadamard(torch.eye(4, dtype=torch.float64)) * 2
    assert torch.equal(eye.abs(), torch.ones(4, 4, dtype=torch.float64))


@pytest.mark.parametrize(("k", "expected"), [(64, 461), (256, 449), (1000, 445.8)])
def test_projected_error(k: int, expected: float) -> None:
    m = make_as(ProjUnit, epsilon=4.0, domain=Ball(1.0, (1024,)), k=k, lift=False)
    assert m.k == k
    v = torch.randn(3000, 1024, generator=generator("proj"))
    v = v / v.norm(dim=1, keepdim=True)
    y = m.privatize(v, generator("proj", k))
    errors = (y - v).square().sum(dim=1)
    assert float(errors.mean()) == pytest.approx(expected, abs=0.01 * expected)
    along = (y * v).sum(dim=1)
    assert float(along.mean()) == pytest.approx(1.0, abs=0.01 + 5 * float(along.std()) / math.sqrt(3000))


def test_a_large_record() -> None:
    m = make_as(PrivUnit, epsilon=1.0, domain=Ball(1.0, (2_236_682,)))
    y = m.privatize(torch.zeros(1, 2_236_682), generator("large"))
    assert math.sqrt(m.squared_error() / m.size) == pytest.approx(2.52, rel=3e-3)
    assert float(y.double().square().sum()) == pytest.approx(m.squared_error(), rel=0.02)
    assert make_as(ProjUnit, epsilon=1.0, domain=Ball(1.0, (300_000,))).k == 1000


def test_a_check_offers_the_sphere_to_a_mechanism_that_takes_nothing_else() -> None:
    mechanism = make("privunit", epsilon=2.0, domain=Ball(3.0, (4,), centre=1.0), lift=False)
    batch = torch.tensor([[9.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [0.0, 0.5, 1.0, 2.0]], dtype=torch.float64)
    nearest = mechanism.nearest_records(batch)
    assert torch.allclose((nearest - 1.0).norm(dim=1), torch.full((3,), 3.0, dtype=torch.float64))
    assert torch.equal(nearest[0], torch.tensor([4.0, 1.0, 1.0, 1.0], dtype=torch.float64))
    assert not privacy.check(mechanism, rounds=1, starts=2).refuted
    lifted = make("privunit", epsilon=2.0, domain=Ball(3.0, (4,)))
    assert torch.equal(lifted.nearest_records(batch[2:] / 3), batch[2:] / 3)
