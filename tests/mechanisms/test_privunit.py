import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from exact_laws import LAST, Extreme, check_law, check_mean, releases
from scipy.special import betainc
from scipy.stats import binomtest, norm
from typed import exact_error, make_as

from tensorldp import privacy
from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, make, privunit
from tensorldp.mechanisms.privunit import PrivUnit, ProjUnit, gaussian_cap, sphere_cap, sphere_log_tail
from tensorldp.randomness import generator, numpy_generator

MOMENTS: dict[int, dict[float, float]] = {  # d: epsilon: 1 / gamma^2 - 1
    2: {0.5: 39.1252, 1: 9.5218, 2: 2.1401, 4: 0.3556, 8: 0.0217},
    50: {1: 312.856, 4: 21.0559, 12: 3.0848},
    784: {0.5: 19727.92, 1: 4959.089, 2: 1266.170, 4: 340.574, 8: 103.638},
    100: {6: 20.7155},  # these three are below the published errors 26.89, 6476.4 and 191004.5
    1000: {1: 6326.378, 10: 93.545},
    500_000: {5: 145989.7},
    21840: {0.5: 549914.9, 1: 138244.4, 2: 35307.0, 4: 9506.7, 8: 2902.2},
}
NORMAL_CAPS = [  # epsilon, gamma, q, p, 1 / gamma^2
    (0.5, 0.199284, 0.421020, 0.545229, 25.179853),
    (2, 0.786480, 0.215793, 0.670323, 1.616681),
    (16, 4.561326, 2.54158e-6, 0.957600, 0.048064),
    (100, 13.509606, 6.86271e-42, 0.994609, 0.005479),
]


@pytest.mark.parametrize("d", MOMENTS)
def test_exact_error(d: int) -> None:
    for epsilon, expected in MOMENTS[d].items():
        assert 1 / sphere_cap(float(epsilon), d).gamma ** 2 - 1 == pytest.approx(expected, rel=2e-5, abs=6e-5)


@pytest.mark.parametrize(("epsilon", "g", "q", "p", "error"), NORMAL_CAPS)
def test_gaussian_table(epsilon: float, g: float, q: float, p: float, error: float) -> None:
    cap = gaussian_cap(float(epsilon))
    assert math.exp(cap.log_q) == pytest.approx(q, rel=1e-5)
    assert (cap.gamma, cap.p, 1 / cap.gamma**2) == pytest.approx((g, p, error), abs=1e-6)


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 5.0, 50.0, 700.0])
@pytest.mark.parametrize("d", [2, 3, 10, 785, 2_236_683])
def test_budget_and_optimum(epsilon: float, d: int) -> None:
    start = time.thread_time()
    cap = sphere_cap.__wrapped__(epsilon, d)
    assert time.thread_time() - start < 0.05
    # p (1-q) / (q (1-p)) = e^epsilon
    loss = cap.log_p + math.log1p(-math.exp(cap.log_q)) - cap.log_q - cap.log_miss
    assert loss == pytest.approx(epsilon, rel=1e-9)
    for tiny in (1e-12, 1e-6):  # two caps, and little or nothing between
        assert sphere_cap(tiny, d).curve().epsilon(0.0) == pytest.approx(tiny, rel=1e-3)
    log_beta = math.lgamma((d - 1) / 2) + math.lgamma(0.5) - math.lgamma(d / 2)

    def mean(g: float) -> float:
        """E u, recomputed from the law of u."""
        density = math.exp(-math.log(d - 1) + (d - 1) / 2 * math.log1p(-g * g) - log_beta)
        return density / (math.exp(sphere_log_tail(g, d)) + 1 / math.expm1(epsilon))

    if cap.complement > 1e-6 and epsilon < 60:  # m(g) = g, and no neighbour is better
        assert mean(cap.gamma) == pytest.approx(cap.gamma, rel=1e-6)
        assert mean(cap.gamma) >= max(mean(cap.gamma * 0.98), mean(min(cap.gamma * 1.02, 1 - 1e-9))) * (1 - 1e-7)


@pytest.mark.parametrize("d", [2, 785, 3073, 100_000, 1_000_000])
def test_stated_epsilon_is_that_of_the_coin_and_the_cap(d: int) -> None:
    for epsilon in np.geomspace(1e-8, 10.0, 37):
        cap = sphere_cap(float(epsilon), d)
        between = float(betainc(0.5, (d - 1) / 2, cap.gamma**2))  # 1 - 2q, which keeps its digits where q is near 1/2
        loss = cap.log_p - cap.log_miss + math.log1p(between) - math.log1p(-between)
        assert loss == pytest.approx(epsilon, rel=1e-6)


def test_continued_fraction_meets_the_incomplete_beta() -> None:
    for d, g in ((785, 0.88), (50, 0.9999), (20_000, 0.23)):
        direct = float(betainc((d - 1) / 2, 0.5, 1 - g * g)) / 2
        assert sphere_log_tail(g, d) == pytest.approx(math.log(direct), rel=1e-9)
    # half the cap at a little more: the log tail stays smooth where betainc underflows
    values = [sphere_log_tail(g, 785) for g in np.linspace(0.85, 0.99, 60)]
    assert np.all(np.diff(values) < 0)
    assert np.all(np.diff(values, 2) < 0)
    assert values[-1] < -1500


def cdf(cap: privunit.Cap, tail: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Of the height of a release, from the tail that the height of a uniform direction has."""
    q = math.exp(cap.log_q)
    return lambda v: cap.p * np.clip(1 - tail(v) / q, 0, 1) + (1 - cap.p) * np.minimum((1 - tail(v)) / (1 - q), 1.0)


@pytest.mark.parametrize("d", [2, 3, 785, 2_236_683])
@pytest.mark.parametrize("epsilon", [0.5, 9.0])
def test_height_law(d: int, epsilon: float) -> None:
    def tail(v: Any) -> Any:
        half = betainc((d - 1) / 2, 0.5, np.clip(1 - v * v, 0, 1)) / 2
        return np.where(v >= 0, half, 1 - half)

    cap = sphere_cap(epsilon, d)
    u, sine = privunit.sphere_height(50_000, cap, d, numpy_generator(generator("height", d, epsilon)))
    assert np.allclose(u**2 + sine**2, 1.0, atol=1e-9)
    check_law(u, cdf(cap, tail))


@pytest.mark.parametrize("epsilon", [0.5, 100.0])
def test_normal_height_law(epsilon: float) -> None:
    cap, rng = gaussian_cap(epsilon), numpy_generator(generator("normal height", epsilon))
    check_law(privunit.normal_height(50_000, cap, rng), cdf(cap, norm.sf))


@pytest.mark.parametrize("shape", [(1,), (2,), (3, 32, 32)])
def test_norm_and_mean(shape: tuple[int, ...]) -> None:
    m = make_as(PrivUnit, epsilon=4.0, domain=Ball(3.0, shape, centre=0.5))
    record = torch.randn(shape, generator=generator("v"), dtype=torch.float64) / (2 * math.sqrt(m.size))
    v = m.ball.project(0.5 + 3.0 * record.unsqueeze(0))[0]
    y = releases(m, v, 2000, shape) - 0.5
    # the released norm is R/m but for the dropped coordinate
    assert float(y.reshape(2000, -1).norm(dim=1).max()) <= 3.0 / m.cap.gamma * (1 + 1e-6)
    check_mean((y * (v - 0.5)).reshape(2000, -1).sum(dim=1), float((v - 0.5).square().sum()))


def test_unlifted_records_keep_the_norm_and_the_printed_error() -> None:
    m = make_as(PrivUnit, epsilon=4.0, domain=Ball(2.0, (784,)), lift=False)
    assert m.squared_error() / 4 == pytest.approx(340.574, rel=1e-5)
    v = torch.nn.functional.normalize(torch.randn(100, 784, generator=generator("unlifted")))
    y = m.privatize(2.0 * v, generator("y"))
    assert torch.allclose(y.norm(dim=1), torch.full((100,), 2.0 / m.cap.gamma), rtol=1e-5)
    with pytest.raises(InputError, match="lift"):
        m.privatize(v, generator("y"))


@pytest.mark.parametrize("name", ["privunit", "privunit-g"])
@pytest.mark.parametrize("norm_share", [0.0, 0.6])
def test_error_is_the_same_everywhere(name: str, norm_share: float) -> None:
    m = make(name, epsilon=3.0, domain=Ball(1.0, (12,)))
    x = norm_share * torch.eye(12, dtype=torch.float64)[3]
    check_mean((releases(m, x, 40_000, norm_share) - x).square().sum(dim=1), exact_error(m))


@pytest.mark.parametrize(("k", "expected"), [(64, 461), (256, 449), (1000, 445.8)])
def test_projected_error(k: int, expected: float) -> None:
    m = make_as(ProjUnit, epsilon=4.0, domain=Ball(1.0, (1024,)), k=k, lift=False)
    assert (m.k, make_as(ProjUnit, epsilon=1.0, domain=Ball(1.0, (300_000,))).k) == (k, 1000)
    v = torch.nn.functional.normalize(torch.randn(2000, 1024, generator=generator("proj")))
    y = m.privatize(v, generator("proj", k))
    assert float((y - v).square().sum(dim=1).mean()) == pytest.approx(expected, rel=0.01)
    along = (y * v).sum(dim=1)
    assert float(along.mean()) == pytest.approx(1.0, abs=0.01 + 5 * float(along.std()) / math.sqrt(2000))


def test_a_large_record() -> None:
    m = make_as(PrivUnit, epsilon=1.0, domain=Ball(1.0, (2_236_682,)))
    y = m.privatize(torch.zeros(1, 2_236_682), generator("large"))
    assert math.sqrt(m.squared_error() / m.size) == pytest.approx(2.52, rel=3e-3)
    assert float(y.double().square().sum()) == pytest.approx(m.squared_error(), rel=0.02)


@pytest.mark.slow
def test_a_check_offers_the_sphere_to_a_mechanism_that_takes_nothing_else() -> None:
    mechanism = make("privunit", epsilon=2.0, domain=Ball(3.0, (4,), centre=1.0), lift=False)
    batch = torch.tensor([[9.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [0.0, 0.5, 1.0, 2.0]], dtype=torch.float64)
    nearest = mechanism.nearest_records(batch)
    assert (nearest - 1.0).norm(dim=1).tolist() == pytest.approx([3.0] * 3)
    assert nearest[0].tolist() == [4.0, 1.0, 1.0, 1.0]
    assert not privacy.check(mechanism, rounds=1, starts=1, samples=2000).refuted
    lifted = make("privunit", epsilon=2.0, domain=Ball(3.0, (4,)))
    assert torch.equal(lifted.nearest_records(batch[2:] / 3), batch[2:] / 3)


@pytest.mark.parametrize("kind", ["sphere", "normal"])
def test_what_is_outside_the_cap_is_drawn_however_rare_it_is(kind: str) -> None:
    rows, draws = 4000, Extreme(LAST, 0.0)
    cap = sphere_cap(86.0, 2) if kind == "sphere" else privunit.Cap(60.0, 2.0, float(norm.logsf(2.0)))
    assert cap.p == 1.0
    sphere = kind == "sphere"
    u = privunit.sphere_height(rows, cap, 2, draws)[0] if sphere else privunit.normal_height(rows, cap, draws)
    outside = int((u < cap.gamma - 1e-9).sum())
    assert binomtest(outside, rows, math.exp(cap.log_miss + 80 * math.log(2.0))).pvalue > 1e-6
    assert 100 < outside < rows - 100
