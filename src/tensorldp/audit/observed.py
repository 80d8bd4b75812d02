"""What code under test returned, as exact numbers, or a sentence that says why it cannot be examined.

Nothing in a release may be lost before it is examined. Integers of any width and booleans become
int64 (uint64 modulo 2^64, which loses nothing either), floats of any format become float64, and of complex numbers both
parts become columns. Whatever has no such form, or would lose something on the way, is refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from tensorldp.errors import InputError
from tensorldp.memory import check_memory

LARGE = 1 << 24  # numbers that always fit in memory


@dataclass(frozen=True)
class Form:
    """What one release is made of.

    Attributes:
        dtype: the type of its numbers.
        shape: the shape of one release.
    """

    dtype: torch.dtype
    shape: tuple[int, ...]

    @property
    def whole(self) -> bool:
        """Returns whether the type of its numbers is one of whole numbers."""
        return not (self.dtype.is_floating_point or self.dtype.is_complex)

    @property
    def floats(self) -> torch.dtype:
        """Returns the format of its floats; for a complex number, that of its two parts."""
        return self.dtype.to_real() if self.dtype.is_complex else self.dtype

    @property
    def width(self) -> int:
        """Returns how many columns it is examined in."""
        return math.prod(self.shape) * (2 if self.dtype.is_complex else 1)

    def __str__(self) -> str:
        return f"{str(self.dtype).removeprefix('torch.')} of shape {self.shape}"


def observed(name: str, out: object, rows: int, each: str = "release a record") -> tuple[Form, Tensor]:
    """Returns the form of the releases, and the releases as a copy on the CPU that nobody else writes into.

    Args:
        name: whose releases they are, for messages.
        out: what was returned.
        rows: how many releases are expected, along the first dimension.
        each: what they are, for messages.

    Returns:
        The form, and a tensor (rows, width) of int64 if their type is one of whole numbers, else of float64.
    """
    values = _tensor(name, out)
    if values.dim() == 0 or values.shape[0] != rows:
        shape = tuple(values.shape)
        raise InputError(f"{name} must return one {each}: for {rows}, got shape {shape}")
    form = Form(values.dtype, tuple(values.shape[1:]))
    if form.width == 0:
        raise InputError(f"{name} returned releases without elements, of shape {tuple(values.shape)}")
    if values.numel() > LARGE:  # a view may be larger than the memory
        check_memory(f"a release of {name}", values.numel(), 16 + 2 * form.dtype.itemsize)
    flat = values.detach().resolve_conj().resolve_neg().reshape(rows, -1)
    if form.dtype.is_complex:
        flat = torch.view_as_real(flat).movedim(-1, 1).reshape(rows, -1)  # the real parts, then the imaginary ones
    exact = torch.int64 if form.whole else torch.float64
    return form, flat.to("cpu", exact, copy=True, memory_format=torch.contiguous_format)


def _tensor(name: str, out: object) -> Tensor:
    """Returns `out` as a plain dense tensor."""
    if type(out) is np.ndarray:
        return _array(name, out)
    if not isinstance(out, Tensor):
        raise InputError(
            f"{name} must return one tensor of releases, got {type(out).__name__}"
            + (": join its parts with torch.cat" if isinstance(out, (tuple, list, dict)) else "")
        )
    if type(out).__torch_dispatch__ is not Tensor.__torch_dispatch__ or out.is_nested:  # masked, nested, fake, ...
        raise InputError(f"{name} must return a plain tensor, got {type(out).__name__} of its own layout")
    if out.layout is not torch.strided:
        layout = str(out.layout).removeprefix("torch.")
        raise InputError(f"{name} must return a dense tensor, got a {layout} one: release its values as a dense tensor")
    if out.device.type == "meta":
        raise InputError(f"{name} returned a tensor on the device meta, which has no values")
    return out.as_subclass(Tensor)


def _array(name: str, out: np.ndarray) -> Tensor:
    """Returns a NumPy array as a tensor of the same numbers."""
    allowed = {"b": 1, "i": 8, "u": 8, "f": 8, "c": 16}  # most bytes of a number: torch has no wider ones
    if out.dtype.itemsize > allowed.get(out.dtype.kind, 0):
        raise InputError(f"{name} must return numbers of at most 64 bits, got an array of {out.dtype}")
    return torch.from_numpy(np.array(out, dtype=out.dtype.newbyteorder("="), order="C"))
