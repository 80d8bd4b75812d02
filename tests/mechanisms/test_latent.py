from typing import Any

import numpy as np
import pytest
import torch
from exact_laws import check_law, check_mean, releases
from hypothesis import given, settings
from hypothesis import strategies as st
from typed import make_as

from tensorldp.errors import InputError
from tensorldp.mechanisms import Box
from tensorldp.mechanisms.bits import bit_count, bytes_to_bits, flip_mask
from tensorldp.mechanisms.latent import Latent, decode_bits, encode_bits
from tensorldp.randomness import generator

Case = tuple[Box, dict[str, Any]]
MNIST: Case = (Box(-16, 16, (9216,)), {})
CIFAR: Case = (Box(-4, 4, (2304,)), {"whole": 2, "fraction": 7})
CODES = [(n, total - 1 - n) for total in range(2, 25) for n in sorted({0, (total - 1) // 2, total - 1})]


@pytest.mark.parametrize(("n", "m"), CODES)
def test_every_representable_value_comes_back_exactly(n: int, m: int) -> None:
    top = 1 << (n + m)
    step = max(1, top >> 12) | 1  # all values of up to 13 bits, an odd stride through the longer codes
    magnitude = torch.cat((torch.arange(0, top, step), torch.tensor([top - 1]))).double() / 2**m
    x = torch.cat((magnitude, -magnitude[1:])).unsqueeze(0)
    packed = encode_bits(x, whole_bits=n, fraction_bits=m)
    assert packed.shape[1] == -(-x.shape[1] * (1 + n + m) // 8)
    for dtype in (torch.float32, torch.float64):
        back = decode_bits(packed, (x.shape[1],), whole_bits=n, fraction_bits=m, dtype=dtype)
        assert torch.equal(back, x.to(dtype))


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 24), st.data())
def test_other_values_are_cut_off_towards_zero_and_large_ones_saturate(total: int, data: st.DataObject) -> None:
    n, size = data.draw(st.integers(0, total - 1)), data.draw(st.integers(1, 5))
    row = st.lists(st.floats(-1e6, 1e6, width=32), min_size=size, max_size=size)
    rows = torch.tensor(data.draw(st.lists(row, min_size=1, max_size=4)), dtype=torch.float64)
    unit = 2.0 ** (n + 1 - total)
    cut = torch.minimum((rows.abs() / unit).floor() * unit, torch.tensor(2.0**n - unit))  # floor(2^m |x|), Eq. 5
    packed = encode_bits(rows, whole_bits=n, fraction_bits=total - 1 - n)
    back = decode_bits(packed, (size,), whole_bits=n, fraction_bits=total - 1 - n, dtype=torch.float64)
    assert torch.equal(back, torch.where(rows < 0, -cut, cut))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 70), st.integers(0, 4), st.integers(0, 2**32 - 1))
def test_bytes_become_the_bits_in_reading_order(count: int, rows: int, seed: int) -> None:
    packed = np.random.default_rng(seed).integers(0, 256, (rows, -(-count // 8)), dtype=np.uint8)
    expected = [[int(row[i // 8]) >> (7 - i % 8) & 1 for i in range(count)] for row in packed]
    for dtype in (torch.float32, torch.bfloat16):
        bits = bytes_to_bits(torch.from_numpy(packed), count, dtype)
        assert bits.dtype == dtype
        assert bits.tolist() == expected


def test_codes_and_strings_of_another_length_are_refused() -> None:
    m = make_as(Latent, epsilon=1.0, domain=Box(-1, 1, (8,)))
    for bad in (torch.zeros(2, 9, dtype=torch.uint8), torch.zeros(2, 10), None):
        with pytest.raises(InputError):
            m.privatize_bits(bad, generator("bad"))  # type: ignore[arg-type]
    with pytest.raises(InputError):
        decode_bits(torch.zeros(2, 9, dtype=torch.uint8), (8,))
    with pytest.raises(InputError, match="strings of 17 bits must be a uint8 tensor"):
        bytes_to_bits(torch.zeros(2, 2, dtype=torch.uint8), 17)
    assert bit_count(4, 5) == 10
    for n, fraction in ((0, 0), (12, 12), (-1, 5)):
        with pytest.raises(InputError):
            bit_count(n, fraction)


def test_saturation_and_signed_zero() -> None:
    back = decode_bits(encode_bits(torch.tensor([[1e9, -1e9, 16.0, -0.0, 15.99]])), (5,))
    assert back.tolist() == [[15.96875, -15.96875, 15.96875, 0.0, 15.96875]]
    assert bool(torch.signbit(back)[0, 3])
    x = torch.tensor([[16.0, -16.0, 40.0, 15.875]], dtype=torch.bfloat16)  # 511 units of 2^-5 is no bfloat16
    assert decode_bits(encode_bits(x), (4,)).tolist() == [[15.96875, -15.96875, 15.96875, 15.875]]


def test_bits_are_sign_whole_fraction_most_significant_first() -> None:
    packed = encode_bits(torch.tensor([[-5.25, 0.5]]), whole_bits=4, fraction_bits=5)
    bits = np.unpackbits(packed.numpy()[0])
    assert "".join(map(str, bits[:20])) == "1010101000" + "0000010000"
    assert not bits[20:].any()


def latent(of: Case, epsilon: float = 0.5, **options: Any) -> Latent:
    return make_as(Latent, epsilon=epsilon, domain=of[0], **of[1], **options)


def test_keep_probabilities() -> None:
    assert 0.5 - latent(MNIST).flip == pytest.approx(1.35634e-6, rel=1e-4)
    assert 0.5 - latent(CIFAR).flip == pytest.approx(5.42535e-6, rel=1e-4)
    assert latent(MNIST).signal / 2 == pytest.approx(0.5 - latent(MNIST).flip, rel=1e-9)


@pytest.mark.parametrize(("of", "expected"), [(MNIST, 101_248), (CIFAR, 25_312)])
def test_guarantees(of: Case, expected: int) -> None:
    a = latent(of).guarantee(0.0)
    assert a.epsilon == pytest.approx(0.5)
    assert a.exact
    assert latent(of, reading="B").guarantee(0.0).epsilon == pytest.approx(expected, abs=0.6)


def test_reading_b_at_delta() -> None:
    assert latent(MNIST, reading="B").guarantee(1e-5).epsilon == pytest.approx(51_856, rel=1e-3)
    assert latent(CIFAR, reading="B").guarantee(1e-5).epsilon == pytest.approx(13_272, rel=1e-3)


def test_two_coins_of_bias_a_half() -> None:
    b = make_as(Latent, epsilon=1e-12, domain=Box(0, 1, (1,)), whole=0, fraction=1, reading="B")
    assert 1 - b.flip == pytest.approx(0.75)  # the counterexample P(1|1) = 0.75


@pytest.mark.parametrize("flip", [0.4999, 0.31, 0.25, 0.1, 0.02, 0.001])
def test_flip_mask(flip: float) -> None:
    """All patterns of a byte: bits are independent, and each is 1 with the probability of a flip."""
    ones = [pattern.bit_count() for pattern in range(256)]
    law = {float(pattern): flip**k * (1 - flip) ** (8 - k) for pattern, k in enumerate(ones)}
    check_law(flip_mask(100_000, flip, 1 - 2 * flip, generator("mask", flip)), law)


def test_privatize_is_the_packed_path_which_flips_bits_as_often_as_said() -> None:
    m = make_as(Latent, epsilon=60.0, domain=Box(-3, 3, (4, 3)), whole=2, fraction=3)
    x = 6 * torch.rand(50, 4, 3, generator=generator("x")) - 3
    packed = m.privatize_bits(encode_bits(x, whole_bits=2, fraction_bits=3), generator("same"))
    expected = decode_bits(packed, (4, 3), whole_bits=2, fraction_bits=3)
    assert torch.equal(m.privatize(x, generator("same")), expected)
    m = make_as(Latent, epsilon=2.0, domain=Box(-2, 2, (3,)), whole=1, fraction=4)
    flipped = m.privatize_bits(torch.zeros(20_000, 3, dtype=torch.uint8), generator("hamming"))
    bits = np.unpackbits(flipped.numpy()).reshape(20_000, -1)
    check_mean(bits[:, :18].sum(axis=1), 18 * m.flip)
    assert not bits[:, 18:].any()  # what fills the last byte


@pytest.mark.parametrize("value", [0.0, 1.40625, -2.5, 3.96875])
def test_value_error_oracle(value: float) -> None:
    """docs/mathematics/samplers.md#bits, by enumeration of every flip of one code."""
    m = make_as(Latent, epsilon=1.3, domain=Box(-4, 4, (1,)), whole=2, fraction=5)
    code = int(abs(value) * 32) | (128 if value < 0 else 0)
    total = 0.0
    for other in range(256):
        distance = (code ^ other).bit_count()
        decoded = (-1 if other & 128 else 1) * (other & 127) / 32
        total += (1 - m.flip) ** (8 - distance) * m.flip**distance * (decoded - value) ** 2
    assert m._element_error(value) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("box", [(-1, 1), (-4, 4), (0.3, 2.2), (-0.4, 3), (-3, -1), (-100, 100)])
def test_widest_pair_by_enumeration(box: tuple[float, float]) -> None:
    m = make_as(Latent, epsilon=1.0, domain=Box(*box, (1,)), whole=2, fraction=4)
    first, second, distance = m._widest_pair()
    values = torch.cat([torch.tensor([first, second]), torch.linspace(*box, 3001)]).double().unsqueeze(1)
    codes = np.unpackbits(encode_bits(values, whole_bits=2, fraction_bits=4).numpy(), axis=1).astype(int)
    every = np.unique(codes, axis=0)
    assert distance == np.abs(every[:, None] - every[None]).sum(axis=2).max() == np.abs(codes[0] - codes[1]).sum()


def test_the_expected_release_is_the_mean_of_releases() -> None:
    m = make_as(Latent, epsilon=6.0, domain=Box(-1, 1, (4,)), whole=0, fraction=2)
    x = torch.tensor([0.8, -0.3, 0.0, -1.0], dtype=torch.float64)
    expected = m.expected_release(x[None])[0]
    check_mean(releases(m, x, 40_000), expected, deviations=5.3)  # false alarms: 5e-7
    assert expected[2] > 0  # a zero has the sign bit of +0
