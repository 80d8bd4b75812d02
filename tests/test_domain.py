"""Domains in the arithmetic that runs: who is inside, and where clipping leads."""

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


@each_dtype
@pytest.mark.parametrize("centre", [0.0, 0.3, -2.0])
@pytest.mark.parametrize("size", [1, 2, 784])
def test_no_record_clipped_to_a_ball_is_outside(dtype: torch.dtype, centre: float, size: int) -> None:
    far = torch.cat([5.0 * normal(300, size) + centre, torch.tensor([[9.1], [-3.7]]).expand(2, size)]).to(dtype)
    for radius in (0.1, 1.0, 2.0 / 3.0):
        ball = Ball(radius, (size,), centre=centre)
        inside = ball.project(far)
        assert inside.dtype == dtype
        assert ball.excess(inside) <= 0.0
        slack = 1 + Fraction(1, 10**14)  # of a norm in float64
        for record in inside[-2:]:
            assert exact_norm_squared(record, centre) <= (Fraction(radius) * slack) ** 2
        assert torch.equal(ball.project(inside), inside)
        # and no farther in than rounding takes it
        grain = torch.finfo(dtype).eps * (radius + abs(centre) * math.sqrt(size))
        assert (ball._norms(inside)[ball._norms(far) > radius] > radius - 2.0 * grain - 1e-13).all()


@each_dtype
def test_what_is_inside_stays_as_it_is_to_the_last_bit(dtype: torch.dtype) -> None:
    x = (0.3 + 0.01 * normal(50, 9)).to(dtype)
    x[::2] += 7.0
    x[1, 0] = -0.0
    for domain in (Ball(1.0, (9,), centre=0.3), Box(-0.5, 1.3, (9,))):
        found = domain.project(x)
        assert torch.equal(found[1::2], x[1::2])
        assert torch.equal(found[1::2].signbit(), x[1::2].signbit())
        assert not torch.equal(found[::2], x[::2])
        assert found.data_ptr() != x.data_ptr()


@each_dtype
@pytest.mark.parametrize(("low", "high"), [(0.1, 0.2), (-0.7, 0.05), (-1 / 3, 1 / 3), (1e-8, 1e8), (0.0, 1.0)])
def test_no_element_clipped_to_a_box_is_outside(dtype: torch.dtype, low: float, high: float) -> None:
    inside = Box(low, high, (50,)).project((1e9 * normal(4, 50)).to(dtype))
    assert Box(low, high, (50,)).excess(inside) <= 0.0
    eps, least, most = torch.finfo(dtype).eps, float(inside.min()), float(inside.max())
    assert low <= least <= low + eps * abs(low)
    assert high - eps * abs(high) <= most <= high


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


def test_strides_make_no_difference_to_clipping() -> None:
    x = 3.0 * normal(6, 40, 5).float()
    for domain in (Ball(1.0, (40, 5), centre=0.1), Box(-0.1, 0.7, (40, 5))):
        for other in (x.transpose(1, 2).contiguous().transpose(1, 2), torch.stack([x, x], dim=-1)[..., 0]):
            assert torch.equal(domain.project(other), domain.project(x))
            assert domain.excess(other) == domain.excess(x)
