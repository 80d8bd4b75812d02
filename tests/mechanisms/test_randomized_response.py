import itertools
import math

import pytest
import torch
from exact_laws import check_law, check_mean, releases
from typed import make_as

from tensorldp.mechanisms import Ball, Box, make, randomized_response
from tensorldp.mechanisms.randomized_response import KaryRandomizedResponse, RandomizedResponse
from tensorldp.randomness import generator


def k_rr(epsilon: float, low: int, high: int, size: int) -> KaryRandomizedResponse:
    return make_as(KaryRandomizedResponse, epsilon=epsilon, domain=Box(low, high, (size,)))


def test_grr_oracle() -> None:
    m = k_rr(1.0, 0, 9, 3)
    assert m.keep == pytest.approx(0.231969, abs=1e-6)
    assert math.exp(m.log_other) == pytest.approx(0.085337, abs=1e-6)
    assert k_rr(math.log(3), 0, 1, 3).keep == pytest.approx(0.75)
    assert make_as(KaryRandomizedResponse, epsilon=1, domain=Ball(2, (2,))).values == 5


def test_randomized_response_is_binary_k_rr() -> None:
    a, b = make_as(RandomizedResponse, epsilon=0.8, domain=Box(0, 1, (7,))), k_rr(0.8, 0, 1, 7)
    assert a.keep == pytest.approx(math.exp(0.8) / (1 + math.exp(0.8)))
    assert a.squared_error() == pytest.approx(7 * (1 - a.keep))
    x = torch.ones(5, 7)
    assert torch.equal(a.privatize(x, generator("rr")), b.privatize(x, generator("rr")))


@pytest.mark.parametrize(("epsilon", "low", "high"), [(0.5, 0, 9), (1.0, -3, 2), (6.0, 0, 9), (9.0, 0, 1)])
def test_law(epsilon: float, low: int, high: int) -> None:
    m = k_rr(epsilon, low, high, 1000)
    kept = low + 1 if high > low + 1 else low
    law = {float(v): m.keep if v == kept else math.exp(m.log_other) for v in range(low, high + 1)}
    check_law(releases(m, torch.tensor(kept), 200, epsilon, dtype=torch.float32), law)


@pytest.mark.parametrize("name", ["k-rr", "k-rr-secure"])
@pytest.mark.parametrize(("low", "high"), [(0, 2**53), (-(2**53), 2**53), (-(2**53), 2), (2**52, 2**53)])
def test_no_bit_of_a_release_tells_the_record_on_the_largest_alphabets(name: str, low: int, high: int) -> None:
    m = make(name, epsilon=1.0, domain=Box(low, high, (1,)))
    for record in (low, low + 1, (low + high) // 2, high - 1, high):
        y = releases(m, torch.tensor(float(record)), 20_000, record).long()
        assert low <= int(y.min())
        assert int(y.max()) <= high
        for bit in (0, 1, 7):
            check_mean((y >> bit) & 1, 0.5)
        check_mean((y > (low + high) // 2).double(), 0.5)


def test_a_rare_element_is_kept_with_its_own_coin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(randomized_response, "RARE", 1.0)
    test_law(0.5, 0, 9)


def test_profile_by_enumeration() -> None:
    m = k_rr(0.9, 0, 2, 2)
    q = math.exp(m.log_other)
    for epsilon in (0.0, 0.4, 1.0, 1.7):
        total = 0.0
        for y in itertools.product(range(3), repeat=2):
            p, other = (math.prod(m.keep if v == kept else q for v in y) for kept in (0, 2))
            total += max(0.0, p - math.exp(epsilon) * other)
        assert m.privacy_profile(epsilon) == pytest.approx(total, abs=1e-9)
