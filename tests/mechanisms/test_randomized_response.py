import itertools
import math

import pytest
import torch
from scipy.stats import chisquare
from typed import make_as

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Box, make
from tensorldp.mechanisms.randomized_response import KaryRandomizedResponse, RandomizedResponse
from tensorldp.randomness import generator


def test_grr_oracle() -> None:
    m = make_as(KaryRandomizedResponse, epsilon=1.0, domain=Box(0, 9, (3,)))
    assert m.keep == pytest.approx(0.231969, abs=1e-6)
    assert math.exp(m.log_other) == pytest.approx(0.085337, abs=1e-6)
    assert make_as(KaryRandomizedResponse, epsilon=math.log(3), domain=Box(0, 1, (3,))).keep == pytest.approx(0.75)


def test_randomized_response_is_binary_k_rr() -> None:
    a = make_as(RandomizedResponse, epsilon=0.8, domain=Box(0, 1, (7,)))
    b = make("k-rr", epsilon=0.8, domain=Box(0, 1, (7,)))
    assert a.keep == pytest.approx(math.exp(0.8) / (1 + math.exp(0.8)))
    assert a.squared_error() == pytest.approx(7 * (1 - a.keep))
    x = torch.ones(5, 7)
    assert torch.equal(a.privatize(x, generator("rr")), b.privatize(x, generator("rr")))


@pytest.mark.parametrize(("epsilon", "low", "high"), [(0.5, 0, 9), (1.0, -3, 2), (6.0, 0, 9), (9.0, 0, 1)])
def test_law(epsilon: float, low: int, high: int) -> None:
    m = make_as(KaryRandomizedResponse, epsilon=epsilon, domain=Box(low, high, (1000,)))
    x = torch.full((400, 1000), float(low + 1 if high > low + 1 else low))
    y = m.privatize(x, generator("law", epsilon))
    counts = torch.bincount((y - low).long().flatten(), minlength=m.values).double()
    expected = torch.full((m.values,), math.exp(m.log_other), dtype=torch.float64)
    expected[int(x[0, 0]) - low] = m.keep
    assert chisquare(counts.numpy(), (expected * y.numel()).numpy()).pvalue > 1e-6


@pytest.mark.parametrize(("name", "size", "epsilon"), [("randomized-response", 784, 0.3), ("k-rr", 5, 2.0)])
def test_guarantee_of_the_record(name: str, size: int, epsilon: float) -> None:
    m = make(name, epsilon=epsilon, domain=Box(0, 1 if name == "randomized-response" else 6, (size,)))
    assert m.guarantee(0.0).epsilon == pytest.approx(size * epsilon)
    assert m.guarantee(0.0).exact


def test_profile_by_enumeration() -> None:
    m = make_as(KaryRandomizedResponse, epsilon=0.9, domain=Box(0, 2, (2,)))
    q = math.exp(m.log_other)
    for epsilon in (0.0, 0.4, 1.0, 1.7):
        total = 0.0
        for y in itertools.product(range(3), repeat=2):
            p = math.prod(m.keep if v == 0 else q for v in y)
            other = math.prod(m.keep if v == 2 else q for v in y)
            total += max(0.0, p - math.exp(epsilon) * other)
        assert m.privacy_profile(epsilon) == pytest.approx(total, abs=1e-9)


def test_domains_are_checked() -> None:
    with pytest.raises(InputError, match="whole numbers"):
        make("k-rr", epsilon=1, domain=Box(0, 1.5, (2,)))
    with pytest.raises(InputError, match="k-rr takes more"):
        make("randomized-response", epsilon=1, domain=Box(0, 2, (2,)))
    assert make_as(KaryRandomizedResponse, epsilon=1, domain=Ball(2, (2,))).values == 5
