"""Where a record lives before it is perturbed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor

from tensorldp.errors import InputError, check_positive, check_real

TOLERANCE = 1e-5
DTYPES = (torch.float32, torch.float64, torch.bfloat16)  # of records; float16 ends at 65,504, which noise exceeds
NORM_BYTES = 8 << 20  # bytes of a batch whose norms are taken at once


def blocks(x: Tensor, size: int) -> Iterator[slice]:
    """Slices of a batch, of about `size` bytes each and one record at least."""
    step = max(1, size // max(1, x[:1].numel() * x.element_size()))
    return (slice(start, start + step) for start in range(0, x.shape[0], step))


def _shape(value: object) -> tuple[int, ...]:
    try:
        shape = tuple(int(n) for n in value)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise InputError(f"shape must be a sequence of whole numbers above 0, got {value!r}") from None
    if not shape or any(n < 1 for n in shape):
        raise InputError(f"shape must be a sequence of whole numbers above 0, got {value!r}")
    return shape


@dataclass(frozen=True)
class Box:
    """All tensors of `shape` with every element in [low, high]."""

    low: float
    high: float
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", check_real("Box low", self.low))
        object.__setattr__(self, "high", check_real("Box high", self.high))
        object.__setattr__(self, "shape", _shape(self.shape))
        if not self.low < self.high:
            raise InputError(f"a Box needs low < high, got low {self.low:g} and high {self.high:g}")
        check_real("width of a Box", self.high - self.low)

    @property
    def size(self) -> int:
        """I, the number of elements of a record."""
        return math.prod(self.shape)

    @property
    def width(self) -> float:
        """R, the largest change of one element."""
        return self.high - self.low

    @property
    def centre(self) -> float:
        """The middle of the range of an element."""
        return (self.low + self.high) / 2

    @property
    def diameter(self) -> float:
        """The largest l2 distance of two records."""
        return self.width * math.sqrt(self.size)

    def farthest(self) -> tuple[Tensor, Tensor]:
        """Two opposite corners, float64."""
        return self.constant(self.low), self.constant(self.high)

    def as_box(self) -> Box:
        """Itself."""
        return self

    def as_ball(self) -> Ball:
        """The ball through the corners, about the box's centre."""
        return Ball(self.width / 2 * math.sqrt(self.size), self.shape, centre=self.centre)

    def excess(self, x: Tensor) -> float:
        """How far the batch `x` reaches outside, as a share of the width; NaN if x has a NaN; <= 0 inside."""
        if x.numel() == 0:
            return 0.0
        low, high = (float(v) for v in torch.aminmax(x))
        return max(self.low - low, high - self.high) / self.width if low == low else math.nan

    def project(self, x: Tensor) -> Tensor:
        """The nearest batch inside."""
        return x.clamp(self.low, self.high)

    def constant(self, value: float, dtype: torch.dtype = torch.float64) -> Tensor:
        """The record whose every element is `value`."""
        return torch.full(self.shape, value, dtype=dtype)


@dataclass(frozen=True)
class Ball:
    """All tensors of `shape` within l2 distance `radius` of the tensor whose every element is `centre`."""

    radius: float
    shape: tuple[int, ...]
    centre: float = field(default=0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", check_positive("Ball radius", self.radius))
        object.__setattr__(self, "centre", check_real("Ball centre", self.centre))
        object.__setattr__(self, "shape", _shape(self.shape))

    @property
    def size(self) -> int:
        """I, the number of elements of a record."""
        return math.prod(self.shape)

    @property
    def diameter(self) -> float:
        """The largest l2 distance of two records."""
        return 2.0 * self.radius

    def farthest(self) -> tuple[Tensor, Tensor]:
        """Two opposite records along the diagonal, float64."""
        offset = self.radius / math.sqrt(self.size)
        return self.constant(self.centre - offset), self.constant(self.centre + offset)

    def as_box(self) -> Box:
        """The smallest box of equal sides around the ball."""
        return Box(self.centre - self.radius, self.centre + self.radius, self.shape)

    def as_ball(self) -> Ball:
        """Itself."""
        return self

    def _norms(self, x: Tensor) -> Tensor:
        norms = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
        for block in blocks(x, NORM_BYTES):
            norms[block] = torch.linalg.vector_norm((x[block] - self.centre).reshape(len(x[block]), -1), dim=1)
        if x.dtype == torch.float64 or bool(norms.isfinite().all()):
            return norms
        return self._norms(x.double())  # a norm of finite float32 elements may exceed float32

    def excess(self, x: Tensor) -> float:
        """How far the batch `x` reaches outside, as a share of the radius; NaN if x has a NaN; <= 0 inside."""
        return float(self._norms(x).max()) / self.radius - 1.0 if x.numel() else 0.0

    def project(self, x: Tensor) -> Tensor:
        """The nearest batch inside: l2 clipping about the centre."""
        factor = (self.radius / self._norms(x).clamp_min(1e-38)).clamp_max(1.0)
        return self.centre + (x - self.centre) * factor.reshape(-1, *(1,) * len(self.shape)).to(x.dtype)

    def constant(self, value: float, dtype: torch.dtype = torch.float64) -> Tensor:
        """The record whose every element is `value`."""
        return torch.full(self.shape, value, dtype=dtype)


Domain = Box | Ball
