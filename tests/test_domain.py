"""Domains in the arithmetic that runs: who is inside, and where clipping leads."""

import itertools
import math
from fractions import Fraction

import pytest
import torch

from tensorldp.domain import Ball, Box, Domain
from tensorldp.errors import InputError
from tensorldp.mechanisms import make
from tensorldp.randomness import generator

each_dtype = pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=generator("domain"), dtype=torch.float64)


def exact_norm_squared(record: torch.Tensor, centre: float) -> Fraction:
    return sum(((Fraction(v) - Fraction(centre)) ** 2 for v in record.double().flatten().tolist()), Fraction(0))


@pytest.mark.parametrize("count", [10**5, 4 * 10**6])
def test_a_long_record_on_the_sphere_is_inside_and_one_outside_is_not(count: int) -> None:
    record, radius = torch.full((1, count), 0.1), 0.1 * math.sqrt(count)
    ball = Ball(radius, (count,))
    assert abs(ball.excess(record)) < 1e-7
    assert Ball(0.99 * radius, (count,)).excess(record) == pytest.approx(1 / 0.99 - 1, rel=1e-4)
    assert make("gaussian-analytic", epsilon=1, domain=ball).privatize(record, generator()).isfinite().all()


BALLS = [Ball(r, (n,), centre=c) for r, n, c in itertools.product((0.1, 2.0 / 3.0), (1, 2, 784), (0.0, 0.3, -2.0))]
RANGES = ((0.1, 0.2), (-0.7, 0.05), (-1 / 3, 1 / 3), (1e-8, 1e8), (0.0, 1.0))


@each_dtype
@pytest.mark.parametrize("domain", [*BALLS, *(Box(low, high, (50,)) for low, high in RANGES)], ids=str)
def test_clipped_records_are_inside_and_what_was_inside_stays_as_it_is_to_the_last_bit(
    domain: Domain, dtype: torch.dtype
) -> None:
    box, size = domain.as_box(), domain.shape[0]
    x = (box.centre + 1e-3 * box.width * normal(100, size) / math.sqrt(size)).to(dtype)
    x[::2] = (x[::2].double() + 5.0 * box.width * normal(50, size).sign()).to(dtype)  # far outside
    x[1] = -0.0 if domain.excess(torch.zeros(1, size)) <= 0.0 else x[3]
    found = domain.project(x)
    assert found.dtype == dtype
    assert domain.excess(found) <= 0.0
    assert torch.equal(domain.project(found), found)
    assert torch.equal(found[1::2], x[1::2])
    assert torch.equal(found[1::2].signbit(), x[1::2].signbit())
    assert found.data_ptr() != x.data_ptr()
    for other in (x.T.contiguous().T, torch.stack([x, x], dim=-1)[..., 0]):  # strides make no difference
        assert torch.equal(domain.project(other), found)
        assert domain.excess(other) == domain.excess(x) > 0.0
    # exactly inside, and no farther in than rounding takes it
    eps = torch.finfo(dtype).eps
    if isinstance(domain, Ball):
        norms = [math.sqrt(exact_norm_squared(record, domain.centre)) for record in found[:8:2]]
        assert max(norms) <= domain.radius * (1 + 1e-14)
        assert min(norms) > domain.radius - 2.0 * eps * (domain.radius + abs(domain.centre) * math.sqrt(size)) - 1e-13
    else:
        least, most = float(found.min()), float(found.max())
        assert box.low <= least <= box.low + eps * abs(box.low)
        assert box.high - eps * abs(box.high) <= most <= box.high


@pytest.mark.parametrize(
    ("domain", "coarse"),
    [
        (Box(0.1 + 1e-12, 0.1 + 2e-12, (2,)), torch.float32),
        (Ball(1e-9, (2,), centre=1.00000001), torch.float32),
        (Box(1 + 1e-5, 1 + 2e-5, (2,)), torch.bfloat16),
    ],
)
def test_a_domain_without_a_record_of_that_precision_is_refused(domain: Domain, coarse: torch.dtype) -> None:
    with pytest.raises(InputError, match=f"{coarse} lies in .* give the records as float64"):
        domain.project(torch.full((3, 2), 5.0, dtype=coarse))
    assert domain.excess(domain.project(torch.full((3, 2), 5.0, dtype=torch.float64))) <= 0.0


@pytest.mark.parametrize("size", [1e-200, 1e160, 1e200, 1e308])
def test_records_whose_squares_leave_float64_are_told_from_those_inside(size: float) -> None:
    x, ball = torch.full((2, 3), size, dtype=torch.float64), Ball(1.0, (3,))
    assert (ball.excess(x) > 0.0) == (size > 1.0)
    assert ball.excess(ball.project(x)) <= 0.0
    if 1.0 < size < 1e308:
        assert torch.allclose(ball.project(x), torch.full_like(x, 3**-0.5))
        with pytest.raises(InputError, match="outside its domain"):
            make("gaussian-analytic", epsilon=1, domain=ball).privatize(x, generator())


@each_dtype
def test_a_record_that_only_its_own_rounding_leads_outside_is_taken_and_clipped(dtype: torch.dtype) -> None:
    x = torch.full((2, 100), 0.1, dtype=torch.float64).to(dtype)
    for domain in (Box(0, 0.1, (100,)), Ball(1.0, (100,))):
        assert domain.excess(make("none", epsilon=math.inf, domain=domain).privatize(x, generator())) <= 0.0
