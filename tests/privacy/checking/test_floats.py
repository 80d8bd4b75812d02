"""What only floats give away is found in the format that gives it away, and not where the numbers are ideal."""

import pytest
import torch
from torch import Tensor

from tensorldp.check.check import check
from tensorldp.mechanisms import Box

UNIT = Box(-1.0, 1.0, (1,))


def noise(x: Tensor, g: torch.Generator) -> Tensor:
    """A two-sided geometric law with a loss below 1 over two steps, in whole numbers: floats give nothing away."""
    first, second = ((torch.empty_like(x).exponential_(generator=g) * 2.5).floor() for _ in range(2))
    return first - second


def honest(x: Tensor, g: torch.Generator) -> Tensor:
    return x.round() + noise(x, g) + 0.0  # -0 becomes 0


def saturated(x: Tensor, g: torch.Generator) -> Tensor:
    scaled = x * 3.6e38  # overflows in float32 and bfloat16
    return torch.where(torch.isfinite(scaled), honest(x, g), scaled)


def signed_zeros(x: Tensor, g: torch.Generator) -> Tensor:
    y = honest(x, g)
    return torch.where(y == 0.0, torch.copysign(y, x), y)


def denormals(x: Tensor, g: torch.Generator) -> Tensor:
    y = honest(x, g)
    return torch.where((x > 0) & (y == 0.0), torch.finfo(x.dtype).tiny / 4.0, y)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("release", [honest, saturated, signed_zeros, denormals])
def test_floats_in_each_format(release: object, dtype: torch.dtype) -> None:
    assert callable(release)
    found = check(
        release,
        domain=UNIT,
        claim_epsilon=1.0,
        floating_point=True,
        minutes=10.0,
        samples=1600,
        rounds=2,
        starts=1 if release is honest else None,
        dtypes=(dtype,),
        confidence=1 - 1e-6,
    )
    leaks = release in (signed_zeros, denormals) or (release is saturated and dtype != torch.float64)
    assert ("floating point" in {finding.kind for finding in found.findings}) == leaks
    assert found.refuted == leaks
