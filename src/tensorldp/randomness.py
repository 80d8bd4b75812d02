"""Explicit generators with derived seeds, and draws whose tails are right.

float32 uniforms have 24 bits, so -log(u) is infinite once in 10^7 draws or stops at 16.6 scales, and Box-Muller
stops at 5.8 standard deviations. On the CPU noise comes from NumPy's ziggurat samplers, whose normal tails are exact to
beyond 8 standard deviations; on an accelerator draws are made in float64. On the CPU, Laplace noise of records that are
not float64 is coarse from 16 scales on and ends at 24.33, so that a delta below 3e-11 (e^-24.33) an element is not what
a curve states; that of float64 records ends at 44.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tensorldp.errors import InputError

BLOCK = 1 << 16  # elements drawn at once on the CPU: fits the second-level cache
SEGMENT = 1 << 20  # elements that share a stream on the CPU
FINE = 2.0**-40  # a draw of 53 bits has too few digits below
WORDS = slice(3, 627)  # of 8 bytes, in a state of torch's Mersenne Twister: its 624 numbers
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
_SIGNS = {4: _BITS.astype(np.uint32) << np.uint32(31), 8: _BITS.astype(np.uint64) << np.uint64(63)}  # byte: 8 sign bits


def derive_seed(*parts: object) -> int:
    """Derives a 63-bit seed from a tuple such as (study, dataset, mechanism, epsilon, seed, purpose).

    A generator on the CPU keeps its low 32 bits, so that two of n streams are the same with a chance of n^2 / 2^33.

    Raises:
        InputError: if a part is a generator, whose text is an address in memory and nothing random.
    """
    if any(isinstance(part, torch.Generator) for part in parts):
        raise InputError("a seed must be a number or a text here, got a torch.Generator")
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def generator(*parts: object, device: str | torch.device = "cpu") -> torch.Generator:
    """Makes a torch generator on `device` seeded from `parts`: for studies, not to protect data (see `derive_seed`)."""
    return torch.Generator(device).manual_seed(derive_seed(*parts))


def unpredictable_generator(device: str | torch.device = "cpu") -> torch.Generator:
    """Makes a torch generator whose state comes from the system's entropy: what an owner of data takes.

    PyTorch keeps 32 bits of any seed on the CPU, so that 2^32 trials undo every release of a seeded generator, however
    its seed was chosen. Here all 19,937 bits of the Mersenne Twister are drawn. A generator on an accelerator has no
    more state than a seed of 64 bits, which are drawn. Neither is a cryptographic generator.
    """
    source = torch.Generator(device).manual_seed(int.from_bytes(os.urandom(8), "big"))
    if source.device.type == "cpu":
        state = source.get_state()
        words = np.frombuffer(os.urandom(4 * (WORDS.stop - WORDS.start)), dtype=np.uint32)
        state.view(torch.int64)[WORDS] = torch.from_numpy(words.astype(np.int64))
        source.set_state(state)
    return source


def seed_from(source: torch.Generator) -> int:
    """Draws a seed: the next 63 bits of `source`."""
    return int(torch.empty((), dtype=torch.int64, device=source.device).random_(generator=source))


def numpy_generator(source: torch.Generator) -> np.random.Generator:
    """Makes a NumPy generator seeded by the next 126 bits of `source`, so that successive calls differ.

    It is no harder to guess than `source`: of a seeded generator on the CPU there are 2^32.
    """
    return _streams(source)(0)


def check_generator(source: object, x: Tensor) -> torch.Generator:
    """Returns `source` if it is a generator on the device of `x`."""
    if not isinstance(source, torch.Generator):
        raise InputError(f"generator must be a torch.Generator, got {type(source).__name__}")
    if source.device.type != x.device.type:
        raise InputError(
            f"the generator is on {source.device.type} but the data is on {x.device.type}: make both on the same device"
        )
    return source


def _streams(source: torch.Generator) -> Callable[[int], np.random.Generator]:
    """Makes NumPy streams, one per segment of a large tensor, from the next 126 bits of `source`."""
    words = torch.empty(2, dtype=torch.int64, device=source.device).random_(generator=source).tolist()
    return lambda segment: np.random.Generator(np.random.SFC64([*words, segment] if segment else words))


def _signed_exponential(rng: np.random.Generator, block: npt.NDArray[Any]) -> None:
    rng.standard_exponential(out=block, dtype=block.dtype, method="zig")
    coins = np.frombuffer(rng.bytes(-(-block.size // 8)), dtype=np.uint8)  # one bit an element
    bits = block.view(np.uint32 if block.dtype == np.float32 else np.uint64)
    np.bitwise_xor(bits, _SIGNS[bits.dtype.itemsize].take(coins, axis=0).reshape(-1)[: block.size], out=bits)


def _standard_normal(rng: np.random.Generator, block: npt.NDArray[Any]) -> None:
    rng.standard_normal(out=block, dtype=block.dtype)


def _add_cpu(x: Tensor, scale: float, source: torch.Generator, laplace: bool) -> Tensor:
    """Adds noise to x. Each segment has its own stream, so that the draws do not depend on the number of threads."""
    stream = _streams(source)
    flat = x.detach().reshape(-1)
    out = torch.empty(x.shape, dtype=x.dtype)
    flat_out = out.view(-1)
    dtype = np.float64 if x.dtype == torch.float64 else np.float32
    draw = _signed_exponential if laplace else _standard_normal
    direct = x.dtype in (torch.float32, torch.float64)
    source_array = flat.numpy() if direct else None
    out_array = flat_out.numpy() if direct else None

    def add_segment(segment: int) -> None:
        rng = stream(segment)
        first, last = segment * SEGMENT, min((segment + 1) * SEGMENT, flat.numel())
        buffer = np.empty(min(BLOCK, last - first), dtype=dtype)
        for start in range(first, last, BLOCK):
            stop = min(start + BLOCK, last)
            block = buffer[: stop - start]
            draw(rng, block)
            with np.errstate(over="ignore"):  # who releases looks for what left the range
                np.multiply(block, block.dtype.type(scale), out=block)
                if source_array is not None and out_array is not None:
                    np.add(source_array[start:stop], block, out=out_array[start:stop])
                else:
                    flat_out[start:stop] = (flat[start:stop].float() + torch.from_numpy(block)).to(x.dtype)

    segments = range(-(-flat.numel() // SEGMENT))
    threads = min(torch.get_num_threads(), len(segments))
    if threads < 2:
        for segment in segments:
            add_segment(segment)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(add_segment, segments))
    return out


def _add_device(x: Tensor, scale: float, source: torch.Generator, laplace: bool) -> Tensor:
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    flat, flat_out = x.reshape(-1), out.view(-1)
    step = 1 << 22
    for start in range(0, flat.numel(), step):
        piece = flat[start : start + step]
        noise = torch.empty(piece.shape, dtype=torch.float64, device=x.device)
        if laplace:
            sign = torch.empty(piece.shape, dtype=torch.float64, device=x.device).bernoulli_(generator=source)
            noise.exponential_(generator=source).mul_(sign.mul_(2.0).sub_(1.0))
        else:
            noise.normal_(generator=source)
        flat_out[start : start + step] = (piece.double() + noise.mul_(scale)).to(x.dtype)
    return out


def add_laplace(x: Tensor, scale: float, source: torch.Generator) -> Tensor:
    """Returns x + Lap(0, scale) per element, a new tensor of the dtype and device of x."""
    return (_add_cpu if x.device.type == "cpu" else _add_device)(x, scale, source, True)


def add_gaussian(x: Tensor, sigma: float, source: torch.Generator) -> Tensor:
    """Returns x + N(0, sigma^2) per element, a new tensor of the dtype and device of x."""
    return (_add_cpu if x.device.type == "cpu" else _add_device)(x, sigma, source, False)


def standard_normal(like: Tensor, source: torch.Generator) -> Tensor:
    """Draws N(0, 1) in the shape and on the device of `like`, in float64 for float64 and float32 otherwise."""
    dtype = torch.float64 if like.dtype == torch.float64 else torch.float32
    return add_gaussian(torch.zeros(like.shape, dtype=dtype, device=like.device), 1.0, source)


Draws = TypeVar("Draws", Tensor, npt.NDArray[np.float64])


def _with_all_digits(u: Draws, draw: Callable[[tuple[int]], Draws], top: float = FINE) -> Draws:
    """Draws anew what of `u` is below 2^-40, uniform on (0, top), and so on below that."""
    small = u < FINE
    if bool(small.any()):
        u[small] = top * _with_all_digits(draw((int(small.sum()),)), draw)
    return u


def complement(u: Draws, draw: Callable[[tuple[int]], Draws]) -> Draws:
    """Returns 1 - u of uniform draws, with all digits near 0, which u lacks: to compare with a rare chance.

    Args:
        u: draws of 53 bits, of which all but (2^13 - 1) / 2^53 have 1 - u >= 2^-40.
        draw: makes as many more draws as are asked for; rarely called.
    """
    return _with_all_digits(1.0 - u, draw, FINE - 2.0**-53)


def toss(hit: Tensor | float, miss: Tensor | float, shape: tuple[int, ...], source: torch.Generator) -> Tensor:
    """Tosses coins, True with probability `hit`; `miss` is 1 - hit, and either may be as rare as a float can be."""
    u = uniform(shape, source)
    hit, miss = (torch.as_tensor(side, dtype=u.dtype, device=u.device) for side in (hit, miss))
    return torch.where(hit < miss, u < hit, complement(u, partial(uniform, source=source)) > miss)


def _bits(rng: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[np.uint64]:
    return rng.integers(0, 1 << 53, size=shape, dtype=np.uint64)


def _between(bits: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    u: npt.NDArray[np.float64] = (bits.astype(np.float64) + 0.5) * 2.0**-53
    return np.minimum(u, 1.0 - 2.0**-53, out=u)  # the last k + 1/2 is rounded to 2^53


def _draw(rng: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    return _between(_bits(rng, shape))


def uniform(shape: tuple[int, ...], source: torch.Generator) -> Tensor:
    """Draws float64 from the open interval (0, 1), on the generator's device: k + 1/2 over 2^53, finer near 0."""
    if source.device.type == "cpu":
        draw = partial(_draw, numpy_generator(source))
        return torch.from_numpy(_with_all_digits(draw(shape), draw))

    def draw_there(shape: tuple[int, ...]) -> Tensor:
        draws = torch.rand(shape, dtype=torch.float64, device=source.device, generator=source)
        return draws.clamp_(2.0**-54, 1.0 - 2.0**-53)

    return _with_all_digits(draw_there(shape), draw_there)


def uniform_each(count: int, sources: Sequence[torch.Generator]) -> Tensor:
    """Draws what `uniform((count,), source)` does of each source on the CPU, as rows: all but the draws in one pass."""
    streams = [numpy_generator(source) for source in sources]
    u = _between(np.array([_bits(rng, (count,)) for rng in streams]).reshape(-1, count))
    for row in np.flatnonzero((u < FINE).any(axis=1)):
        u[row] = _with_all_digits(u[row], partial(_draw, streams[row]))
    return torch.from_numpy(u)


def complement_each(u: Tensor, sources: Sequence[torch.Generator]) -> Tensor:
    """Returns `complement` of each row of `uniform_each`, by its own source."""
    rest = 1.0 - u
    for row in (rest < FINE).any(dim=1).nonzero().flatten().tolist():
        rest[row] = complement(u[row], partial(uniform, source=sources[row]))
    return rest


def sparse_positions(count: int, probability: float, source: torch.Generator) -> np.ndarray:
    """Draws the positions in range(count) that an independent coin of the given probability hits, sorted.

    Costs only the hits: a binomial number of distinct positions, so that coins of 1e-30 are exact and free.
    """
    rng = numpy_generator(source)
    if probability <= 0.0 or count == 0:
        return np.empty(0, dtype=np.int64)
    if probability > 0.1:
        hits = [
            np.flatnonzero(rng.random(min(1 << 20, count - start)) < probability) + start
            for start in range(0, count, 1 << 20)
        ]
        return np.concatenate(hits)
    # P(no hit) = (1-p)^n by log1p: numpy's own inversion forms 1 - p first, which is 1 for p < 1e-16
    if probability < 1e-9:
        mean = -count * math.log1p(-probability)
        while mean < FINE:  # numpy's poisson is never above 0 below 2^-54
            if rng.integers(1 << 40):
                return np.empty(0, dtype=np.int64)
            mean /= FINE
        total = rng.poisson(mean)
    else:
        total = int(rng.binomial(count, probability))
    return np.sort(rng.choice(count, size=min(total, count), replace=False, shuffle=False))
