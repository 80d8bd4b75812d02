"""The bit codec: every representable value, every bit count, saturation."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorldp.errors import InputError
from tensorldp.mechanisms.bits import bytes_to_bits, decode_bits, encode_bits

CODES = [(n, total - 1 - n) for total in range(2, 25) for n in sorted({0, (total - 1) // 2, total - 1})]


@pytest.mark.parametrize(("n", "m"), CODES)
def test_every_representable_value_comes_back_exactly(n: int, m: int) -> None:
    top = 1 << (n + m)
    step = max(1, top >> 14) | 1  # all values of up to 15 bits, an odd stride through the longer codes
    magnitude = torch.cat((torch.arange(0, top, step), torch.tensor([top - 1]))).double() / 2**m
    x = torch.cat((magnitude, -magnitude[1:])).unsqueeze(0)
    packed = encode_bits(x, whole_bits=n, fraction_bits=m)
    assert packed.shape[1] == -(-x.shape[1] * (1 + n + m) // 8)
    back = decode_bits(packed, (x.shape[1],), whole_bits=n, fraction_bits=m, dtype=torch.float64)
    assert torch.equal(back, x)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 24), st.data())
def test_other_values_are_cut_off_towards_zero_and_large_ones_saturate(total: int, data: st.DataObject) -> None:
    n = data.draw(st.integers(0, total - 1))
    m = total - 1 - n
    values = data.draw(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=20))
    back = decode_bits(
        encode_bits(torch.tensor([values], dtype=torch.float64), whole_bits=n, fraction_bits=m),
        (len(values),),
        whole_bits=n,
        fraction_bits=m,
        dtype=torch.float64,
    )[0].tolist()
    largest = 2.0**n - 2.0**-m
    for value, found in zip(values, back, strict=True):
        expected = min(np.floor(abs(value) * 2.0**m) / 2.0**m, largest)
        assert found == (-expected if value < 0 else expected)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 70), st.integers(0, 4), st.integers(0, 2**32 - 1))
def test_bytes_become_the_bits_in_reading_order(count: int, rows: int, seed: int) -> None:
    width = -(-count // 8)
    packed = np.random.default_rng(seed).integers(0, 256, (rows, width), dtype=np.uint8)
    bits = bytes_to_bits(torch.from_numpy(packed), count)
    assert bits.dtype == torch.float32
    expected = [[int(packed[r, i // 8]) >> (7 - i % 8) & 1 for i in range(count)] for r in range(rows)]
    assert bits.tolist() == expected
    assert bytes_to_bits(torch.from_numpy(packed), count, torch.bfloat16).tolist() == expected


def test_strings_of_another_length_are_refused() -> None:
    with pytest.raises(InputError, match="strings of 17 bits must be a uint8 tensor"):
        bytes_to_bits(torch.zeros(2, 2, dtype=torch.uint8), 17)


def test_bfloat16_saturates_at_the_largest_code() -> None:
    x = torch.tensor([[16.0, -16.0, 40.0, 15.875]], dtype=torch.bfloat16)  # 511 units of 2^-5 is no bfloat16
    back = decode_bits(encode_bits(x), (4,))
    top = 16.0 - 2.0**-5
    assert back.tolist() == [[top, -top, top, 15.875]]
