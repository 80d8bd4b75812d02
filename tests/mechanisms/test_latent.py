import math

import numpy as np
import pytest
import torch
from typed import make_as

from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.bits import bit_count, flip_mask
from tensorldp.mechanisms.latent import Latent, decode_bits, encode_bits
from tensorldp.randomness import generator

MNIST = Box(-16, 16, (9216,))
CIFAR = Box(-4, 4, (2304,))


@pytest.mark.parametrize(("n", "m"), [(4, 5), (2, 7), (0, 1), (1, 0), (11, 12), (3, 4), (0, 23), (23, 0), (5, 7)])
@pytest.mark.parametrize("size", [1, 7, 8, 9, 33])
def test_codec_is_exact_within_its_precision(n: int, m: int, size: int) -> None:
    source = generator("codec", n, m, size)
    codes = torch.randint(0, 1 << (n + m), (20, size), generator=source, dtype=torch.float64)
    signs = torch.randint(0, 2, (20, size), generator=source, dtype=torch.float64) * 2 - 1
    x = codes * signs / 2**m
    packed = encode_bits(x, whole_bits=n, fraction_bits=m)
    assert packed.shape == (20, math.ceil(size * (1 + n + m) / 8))
    for dtype in (torch.float32, torch.float64):
        back = decode_bits(packed, (size,), whole_bits=n, fraction_bits=m, dtype=dtype)
        assert torch.equal(back, x.to(dtype))
    between = x + signs * 0.7 / 2**m
    assert torch.equal(encode_bits(between, whole_bits=n, fraction_bits=m), packed)  # floor(2^m |x|), Eq. 5


def test_bits_are_sign_whole_fraction_most_significant_first() -> None:
    packed = encode_bits(torch.tensor([[-5.25, 0.5]]), whole_bits=4, fraction_bits=5)
    bits = np.unpackbits(packed.numpy()[0])
    assert "".join(map(str, bits[:20])) == "1010101000" + "0000010000"
    assert not bits[20:].any()


def test_saturation_and_signed_zero() -> None:
    x = torch.tensor([[1e9, -1e9, 16.0, -0.0, 15.99]])
    assert decode_bits(encode_bits(x), (5,)).tolist() == [[15.96875, -15.96875, 15.96875, 0.0, 15.96875]]
    assert bool(torch.signbit(decode_bits(encode_bits(x), (5,)))[0, 3])


def test_bit_counts() -> None:
    assert bit_count(4, 5) == 10
    for n, m in ((0, 0), (12, 12), (-1, 5)):
        with pytest.raises(InputError):
            bit_count(n, m)
    with pytest.raises(InputError, match="reading"):
        make("latent", epsilon=1, domain=MNIST, reading="C")
    with pytest.raises(InputError, match="bits"):
        make("latent", epsilon=1, domain=MNIST, whole=20, fraction=20)


def test_keep_probabilities() -> None:
    m = make_as(Latent, epsilon=0.5, domain=MNIST)
    assert 0.5 - m.flip == pytest.approx(1.35634e-6, rel=1e-4)
    c = make_as(Latent, epsilon=0.5, domain=CIFAR, whole=2, fraction=7)
    assert 0.5 - c.flip == pytest.approx(5.42535e-6, rel=1e-4)
    assert m.signal / 2 == pytest.approx(0.5 - m.flip, rel=1e-9)


@pytest.mark.parametrize(
    ("box", "options", "expected"), [(MNIST, {}, 101_248), (CIFAR, {"whole": 2, "fraction": 7}, 25_312)]
)
def test_guarantees(box: Box, options: dict[str, int], expected: int) -> None:
    a = make("latent", epsilon=0.5, domain=box, **options)
    assert a.guarantee(0.0).epsilon == pytest.approx(0.5)
    assert a.guarantee(0.0).exact
    b = make("latent", epsilon=0.5, domain=box, reading="B", **options)
    assert b.guarantee(0.0).epsilon == pytest.approx(expected, abs=0.6)


def test_reading_b_at_delta() -> None:
    b = make("latent", epsilon=0.5, domain=MNIST, reading="B")
    assert b.guarantee(1e-5).epsilon == pytest.approx(51_856, rel=1e-3)
    c = make("latent", epsilon=0.5, domain=CIFAR, whole=2, fraction=7, reading="B")
    assert c.guarantee(1e-5).epsilon == pytest.approx(13_272, rel=1e-3)


def test_two_coins_of_bias_a_half() -> None:
    b = make_as(Latent, epsilon=1e-12, domain=Box(0, 1, (1,)), whole=0, fraction=1, reading="B")
    assert 1 - b.flip == pytest.approx(0.75)  # the counterexample P(1|1) = 0.75


@pytest.mark.parametrize("flip", [0.4999, 0.49, 0.31, 0.25, 0.2, 0.1, 0.02, 0.001])
def test_flip_mask(flip: float) -> None:
    bits = np.unpackbits(flip_mask(100_000, flip, 1 - 2 * flip, generator("mask", flip))).reshape(-1, 8)
    spread = math.sqrt(flip * (1 - flip))
    assert bits.mean() == pytest.approx(flip, abs=5 * spread / math.sqrt(bits.size))
    centred = bits - flip
    covariance = centred.T @ centred / len(bits) - spread**2 * np.eye(8)
    assert np.abs(covariance).max() < 6 * spread / math.sqrt(len(bits))


def test_privatize_is_the_packed_path() -> None:
    m = make_as(Latent, epsilon=60.0, domain=Box(-3, 3, (4, 3)), whole=2, fraction=3)
    x = 6 * torch.rand(50, 4, 3, generator=generator("x")) - 3
    packed = m.privatize_bits(encode_bits(x, whole_bits=2, fraction_bits=3), generator("same"))
    expected = decode_bits(packed, (4, 3), whole_bits=2, fraction_bits=3)
    assert torch.equal(m.privatize(x, generator("same")), expected)
    assert int((packed[:, -1] & 0x0F).max()) >= 0
    odd = make_as(Latent, epsilon=0.1, domain=Box(-3, 3, (3,)), whole=2, fraction=3)
    noisy = odd.privatize_bits(torch.zeros(1000, 3, dtype=torch.uint8), generator("unused"))
    assert int((noisy[:, -1] & 0x3F).max()) == 0


def test_expected_flips() -> None:
    m = make_as(Latent, epsilon=4.0, domain=Box(-2, 2, (5,)), whole=1, fraction=6)
    packed = torch.zeros(20_000, 5, dtype=torch.uint8)
    flips = np.unpackbits(m.privatize_bits(packed, generator("hamming")).numpy()).reshape(20_000, -1).sum(axis=1)
    expected = 40 * m.flip
    assert flips.mean() == pytest.approx(expected, abs=5 * math.sqrt(expected * (1 - m.flip) / 20_000))


@pytest.mark.parametrize("value", [0.0, 1.40625, -2.5, 3.96875])
def test_value_error_oracle(value: float) -> None:
    """docs/mathematics/samplers.md#bits, by enumeration of every flip of one code."""
    m = make_as(Latent, epsilon=1.3, domain=Box(-4, 4, (1,)), whole=2, fraction=5)
    q = 1 - m.flip
    code = int(abs(value) * 32) | (128 if value < 0 else 0)
    total = 0.0
    for other in range(256):
        distance = (code ^ other).bit_count()
        decoded = (-1 if other & 128 else 1) * (other & 127) / 32
        total += q ** (8 - distance) * (1 - q) ** distance * (decoded - value) ** 2
    assert m._element_error(value) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("box", [(-1, 1), (-4, 4), (0.3, 2.2), (-0.4, 3), (-3, -1), (-100, 100)])
def test_widest_pair_by_enumeration(box: tuple[float, float]) -> None:
    m = make_as(Latent, epsilon=1.0, domain=Box(*box, (1,)), whole=2, fraction=4)
    grid = torch.linspace(box[0], box[1], 3001, dtype=torch.float64)
    codes = np.unpackbits(encode_bits(grid.unsqueeze(1), whole_bits=2, fraction_bits=4).numpy(), axis=1)
    codes = np.unique(codes, axis=0).astype(int)
    best = np.abs(codes[:, None] - codes[None]).sum(axis=2).max()
    first, second, distance = m._widest_pair()
    assert distance == best
    pair = np.unpackbits(
        encode_bits(torch.tensor([[first], [second]], dtype=torch.float64), whole_bits=2, fraction_bits=4).numpy(),
        axis=1,
    ).astype(int)
    assert np.abs(pair[0] - pair[1]).sum() == best


def test_packed_shape_is_checked() -> None:
    m = make_as(Latent, epsilon=1.0, domain=Box(-1, 1, (8,)))
    for bad in (torch.zeros(2, 9, dtype=torch.uint8), torch.zeros(2, 10), None):
        with pytest.raises(InputError):
            m.privatize_bits(bad, generator("bad"))  # type: ignore[arg-type]
    with pytest.raises(InputError):
        decode_bits(torch.zeros(2, 9, dtype=torch.uint8), (8,))


def test_the_expected_release_is_the_mean_of_releases() -> None:
    mechanism = make_as(Latent, "latent", epsilon=6.0, domain=Box(-1, 1, (4,)), whole=0, fraction=2)
    x = torch.tensor([0.8, -0.3, 0.0, -1.0], dtype=torch.float64)
    count = 40_000
    released = mechanism.privatize(x.expand(count, 4).contiguous(), generator("mean"))
    expected = mechanism.expected_release(x[None])[0]
    deviation = released.std(dim=0) / math.sqrt(count)
    assert bool(((released.mean(dim=0) - expected).abs() < 5.3 * deviation).all())  # false alarms: 5e-7
    assert expected[2] > 0  # a zero has the sign bit of +0
