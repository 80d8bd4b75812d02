"""Fixed-point bit strings of floats, packed eight bits to a byte, and LATENT's error of estimating them (3.3)."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tensorldp.errors import InputError, check_whole
from tensorldp.randomness import numpy_generator, sparse_positions


def bit_count(whole_bits: int, fraction_bits: int) -> int:
    """Returns l = 1 + n + m, the bits of one coded element."""
    total = 1 + check_whole("whole", whole_bits) + check_whole("fraction", fraction_bits)
    if not 2 <= total <= 24:
        raise InputError(f"a code needs 2 to 24 bits (sign + whole + fraction), got {total}")
    return total


def check_packed(what: str, packed: object, count: int) -> None:
    """Refuses what is not rows of `count` packed bits; `what` begins the message."""
    width = -(-count // 8)
    if isinstance(packed, Tensor) and packed.dtype == torch.uint8 and packed.dim() == 2 and packed.shape[1] == width:
        return
    got = f"{packed.dtype} {tuple(packed.shape)}" if isinstance(packed, Tensor) else type(packed).__name__
    raise InputError(f"{what} a uint8 tensor (batch, {width}), got {got}")


def code_numbers(x: Tensor, whole_bits: int, fraction_bits: int) -> Tensor:
    """Codes each element as one int32: the sign, then |x| in units of 2^-m, cut off and saturated at 2^n - 2^-m."""
    top = (1 << (whole_bits + fraction_bits)) - 1
    size = x.abs().float() if x.dtype == torch.bfloat16 else x.abs()  # bfloat16 rounds `top` to a power of 2
    magnitude = (size * float(1 << fraction_bits)).clamp_(max=top).to(torch.int32)
    return magnitude | (torch.signbit(x).to(torch.int32) << (whole_bits + fraction_bits))


def encode_bits(x: Tensor, *, whole_bits: int = 4, fraction_bits: int = 5) -> Tensor:
    """Returns the merged bit strings of a batch, packed.

    Each element has l = 1 + n + m bits, most significant first: the sign (1 for negative) and the bits
    g(k) = floor(2^-k |x|) mod 2 for k = n - 1 .. -m (Eq. 5 with its upper end mended); larger values saturate.

    Args:
        x: floating-point tensor (batch, *shape).
        whole_bits: n.
        fraction_bits: m.

    Returns:
        uint8 tensor (batch, ceil(r l / 8)), bits in reading order, unused bits of the last byte 0.
    """
    bits = bit_count(whole_bits, fraction_bits)
    codes = code_numbers(x.reshape(x.shape[0], -1), whole_bits, fraction_bits)
    rows, size = codes.shape
    groups = -(-size // 8)
    padded = torch.zeros((rows, groups * 8), dtype=torch.int32, device=x.device)
    padded[:, :size] = codes
    eight = padded.view(rows, groups, 8)  # eight codes of l bits fill l bytes exactly
    packed = torch.empty((rows, groups, bits), dtype=torch.uint8, device=x.device)
    for j in range(bits):
        byte = torch.zeros((rows, groups), dtype=torch.int32, device=x.device)
        for i in range(8 * j // bits, (8 * j + 7) // bits + 1):
            shift = (i + 1) * bits - 8 * (j + 1)
            byte |= eight[:, :, i] >> shift if shift >= 0 else eight[:, :, i] << -shift
        packed[:, :, j] = (byte & 0xFF).to(torch.uint8)
    return packed.view(rows, -1)[:, : -(-size * bits // 8)]


def _unpack(packed: Tensor, size: int, bits: int) -> Tensor:
    rows, groups = packed.shape[0], -(-size // 8)
    padded = torch.zeros((rows, groups * bits), dtype=torch.int32, device=packed.device)
    padded[:, : packed.shape[1]] = packed.to(torch.int32)
    source = padded.view(rows, groups, bits)
    codes = torch.zeros((rows, groups, 8), dtype=torch.int32, device=packed.device)
    for i in range(8):
        for j in range(i * bits // 8, ((i + 1) * bits - 1) // 8 + 1):
            shift = (i + 1) * bits - 8 * (j + 1)
            codes[:, :, i] |= source[:, :, j] << shift if shift >= 0 else source[:, :, j] >> -shift
    return codes.view(rows, -1)[:, :size] & ((1 << bits) - 1)


def decode_bits(
    packed: Tensor,
    shape: tuple[int, ...],
    *,
    whole_bits: int = 4,
    fraction_bits: int = 5,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """Returns the floats (batch, *shape) that packed bit strings represent; a set sign bit on 0 gives -0.0."""
    bits, size = bit_count(whole_bits, fraction_bits), math.prod(shape)
    check_packed(f"packed bits of shape {tuple(shape)} must be", packed, size * bits)
    codes = _unpack(packed, size, bits)
    magnitude = (codes & ((1 << (bits - 1)) - 1)).to(dtype) / float(1 << fraction_bits)
    return torch.where(codes >> (bits - 1) == 1, -magnitude, magnitude).view(packed.shape[0], *shape)


def bytes_to_bits(packed: Tensor, count: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Returns the first `count` bits of each row of packed strings as zeros and ones, (batch, count)."""
    check_packed(f"strings of {count} bits must be", packed, count)
    if packed.device.type == "cpu":
        return torch.from_numpy(np.unpackbits(packed.numpy(), axis=1, count=count)).to(dtype)
    places = torch.arange(7, -1, -1, dtype=torch.uint8, device=packed.device)
    return ((packed.unsqueeze(2) >> places) & 1).flatten(1)[:, :count].to(dtype)


def flip_mask(count: int, flip: float, signal: float, rng_source: torch.Generator) -> npt.NDArray[np.uint8]:
    """Draws `count` bytes whose bits are 1 independently with probability `flip`.

    flip = 2^-j (1 - s) is j fair coins, all 1, and not one of sparse hits of probability s: near 1/2 that costs
    one random bit per bit and no arithmetic.

    Args:
        count: number of bytes.
        flip: the probability that a bit is 1, in (0, 1/2].
        signal: 1 - 2 flip, without cancellation.
        rng_source: the generator of the coins.
    """
    rare = flip < 2.0**-7
    coins = 0 if rare else min(7, max(1, math.floor(-math.log2(flip))))
    hit = flip if rare else signal if coins == 1 else -math.expm1(math.log(flip) + coins * math.log(2.0))
    hits = np.zeros(count, dtype=np.uint8)
    positions = sparse_positions(8 * count, max(0.0, hit), rng_source)
    np.bitwise_or.at(hits, positions >> 3, (128 >> (positions & 7)).astype(np.uint8))
    if rare:
        return hits
    rng = numpy_generator(rng_source)
    mask = np.frombuffer(rng.bytes(count), dtype=np.uint8) & ~hits
    for _ in range(coins - 1):
        mask &= np.frombuffer(rng.bytes(count), dtype=np.uint8)
    return mask


Reading = Literal["A", "B"]


def nth_with_ones(length: int, ones: int, index: int) -> int:
    """Computes F(l, k, i) of Eq. 10: the i-th number, from 0 and in increasing order, of l bits with k ones.

    The base case l = k is 2^k - 1; the printed 2^(k-1) is only one of the bits.
    """
    number = 0
    while 0 < ones < length:
        length -= 1
        below = math.comb(length, ones)
        if index >= below:
            number, index, ones = number | 1 << length, index - below, ones - 1
    return number | (1 << ones) - 1


def estimated_ones(released: int, length: int, p: float, reading: Reading = "B") -> int:
    """Computes k = round(l y), the ones that the original is taken to have, from the share t of ones of a release.

    Reading B inverts t = y p + (1 - p) / 2 as Eq. 9 does, whatever randomised the bits; reading A inverts
    t = y p + (1 - y) (1 - p), which is what Eq. 6 needs, p above 1/2. k is cut to 0 .. l, where Eq. 9 is not.
    """
    share = released.bit_count() / length
    y = (2.0 * share - (1.0 - p)) / (2.0 * p) if reading == "B" else (share - (1.0 - p)) / (2.0 * p - 1.0)
    return min(length, max(0, round(length * y)))


def estimation_error(released: int, length: int, p: float, reading: Reading = "B") -> list[int]:
    """Computes Eq. 11 to 15: released - x for the numbers x with the estimated count of ones that are nearest to it.

    One or two values, of the same size. Numbers are l-bit strings read as whole numbers, first bit highest.
    """
    ones = estimated_ones(released, length, p, reading)
    count = math.comb(length, ones)
    place = bisect_left(range(count), released, key=lambda i: nth_with_ones(length, ones, i))  # F increases with i
    near = [released - nth_with_ones(length, ones, i) for i in (place - 1, place) if 0 <= i < count]
    least = min(abs(error) for error in near)
    return [error for error in near if abs(error) == least]


def mean_errors(length: int, p: float, reading: Reading = "B") -> tuple[float, float]:
    """Computes the mean of |E| of Eq. 15 and of |released - x| in truth, over all l-bit x and all coins, exactly.

    It takes 4^l numbers.
    """
    claimed = np.array([abs(estimation_error(number, length, p, reading)[0]) for number in range(1 << length)])
    keep = p if reading == "A" else (1.0 + p) / 2.0
    numbers = np.arange(1 << length)
    gaps = np.abs(numbers[:, None] - numbers[None, :])
    return float(claimed.mean()), float((_coins(length, keep) * gaps).sum()) / (1 << length)


def _coins(length: int, keep: float) -> npt.NDArray[np.float64]:
    """Computes P(released | x) of all pairs: bits are kept with probability `keep`."""
    one = np.array([[keep, 1.0 - keep], [1.0 - keep, keep]])
    table = np.ones((1, 1))
    for _ in range(length):
        table = np.kron(table, one)
    return table
