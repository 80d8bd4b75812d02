import itertools
import math

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from typed import make_as

from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.sampled_coordinates import Duchi, cube_constant
from tensorldp.randomness import generator

CUBE = (-1, 1)


def law(m: Duchi, v: list[int] | np.ndarray | tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """p(u | v) over all corners u, by the definition: uniform on the half that agrees, or on the other."""
    d = m.size
    corners = np.array(list(itertools.product((-1, 1), repeat=d)))
    s = corners @ np.asarray(v)
    grown = math.exp(m.epsilon)
    if m.ties == "printed":
        up, down = s >= 0, s <= 0
        share = grown / (grown + 1)
        return corners, share * up / up.sum() + (1 - share) * down / down.sum()
    weight = np.where(s > 0, grown, 1.0)
    return corners, weight / weight.sum()


def test_constants() -> None:
    assert [cube_constant(d) for d in range(1, 6)] == pytest.approx([1, 3, 2, 3.666667, 2.666667], abs=1e-6)
    assert cube_constant(784) == pytest.approx(36.103988, abs=1e-6)
    assert cube_constant(2_236_683) == pytest.approx(math.sqrt(math.pi * 2_236_683 / 2), rel=1e-5)


@pytest.mark.parametrize(
    ("epsilon", "expected"), [(0.5, 21730), (1, 6103), (2, 2246), (4, 1402), (8, 1304), (16, 1302)]
)
def test_printed_error_on_the_cube(epsilon: float, expected: int) -> None:
    m = make_as(Duchi, epsilon=epsilon, domain=Box(-1, 1, (784,)), ties="printed")
    assert m.bound**2 - 1 == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("size", "epsilon", "expected"),
    [(784, 1, 78.1), (784, 10, 36.1), (1280, 1, 99.2), (3072, 1, 152.5), (2_236_682, 1, 4058), (2_236_682, 100, 1875)],
)
def test_printed_rms_of_section_7(size: int, epsilon: int, expected: float) -> None:
    m = make_as(Duchi, epsilon=epsilon, domain=Box(-1, 1, (size,)), ties="printed")
    assert m.bound == pytest.approx(expected, rel=1.5e-3)


@pytest.mark.parametrize("size", [1, 3, 5, 7])
def test_odd_sizes_agree_with_the_print(size: int) -> None:
    a, b = (make_as(Duchi, epsilon=1.1, domain=Box(-1, 1, (size,)), ties=t) for t in ("corrected", "printed"))
    assert a.bound == pytest.approx(b.bound, rel=1e-12)
    assert a.guarantee(0.0).epsilon == pytest.approx(1.1)


@pytest.mark.parametrize("size", [2, 4, 6])
def test_the_printed_form_is_not_epsilon_ldp_for_even_sizes(size: int) -> None:
    """As printed it should be exactly epsilon: enumeration gives ln(1 + e^epsilon)."""
    m = make_as(Duchi, epsilon=1.0, domain=Box(-1, 1, (size,)), ties="printed")
    first = law(m, np.ones(size))[1]
    worst = max(float(np.log(first / law(m, v)[1]).max()) for v in itertools.product((-1, 1), repeat=size))
    assert worst == pytest.approx(math.log(1 + math.e))
    assert m.guarantee(0.0).epsilon == pytest.approx(math.log(1 + math.e))
    opposite = float(np.abs(np.log(first / law(m, -np.ones(size))[1])).max())
    assert opposite == pytest.approx(1.0)  # which is why opposite corners alone look right


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_the_default_is_exactly_epsilon_and_unbiased(size: int, epsilon: float) -> None:
    m = make_as(Duchi, epsilon=epsilon, domain=Box(-1, 1, (size,)))
    corners, first = law(m, np.ones(size))
    pairs = [law(m, v)[1] for v in itertools.product((-1, 1), repeat=size)]
    assert max(float(np.log(first / p).max()) for p in pairs) == pytest.approx(epsilon)
    assert m.guarantee(0.0).epsilon == pytest.approx(epsilon)
    assert m.guarantee(0.0).exact
    assert m.bound * (first @ corners) == pytest.approx(np.ones(size))
    for e in (0.0, 0.5 * epsilon, 0.9 * epsilon):
        exact = max(float(np.maximum(0, first - math.exp(e) * p).sum()) for p in pairs)
        assert m.privacy_profile(e) == pytest.approx(exact, abs=1e-12)


def test_the_correction_costs_no_error() -> None:
    for epsilon in (0.5, 1.0, 8.0):
        a, b = (make_as(Duchi, epsilon=epsilon, domain=Box(-1, 1, (784,)), ties=t) for t in ("corrected", "printed"))
        assert a.bound < b.bound


@pytest.mark.parametrize("ties", ["corrected", "printed"])
@pytest.mark.parametrize("size", [3, 4])
def test_sampler(size: int, ties: str) -> None:
    m = make_as(Duchi, epsilon=0.8, domain=Box(2, 6, (size,)), ties=ties)
    x = torch.tensor([6.0, 2.0, 6.0, 2.0])[:size]
    p = law(m, [1, -1, 1, -1][:size])[1]
    y = m.privatize(x.expand(200_000, size).contiguous(), generator("duchi", size)).double()
    u = (y - 4) / (2 * m.bound)
    assert torch.allclose(u.abs(), torch.ones_like(u), atol=1e-5)
    index = ((u > 0).long() * torch.tensor([2**k for k in reversed(range(size))])).sum(dim=1)
    counts = torch.bincount(index, minlength=2**size).numpy()
    assert chisquare(counts, p * counts.sum()).pvalue > 1e-6


def test_unbiased_inside_the_box() -> None:
    m = make("duchi", epsilon=2.0, domain=Box(-1, 3, (4,)))
    x = torch.tensor([-1.0, 0.0, 1.7, 3.0], dtype=torch.float64)
    y = m.privatize(x.expand(200_000, 4).contiguous(), generator("mean"))
    assert bool(((y.mean(dim=0) - x).abs() < 5 * y.std(dim=0) / math.sqrt(200_000)).all())


@pytest.mark.parametrize("size", [3, 4])
def test_likelihood_by_enumeration(size: int) -> None:
    m = make_as(Duchi, epsilon=1.2, domain=Box(-1, 1, (size,)))
    x, x_prime = torch.tensor([0.3, -1.0, 0.9, 0.0])[:size], torch.tensor([1.0, 1.0, -0.2, 0.5])[:size]

    def masses(t: torch.Tensor) -> float:
        total = 0.0
        for v in itertools.product((-1, 1), repeat=size):
            total = total + np.prod((1 + np.array(v) * t.double().numpy()) / 2) * law(m, v)[1]
        return total

    corners = torch.tensor(law(m, np.ones(size))[0]) * m.bound
    expected = np.log(masses(x) / masses(x_prime))
    assert m.log_likelihood_ratio(corners, x, x_prime).numpy() == pytest.approx(expected, abs=1e-9)


def test_one_dimension_is_duchis_two_points() -> None:
    m = make("duchi", epsilon=1.0, domain=Box(-1, 1, (1,)))
    assert m.squared_error() == pytest.approx(4.682694, abs=1e-6)
