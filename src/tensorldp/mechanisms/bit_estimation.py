"""LATENT's error of estimation (3.3): how far a released number is from one that may have been its original."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Literal

import numpy as np
import numpy.typing as npt

from tensorldp.errors import InputError, check_real, check_whole

Reading = Literal["A", "B"]


def nth_with_ones(length: int, ones: int, index: int) -> int:
    """F(l, k, i) of Eq. 10: the i-th number, from 0 and in increasing order, of l bits of which k are 1.

    The base case l = k is 2^k - 1; the printed 2^(k-1) is one of the bits only.

    Raises:
        InputError: if an argument is out of range.
    """
    length = check_whole("length", length)
    ones = check_whole("ones", ones, high=length)
    index = check_whole("index", index, high=math.comb(length, ones) - 1)
    number = 0
    while 0 < ones < length:
        length -= 1
        below = math.comb(length, ones)
        if index >= below:
            number, index, ones = number | 1 << length, index - below, ones - 1
    return number | (1 << ones) - 1


def estimated_ones(released: int, length: int, p: float, reading: Reading = "B") -> int:
    """k = round(l y), the ones that the original is taken to have, from the share t of ones of a released number.

    Reading B inverts t = y p + (1 - p) / 2 as Eq. 9 does, whatever randomised the bits; reading A inverts
    t = y p + (1 - y) (1 - p), which is what Eq. 6 needs. k is cut to 0 .. l, where Eq. 9 is not.

    Raises:
        InputError: if an argument is out of range; p must be above 0 (B) or 1/2 (A).
    """
    released = check_whole("released", released, high=(1 << check_whole("length", length, low=1)) - 1)
    share = released.bit_count() / length
    if reading == "B":
        p = check_real("p", p, low=0.0, high=1.0, open_low=True)
        y = (2.0 * share - (1.0 - p)) / (2.0 * p)
    elif reading == "A":
        p = check_real("p", p, low=0.5, high=1.0, open_low=True)
        y = (share - (1.0 - p)) / (2.0 * p - 1.0)
    else:
        raise InputError(f"reading must be 'A' or 'B', got {reading!r}")
    return min(length, max(0, round(length * y)))


def estimation_error(released: int, length: int, p: float, reading: Reading = "B") -> list[int]:
    """Eq. 11 to 15: released - x for the numbers x with the estimated count of ones that are nearest to it.

    One or two values, of the same size. Numbers are l-bit strings read as whole numbers, first bit highest.

    Raises:
        InputError: as `estimated_ones`.
    """
    ones = estimated_ones(released, length, p, reading)
    count = math.comb(length, ones)
    place = bisect_left(range(count), released, key=lambda i: nth_with_ones(length, ones, i))  # F increases with i
    near = [released - nth_with_ones(length, ones, i) for i in (place - 1, place) if 0 <= i < count]
    least = min(abs(error) for error in near)
    return [error for error in near if abs(error) == least]


def mean_errors(length: int, p: float, reading: Reading = "B") -> tuple[float, float]:
    """The mean of |E| of Eq. 15 and of |released - x| in truth, over all l-bit x and all coins, exactly.

    Raises:
        InputError: if the length is above 12 or as `estimated_ones`.
    """
    check_whole("length", length, low=1, high=12)
    claimed = np.array([abs(estimation_error(number, length, p, reading)[0]) for number in range(1 << length)])
    keep = p if reading == "A" else (1.0 + p) / 2.0
    return float(claimed.mean()), float((_coins(length, keep) * _gaps(length)).sum()) / (1 << length)


def _coins(length: int, keep: float) -> npt.NDArray[np.float64]:
    """P(released | x) of all pairs: bits are kept with probability `keep`."""
    one = np.array([[keep, 1.0 - keep], [1.0 - keep, keep]])
    table = np.ones((1, 1))
    for _ in range(length):
        table = np.kron(table, one)
    return table


def _gaps(length: int) -> npt.NDArray[np.int64]:
    numbers = np.arange(1 << length)
    found: npt.NDArray[np.int64] = np.abs(numbers[:, None] - numbers[None, :])
    return found
