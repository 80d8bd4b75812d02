"""Where a record lives before it is perturbed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import torch
from torch import Tensor

from tensorldp.errors import InputError, check_real

EDGE_TOLERANCE = 1e-5  # of a domain's size: what reaches no farther outside may do so by its own rounding
DTYPES = (torch.float32, torch.float64, torch.bfloat16)  # of records; float16 ends at 65,504, which noise exceeds
NORM_BYTES = 1 << 20  # bytes of a batch whose norms are taken at once: twice or four times as many in float64
FARTHEST, NARROWEST = 1e30, 1e-30  # of domains: squares and products of values derived from them stay floats


def blocks(x: Tensor, size: int) -> Iterator[slice]:
    """Cuts a batch into slices of about `size` bytes each and one record at least."""
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


@lru_cache(maxsize=256)  # many small batches are projected to few boxes
def _inwards(end: float, towards: float, dtype: torch.dtype) -> float:
    """Returns the number of `dtype` nearest to the end of a box and not outside; `towards` is the sign of inwards."""
    near = torch.tensor(end, dtype=torch.float64).to(dtype)
    if (float(near) - end) * towards < 0.0:
        near = torch.nextafter(near, near.new_tensor(math.copysign(math.inf, towards)))
    return float(near)


class _Records:
    """What boxes and balls of records share."""

    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Returns I, the number of elements of a record."""
        return math.prod(self.shape)

    def constant(self, value: float, dtype: torch.dtype = torch.float64) -> Tensor:
        """Returns the record whose every element is `value`."""
        return torch.full(self.shape, value, dtype=dtype)


@dataclass(frozen=True)
class Box(_Records):
    """All tensors of `shape` with every element in [low, high].

    Raises:
        InputError: if an end is beyond 1e30 in size, or the width is below 1e-30.
    """

    low: float
    high: float
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", check_real("Box low", self.low, low=-FARTHEST, high=FARTHEST))
        object.__setattr__(self, "high", check_real("Box high", self.high, low=-FARTHEST, high=FARTHEST))
        object.__setattr__(self, "shape", _shape(self.shape))
        if not self.low < self.high:
            raise InputError(f"a Box needs low < high, got low {self.low:g} and high {self.high:g}")
        check_real("width of a Box", self.high - self.low, low=NARROWEST, high=2.0 * FARTHEST)

    @property
    def width(self) -> float:
        """Returns R, the largest change of one element."""
        return self.high - self.low

    @property
    def centre(self) -> float:
        """Returns the middle of the range of an element."""
        return (self.low + self.high) / 2

    @property
    def diameter(self) -> float:
        """Returns the largest l2 distance of two records."""
        return self.width * math.sqrt(self.size)

    def farthest(self) -> tuple[Tensor, Tensor]:
        """Returns two opposite corners, float64."""
        return self.constant(self.low), self.constant(self.high)

    def as_box(self) -> Box:
        """Returns itself."""
        return self

    def as_ball(self) -> Ball:
        """Returns the ball through the corners, about the box's centre."""
        return Ball(self.width / 2 * math.sqrt(self.size), self.shape, centre=self.centre)

    def excess(self, x: Tensor) -> float:
        """Computes how far the batch `x` reaches outside, as a share of the width; NaN if x has a NaN; <= 0 inside."""
        if x.numel() == 0:
            return 0.0
        low, high = (float(v) for v in torch.aminmax(x))
        return max(self.low - low, high - self.high) / self.width if low == low else math.nan

    def project(self, x: Tensor) -> Tensor:
        """Returns the nearest batch inside; what is inside stays as it is."""
        return x.clamp(*self.ends(x.dtype))

    def ends(self, dtype: torch.dtype) -> tuple[float, float]:
        """Returns the least and the largest number of a precision that is inside."""
        low, high = (_inwards(end, towards, dtype) for end, towards in ((self.low, 1.0), (self.high, -1.0)))
        if low > high:
            raise InputError(f"no number of {dtype} lies in {self}: give the records as float64")
        return low, high


@dataclass(frozen=True)
class Ball(_Records):
    """All tensors of `shape` within l2 distance `radius` of the tensor whose every element is `centre`.

    Raises:
        InputError: if the radius is outside [1e-30, 1e30] or the centre beyond 1e30 in size.
    """

    radius: float
    shape: tuple[int, ...]
    centre: float = field(default=0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", check_real("Ball radius", self.radius, low=NARROWEST, high=FARTHEST))
        object.__setattr__(self, "centre", check_real("Ball centre", self.centre, low=-FARTHEST, high=FARTHEST))
        object.__setattr__(self, "shape", _shape(self.shape))

    @property
    def diameter(self) -> float:
        """Returns the largest l2 distance of two records."""
        return 2.0 * self.radius

    def farthest(self) -> tuple[Tensor, Tensor]:
        """Returns two opposite records along the diagonal, float64."""
        offset = self.radius / math.sqrt(self.size)
        return self.constant(self.centre - offset), self.constant(self.centre + offset)

    def as_box(self) -> Box:
        """Returns the smallest box of equal sides around the ball."""
        return Box(self.centre - self.radius, self.centre + self.radius, self.shape)

    def as_ball(self) -> Ball:
        """Returns itself."""
        return self

    def _away(self, x: Tensor) -> Tensor:
        """Returns rows in float64, about the centre."""
        away = x.flatten(1).double().contiguous()
        return away - self.centre if self.centre else away

    def _norms(self, x: Tensor) -> Tensor:
        """Computes the l2 distances from the centre, float64 whatever the precision of `x`."""
        norms = torch.empty(x.shape[0], dtype=torch.float64, device=x.device)
        for block in blocks(x, NORM_BYTES):
            away = self._away(x[block])
            norm = torch.linalg.vector_norm(away, dim=1)
            if not bool(norm.isfinite().all()):  # squares may leave float64 where the norm does not
                top = away.abs().amax(dim=1, keepdim=True).clamp_min(1.0)
                norm = top.squeeze(1) * torch.linalg.vector_norm(away / top, dim=1)
            norms[block] = norm
        return norms

    def excess(self, x: Tensor) -> float:
        """Computes how far the batch `x` reaches outside, as a share of the radius; NaN if x has a NaN; <= 0 inside."""
        return (float(self._norms(x).max()) - self.radius) / self.radius if x.numel() else 0.0

    def project(self, x: Tensor) -> Tensor:
        """Returns the nearest batch inside: l2 clipping about the centre; what is inside stays as it is."""
        out = x.clone(memory_format=torch.contiguous_format)
        for block in blocks(out, NORM_BYTES):
            self._shrink(out[block])
        return out

    def _shrink(self, x: Tensor) -> None:
        """Projects in place: scales the records outside, rounds them, and scales again where rounding led outside."""
        norms = self._norms(x)
        outside = (norms > self.radius).nonzero().squeeze(1)
        away, factor = self._away(x[outside]), self.radius / norms[outside]
        less = torch.finfo(x.dtype).eps / 4
        while outside.numel():
            scaled = away * factor.unsqueeze(1)
            scaled = (scaled + self.centre if self.centre else scaled).to(x.dtype).view(-1, *self.shape)
            x[outside] = scaled
            still = self._norms(scaled) > self.radius
            if less > 1.0:
                if bool(still.any()):
                    raise InputError(f"no record of {x.dtype} lies in {self}: give the records as float64")
                return
            outside, away, factor = outside[still], away[still], factor[still] * max(0.0, 1.0 - less)
            less *= 2.0


Domain = Box | Ball
