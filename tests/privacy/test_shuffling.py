import math

import numpy as np
import pytest
from scipy.stats import binom

from tensorldp.curves.shuffling import shuffled_delta, shuffled_epsilon
from tensorldp.errors import InputError


def enumerated(epsilon: float, local: float, records: int) -> float:
    """delta of the two mixtures from all their probabilities, in both directions: a second implementation."""
    keep = math.exp(local) / (math.exp(local) + 1)
    one, other = (np.zeros((records + 1, records + 1)) for _ in range(2))
    for c in range(records):
        for a in range(c + 1):
            mass = binom.pmf(c, records - 1, math.exp(-local)) * binom.pmf(a, c, 0.5)
            one[a + 1, c - a] += mass * keep
            one[a, c - a + 1] += mass * (1 - keep)
            other[a, c - a + 1] += mass * keep
            other[a + 1, c - a] += mass * (1 - keep)
    growth = math.exp(epsilon)
    return max(float(np.maximum(p - growth * q, 0).sum()) for p, q in ((one, other), (other, one)))


@pytest.mark.parametrize("records", [1, 2, 7, 60])
@pytest.mark.parametrize("local", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.7, 0.99])
def test_delta_is_that_of_all_probabilities(records: int, local: float, share: float) -> None:
    expected = enumerated(share * local, local, records)
    assert shuffled_delta(share * local, local, records) == pytest.approx(expected, rel=1e-9, abs=3e-15)


def test_delta_agrees_with_draws() -> None:
    """400,000 draws of the two counts: the mean of (1 - e^epsilon Q / P)+ under P; false alarms: 6e-7."""
    rng, local, records, epsilon, draws = np.random.default_rng(7), 1.0, 300, 0.1, 400_000
    clones = rng.binomial(records - 1, math.exp(-local), size=draws)
    a = rng.binomial(clones, 0.5)
    coin = rng.random(draws) < math.exp(local) / (math.exp(local) + 1)
    x, y, weight = a + coin, clones - a + 1 - coin, math.exp(local)
    density = (weight * x + y) / (x + weight * y)  # P / Q at the counts (x, y)
    sample = np.maximum(1 - math.exp(epsilon) / density, 0)
    assert abs(sample.mean() - shuffled_delta(epsilon, local, records)) < 5 * sample.std() / math.sqrt(draws)


def test_epsilon_inverts_delta_and_falls_with_records() -> None:
    few, many = (shuffled_epsilon(1.0, n, 1e-6) for n in (1_000, 60_000))
    assert many < few < 1.0
    assert shuffled_delta(many, 1.0, 60_000) <= 1e-6 < shuffled_delta(many * 0.99, 1.0, 60_000)
    assert shuffled_epsilon(1.0, 1, 1e-6) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("arguments", [(0.0, 10, 1e-6), (1.0, 0, 1e-6), (1.0, 10, 0.0), (1.0, 10, 1.0)])
def test_what_is_out_of_range_is_refused(arguments: tuple[float, int, float]) -> None:
    with pytest.raises(InputError):
        shuffled_epsilon(*arguments)
