import math

import numpy as np
import pytest
import torch
from exact_laws import check_law, check_mean, releases
from scipy.stats import laplace
from typed import make_as

from tensorldp.errors import InputError
from tensorldp.mechanisms import Box
from tensorldp.mechanisms.tldp import TldpDiscrete, two_sided_geometric
from tensorldp.randomness import generator

each_output = pytest.mark.parametrize("output", ["unbounded", "clamped"])


def best(epsilon: float, rho: float | str = "best") -> TldpDiscrete:
    return make_as(TldpDiscrete, epsilon=epsilon, domain=Box(0, 255, (1,)), rho=rho)


def pmf(m: TldpDiscrete, x: int, reach: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """The law of one element's output on a long window, by definition."""
    y = np.arange(-reach, m.top + reach + 1)
    q = math.exp(-m.rate)
    noise = (1 - q) / (1 + q) * q ** np.abs(y - x).astype(float)
    if m.output == "clamped":
        noise = np.array([noise[y <= 0].sum(), *noise[(y > 0) & (y < m.top)], noise[y >= m.top].sum()])
        y = np.arange(m.top + 1)
    return y, m.retention * (y == x) + (1 - m.retention) * noise


def largest_loss(first: np.ndarray, second: np.ndarray) -> float:
    seen = first > 1e-250  # farther out both underflow
    return float(np.log(first[seen] / second[seen]).max())


@pytest.mark.parametrize(
    ("epsilon", "rho", "p", "b", "rmse", "plain"),
    [(11, 0.716, 0.942, 81.7, 27.9, 32.8), (12, 0.746, 0.979, 83.8, 17.2, 30.0), (20, 0.85, 0.999993, 85.0, 0.32, 18)],
)
def test_best_retention(epsilon: int, rho: float, p: float, b: float, rmse: float, plain: float) -> None:
    m = best(epsilon)
    assert m.rho == pytest.approx(rho, abs=1e-3)
    assert float(best(10.57).rho) > 0.5  # retention starts to pay at 10.56
    assert m.retention == pytest.approx(p, rel=1e-3)
    assert 1 / m.rate == pytest.approx(b, rel=2e-3)
    assert math.sqrt(m.squared_error()) == pytest.approx(rmse, rel=5e-3)
    assert math.sqrt(best(epsilon, 0.0).squared_error()) == pytest.approx(plain, rel=2e-3)


@pytest.mark.parametrize(
    ("epsilon", "b", "rmse"),
    [(1 / 784, 2.0e5, 2.83e5), (1, 255, 360.6), (10, 25.5, 36.1), (10.55, 24.17, 34.18)],
)
def test_retention_buys_nothing_at_small_budgets(epsilon: float, b: float, rmse: float) -> None:
    m = best(epsilon)
    assert (m.rho, m.retention) == (0.0, 0.0)
    assert 1 / m.rate == pytest.approx(b, rel=2e-3)
    assert math.sqrt(m.squared_error()) == pytest.approx(rmse, rel=2e-3)


@pytest.mark.parametrize(
    ("epsilon", "low", "high", "rho"),
    [
        (1, 0, 2**52, 0.0),
        (1e-4, 0, 2**40, 0.0),
        (1e-9, 0, 2**20, 0.0),
        (1e12, 0, 2**53, 0.0),
        (1, 2**53 - 255, 2**53, 0.0),
        (1, -(2**53), 255 - 2**53, 0.0),
        (1, 0, 255, 1 - 1e-12),
    ],
)
def test_noise_that_float64_cannot_add_exactly_is_refused(epsilon: float, low: int, high: int, rho: float) -> None:
    with pytest.raises(InputError, match=r"room for 64 scales of noise between its whole numbers and 2\^53, got"):
        make_as(TldpDiscrete, epsilon=epsilon, domain=Box(low, high, (1,)), rho=rho)


@pytest.mark.parametrize(
    ("epsilon", "low", "high"), [(1, 0, 2**46), (64, 2**52, 2**52 + 2**50), (1e-6, -100, 100), (1e-12, 0, 100)]
)
def test_where_noise_is_largest_no_low_bit_tells_the_record(epsilon: float, low: int, high: int) -> None:
    m = make_as(TldpDiscrete, epsilon=epsilon, domain=Box(low, high, (1,)))
    for record in (low, low + 1, high - 1, high):
        y = releases(m, torch.tensor(float(record)), 20_000, record).long()
        for bit in (0, 1, 7):
            check_mean((y >> bit) & 1, 0.5)


@each_output
@pytest.mark.parametrize("top", [1, 2, 6])
@pytest.mark.parametrize("rho", [0.0, 0.3, 0.8])
def test_budget_profile_and_error_by_brute_force(top: int, rho: float, output: str) -> None:
    """The largest log ratio over all x, x', y is the nominal epsilon of one element."""
    m = make_as(TldpDiscrete, epsilon=1.7, domain=Box(0, top, (1,)), rho=rho, output=output)
    laws = [pmf(m, x) for x in range(top + 1)]
    masses = [mass for _, mass in laws]
    assert max(largest_loss(a, b) for a in masses for b in masses) == pytest.approx(1.7, rel=1e-9)
    assert largest_loss(*(masses[int(record)] for record in m.worst_pair())) == pytest.approx(1.7, rel=1e-9)
    assert m.guarantee(0.0).epsilon == pytest.approx(1.7)
    for epsilon in (0.0, 0.3, 0.8, 1.6) if output == "unbounded" else ():
        exact = max(float(np.maximum(0, a - math.exp(epsilon) * b).sum()) for a in masses for b in masses)
        assert m.privacy_profile(epsilon) == pytest.approx(exact, abs=1e-10)
    errors = [float((mass * (y - x) ** 2).sum()) for x, (y, mass) in enumerate(laws)]
    assert m.squared_error() == pytest.approx(max(errors), rel=1e-9)
    assert errors[int(m.worst_input()[0])] == pytest.approx(max(errors))


@pytest.mark.parametrize("rate", [0.05, 0.7, 3.0])
def test_two_sided_geometric(rate: float) -> None:
    law = {float(k): math.tanh(rate / 2) * math.exp(-rate * abs(k)) for k in range(-600, 601)}
    check_law(two_sided_geometric((100_000,), rate, generator("geometric", rate)), law)


@pytest.mark.parametrize("rate", [1e-8, 1e-12])
def test_noise_of_a_tiny_rate_follows_laplace(rate: float) -> None:
    check_law(two_sided_geometric((20_000,), rate, generator("tiny", rate)) * rate, laplace.cdf)


@each_output
def test_sampler_and_likelihood(output: str) -> None:
    m = make_as(TldpDiscrete, epsilon=3.0, domain=Box(5, 9, (1,)), rho=0.4, output=output)
    (y, first), (_, second) = pmf(m, 1), pmf(m, 3)
    drawn = releases(m, torch.tensor([6.0]), 100_000, output, dtype=torch.float32)
    check_law(drawn - 5, dict(zip(y, first, strict=True)))
    seen = first > 1e-250
    outputs = torch.tensor(5 + y[seen], dtype=torch.float64).unsqueeze(1)
    ratio = m.log_likelihood_ratio(outputs, torch.tensor([6.0]), torch.tensor([8.0]))
    assert ratio.numpy() == pytest.approx(np.log(first[seen] / second[seen]), abs=1e-9)
