import math

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from typed import make_as

from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.tldp import TldpDiscrete, two_sided_geometric
from tensorldp.randomness import generator

BYTES = Box(0, 255, (1,))


def pmf(m: TldpDiscrete, x: int, reach: int = 4000) -> tuple[np.ndarray, ...]:
    """The law of one element's output on a long window, by definition."""
    y = np.arange(-reach, m.top + reach + 1)
    q = math.exp(-m.rate)
    noise = (1 - q) / (1 + q) * q ** np.abs(y - x).astype(float)
    if m.output == "clamped":
        noise = np.array([noise[y <= 0].sum(), *noise[(y > 0) & (y < m.top)], noise[y >= m.top].sum()])
        y = np.arange(m.top + 1)
    return y, m.retention * (y == x) + (1 - m.retention) * noise


@pytest.mark.parametrize(
    ("epsilon", "rho", "p", "b", "best", "plain"),
    [
        (11, 0.716, 0.942, 81.7, 27.9, 32.8),
        (12, 0.746, 0.979, 83.8, 17.2, 30.0),
        (16, 0.812, 0.9996, 85.0, 2.36, 22.5),
        (20, 0.850, 0.999993, 85.0, 0.32, 18.0),
    ],
)
def test_best_retention(epsilon: int, rho: float, p: float, b: float, best: float, plain: float) -> None:
    m = make_as(TldpDiscrete, epsilon=epsilon, domain=BYTES, rho="best")
    assert m.rho == pytest.approx(rho, abs=1e-3)
    assert m.retention == pytest.approx(p, rel=1e-3)
    assert 1 / m.rate == pytest.approx(b, rel=2e-3)
    assert math.sqrt(m.squared_error()) == pytest.approx(best, rel=5e-3)
    zero = make_as(TldpDiscrete, epsilon=epsilon, domain=BYTES)
    assert math.sqrt(zero.squared_error()) == pytest.approx(plain, rel=2e-3)


@pytest.mark.parametrize(
    ("epsilon", "b", "rmse"),
    [(1 / 784, 2.0e5, 2.83e5), (0.1, 2550, 3606), (1, 255, 360.6), (5, 51, 72.1), (10, 25.5, 36.1)],
)
def test_retention_buys_nothing_at_small_budgets(epsilon: float, b: float, rmse: float) -> None:
    m = make_as(TldpDiscrete, epsilon=epsilon, domain=BYTES, rho="best")
    assert m.rho == 0.0
    assert m.retention == 0.0
    assert 1 / m.rate == pytest.approx(b, rel=2e-3)
    assert math.sqrt(m.squared_error()) == pytest.approx(rmse, rel=2e-3)


def test_retention_starts_to_pay_at_10_56() -> None:
    rhos = [make_as(TldpDiscrete, epsilon=e, domain=BYTES, rho="best").rho for e in (10.55, 10.57)]
    assert rhos[0] == 0.0
    assert float(rhos[1]) > 0.5


@pytest.mark.parametrize("top", [1, 2, 5])
@pytest.mark.parametrize("rho", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("output", ["unbounded", "clamped"])
def test_budget_by_brute_force(top: int, rho: float, output: str) -> None:
    """The largest log ratio over all x, x', y is the nominal epsilon of one element."""
    m = make_as(TldpDiscrete, epsilon=1.7, domain=Box(0, top, (1,)), rho=rho, output=output)
    laws = [pmf(m, x, reach=60)[1] for x in range(top + 1)]
    worst = max(float(np.log(a / b).max()) for a in laws for b in laws)
    assert worst == pytest.approx(1.7, rel=1e-9)
    assert m.guarantee(0.0).epsilon == pytest.approx(1.7)
    first, second = (int(v) for v in m.worst_pair())
    assert float(np.log(laws[first] / laws[second]).max()) == pytest.approx(1.7, rel=1e-9)


@pytest.mark.parametrize("rho", [0.0, 0.4])
def test_profile_by_brute_force(rho: float) -> None:
    m = make_as(TldpDiscrete, epsilon=1.2, domain=Box(0, 6, (1,)), rho=rho)
    laws = [pmf(m, x, reach=300)[1] for x in range(7)]
    for epsilon in (0.0, 0.3, 0.8, 1.1):
        exact = max(float(np.maximum(0, a - math.exp(epsilon) * b).sum()) for a in laws for b in laws)
        assert m.privacy_profile(epsilon) == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("output", ["unbounded", "clamped"])
@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_error_by_brute_force(output: str, rho: float) -> None:
    m = make_as(TldpDiscrete, epsilon=2.0, domain=Box(0, 9, (3,)), rho=rho, output=output)
    errors = [float((law * (y - x) ** 2).sum()) for x in range(10) for y, law in [pmf(m, x)]]
    assert m.squared_error() == pytest.approx(3 * max(errors), rel=1e-9)
    assert errors[int(m.worst_input()[0])] == pytest.approx(max(errors))


def test_record_guarantee() -> None:
    m = make_as(TldpDiscrete, epsilon=0.5, domain=Box(0, 9, (28, 28)))
    assert m.guarantee(0.0).epsilon == pytest.approx(392.0)
    assert m.squared_error() == pytest.approx(784 / (2 * math.sinh(m.rate / 2) ** 2))


@pytest.mark.parametrize("rate", [0.05, 0.7, 3.0])
def test_two_sided_geometric(rate: float) -> None:
    z = two_sided_geometric((300_000,), rate, generator("geometric", rate)).numpy()
    assert (z == np.round(z)).all()
    k = np.arange(-400, 401)
    mass = math.tanh(rate / 2) * np.exp(-rate * np.abs(k))
    keep = mass * len(z) >= 10
    counts = np.array([(z == v).sum() for v in k[keep]])
    observed, expected = np.append(counts, len(z) - counts.sum()), np.append(mass[keep], 1 - mass[keep].sum()) * len(z)
    assert chisquare(observed, expected).pvalue > 1e-6


@pytest.mark.parametrize("output", ["unbounded", "clamped"])
def test_sampler(output: str) -> None:
    m = make_as(TldpDiscrete, epsilon=3.0, domain=Box(5, 9, (1000,)), rho=0.4, output=output)
    y = m.privatize(torch.full((200, 1000), 6.0), generator("discrete", output)).numpy().ravel() - 5
    support, mass = pmf(m, 1)
    keep = mass * y.size >= 10
    counts = np.array([(y == v).sum() for v in support[keep]])
    rest = y.size - counts.sum()
    observed, expected = np.append(counts, rest), np.append(mass[keep], max(1 - mass[keep].sum(), 0)) * y.size
    used = expected > 0.5
    assert chisquare(observed[used], expected[used] / expected[used].sum() * observed[used].sum()).pvalue > 1e-6
    assert rest == 0 or output == "unbounded"


@pytest.mark.parametrize("output", ["unbounded", "clamped"])
def test_likelihood(output: str) -> None:
    m = make_as(TldpDiscrete, epsilon=1.5, domain=Box(0, 4, (1,)), rho=0.3, output=output)
    y, first = pmf(m, 1, reach=10)
    second = pmf(m, 3, reach=10)[1]
    outputs = torch.tensor(y, dtype=torch.float64).unsqueeze(1)
    ratio = m.log_likelihood_ratio(outputs, torch.tensor([1.0]), torch.tensor([3.0]))
    assert ratio.numpy() == pytest.approx(np.log(first / second), abs=1e-9)


def test_options_are_checked() -> None:
    for options in ({"rho": 1.0}, {"rho": "worst"}, {"rho": -0.1}, {"output": "truncated"}):
        with pytest.raises(InputError):
            make("tldp-discrete", epsilon=1.0, domain=BYTES, **options)
    with pytest.raises(InputError, match="whole numbers"):
        make("tldp-discrete", epsilon=1.0, domain=Box(0, 0.5, (1,)))


def test_a_million_elements_have_the_gaussian_limit() -> None:
    """At epsilon 1e-6 each element's loss is 1e-6 or -1e-6: their sum is nearly normal, with mu = 1e-3."""
    found = make("tldp-discrete", epsilon=1e-6, domain=Box(0, 255, (1_000_000,))).guarantee(1e-5)
    assert found.exact
    assert found.epsilon == pytest.approx(GaussianCurve(1e-3).epsilon(1e-5), rel=1e-3)
