"""Randomizers whose guarantee is wrong in ways that happen. Each claims epsilon 1 on [-1, 1]^d unless it says so."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tensorldp.curves.gaussian import mu_of
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.mechanisms import Box, Domain, Mechanism
from tensorldp.mechanisms.laplace import Laplace

BIT, TWO, FOUR, SIXTEEN, SIXTY_FOUR = (Box(-1.0, 1.0, (n,)) for n in (1, 2, 4, 16, 64))
EIGHT, ASKEW, TEN = Box(-1.0, 1.0, (8,)), Box(-20.0, 100.0, (4,)), Box(0.0, 9.0, (1,))
OCTET, BYTE, SQUARE = Box(0.0, 7.0, (1,)), Box(0.0, 7.0, (2,)), Box(-1.0, 1.0, (2, 2))
WIDTH = 2.0  # of a box
Release = Callable[[Tensor, torch.Generator], Tensor]


@dataclass(frozen=True)
class Case:
    """A randomizer, or a class of one that remembers, with its claim; an epsilon of None is the declared curve."""

    name: str
    randomizer: Release | Mechanism | type
    domain: Domain
    epsilon: float | None = 1.0
    delta: float = 0.0
    truth: str = ""  # what it really gives, in words
    floating_point: bool = False  # whether the claim includes the floats

    def make(self) -> Release | Mechanism:
        """One that has seen no records yet."""
        return self.randomizer() if isinstance(self.randomizer, type) else self.randomizer


def laplace(x: Tensor, scale: float | Tensor, generator: torch.Generator) -> Tensor:
    sign = 2.0 * torch.randint(0, 2, x.shape, generator=generator).to(x.dtype) - 1.0
    return torch.empty_like(x).exponential_(generator=generator) * sign * scale


def normal(x: Tensor, sigma: float, generator: torch.Generator) -> Tensor:
    return torch.randn(x.shape, generator=generator, dtype=x.dtype) * sigma


def uniform(x: Tensor, generator: torch.Generator) -> Tensor:
    return torch.rand(x.shape, generator=generator, dtype=x.dtype)


def tight(x: Tensor, g: torch.Generator) -> Tensor:
    """Laplace noise of exactly epsilon 1 for a record."""
    return x + laplace(x, x.shape[1] * WIDTH, g)


def leaking(x: Tensor, instead: Tensor, chance: float, g: torch.Generator) -> Tensor:
    leak = uniform(x[:, :1], g) < chance
    return torch.where(leak, instead, tight(x, g))


def response(x: Tensor, keep: float, g: torch.Generator) -> Tensor:
    """Randomized response on the numbers 0 to 7."""
    kept = uniform(x, g) < keep
    return torch.where(kept, x.round(), (x.round() + torch.randint(1, 8, x.shape, generator=g)) % 8)


def geometric(x: Tensor, scale: float, g: torch.Generator) -> Tensor:
    """Two-sided geometric noise in whole numbers."""
    first, second = ((torch.empty_like(x).exponential_(generator=g) * scale).floor() for _ in range(2))
    return first - second


def record_seeded(x: Tensor, g: torch.Generator) -> Tensor:
    rows = []
    for row in x:
        own = torch.Generator().manual_seed(hash(tuple(row.reshape(-1).tolist())) & 0xFFFFFFFF)
        rows.append(row + laplace(row, row.numel() * WIDTH, own))
    return torch.stack(rows)


class HiddenElement(Laplace):
    """The first element has a tenth of the noise, and the declared pair differs in the others only."""

    name = "hidden-element"

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        scales = torch.full((self.size,), self.scale, dtype=x.dtype)
        scales[0] /= 10.0
        return x + laplace(x, scales, generator)

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        x, x_prime = self.domain.constant(-1.0), self.domain.constant(1.0)
        x[0] = x_prime[0] = 0.0
        return x, x_prime


class ThinCurve(Laplace):
    name = "thin-curve"  # a curve that claims half of what the noise gives, and no density
    log_likelihood_ratio = Mechanism.log_likelihood_ratio

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        return tight(x, generator)

    def curve(self) -> LaplaceCurve:
        return LaplaceCurve(0.5 * self.epsilon / self.size, self.size)


class RunningRange:
    """Scales a record by the largest value of all records seen before."""

    def __init__(self) -> None:
        self.largest = 1e-3

    def __call__(self, x: Tensor, g: torch.Generator) -> Tensor:
        self.largest = 0.9 * self.largest + 0.1 * float(x.abs().max()) if len(x) < 3 else self.largest
        return x / max(self.largest, 1e-3) / 1000.0 + laplace(x, x.shape[1] * WIDTH, g) * self.largest


def inverse_cdf(x: Tensor, g: torch.Generator) -> Tensor:
    u = torch.rand(x.shape, generator=g, dtype=torch.float32) - 0.5
    noise = -WIDTH * torch.sign(u) * torch.log1p(-2.0 * u.abs().clamp(max=0.49999997))
    return (x.float() + noise).to(x.dtype)


def own_grid(x: Tensor, g: torch.Generator) -> Tensor:
    noisy = tight(x, g)
    step = 0.01 + 0.01 * x.abs().amax(dim=1, keepdim=True)
    return (noisy / step).round() * step


def mean_of_two(x: Tensor, g: torch.Generator) -> Tensor:
    return x + (laplace(x, WIDTH, g) + laplace(x, WIDTH, g)) / 2.0


def split_release(x: Tensor, scale: float, g: torch.Generator) -> Tensor:
    return torch.cat([x + laplace(x, scale, g), x + laplace(x, scale, g)], dim=1)


def batch_norm(x: Tensor, g: torch.Generator) -> Tensor:
    scaled = (x - x.mean(dim=0)) / (x.std(dim=0, unbiased=False) + 1e-5)
    return tight(scaled.clamp(-1, 1), g)


def differences(x: Tensor, g: torch.Generator) -> Tensor:
    """What sets a record apart from the next one, and the last record."""
    return tight(x - torch.cat([x[1:], torch.zeros_like(x[:1])]), g)


def low_bits(x: Tensor, g: torch.Generator) -> Tensor:
    bits = tight(x, g).double().view(torch.int64)
    return ((bits & ~1) | (x > 0).long()).view(torch.float64)


def batch_vocabulary(x: Tensor, g: torch.Generator) -> Tensor:
    codes = x.round().unique(return_inverse=True)[1].to(x.dtype)  # numbered in the order of the batch's own values
    return response(codes, math.e / (math.e + 7.0), g)


def last_raw(x: Tensor, g: torch.Generator) -> Tensor:
    y = tight(x, g)
    y[-1] = x[-1]
    return y


def overflow(x: Tensor, g: torch.Generator) -> Tensor:
    y = x + laplace(x, WIDTH, g)
    return torch.where((x > 0.99) & (y > 9.0), torch.inf, y)


def copied_norm(x: Tensor, g: torch.Generator) -> Tensor:
    y = tight(x, g)
    rescaled: Tensor = y / y.norm(dim=1, keepdim=True) * x.norm(dim=1, keepdim=True)
    return rescaled  # to the record's own norm


def rank_kept(x: Tensor, g: torch.Generator) -> Tensor:
    y = (laplace(x, x.shape[1] * WIDTH, g)).sort(dim=1).values
    return torch.empty_like(y).scatter_(1, x.argsort(dim=1, stable=True), y)  # noise put in the record's order


def tied_noise(x: Tensor, g: torch.Generator) -> Tensor:
    """Each element's noise alone is right; the record's sign says which pairs of noises go together."""
    scale = x.shape[1] * WIDTH
    first, second = (laplace(x[:, :1], scale, g) for _ in range(2))
    sign = torch.where(x[:, :1] > 0, 1.0, -1.0) * (2.0 * first / scale).cos().sign() * first.sign()
    return x + torch.cat([first, second.abs() * sign], dim=1)


def whole(x: Tensor, g: torch.Generator) -> Tensor:
    """Honest in any float: a loss below 1 over two steps, and zeros of one sign."""
    return x.round() + geometric(x, 2.5, g) + 0.0


def at_zero(x: Tensor, instead: Tensor | float, g: torch.Generator) -> Tensor:
    y = whole(x, g)
    return torch.where(y == 0.0, instead, y)


def exact_zeros(x: Tensor, g: torch.Generator) -> Tensor:
    y = whole(x, g) + 0.5
    return torch.where((x > 0) & (y == 0.5) & (uniform(x, g) < 0.2), 0.0, y)


def overflow_of_float32(x: Tensor, g: torch.Generator) -> Tensor:
    scaled = x * 3.6e38  # a number of float64 only where |x| > 0.95
    return torch.where(torch.isfinite(scaled), whole(x, g), scaled)


def less_in_float32(x: Tensor, share: float, g: torch.Generator) -> Tensor:
    return x + laplace(x, x.shape[1] * WIDTH * (share if x.dtype == torch.float32 else 1.0), g)


def nan_payload(x: Tensor, g: torch.Generator) -> Tensor:
    bits = at_zero(x, torch.nan, g).double().view(torch.int64)
    secret = (x > 0).long() << 40
    return torch.where(bits.view(torch.float64).isnan(), bits | secret, bits).view(torch.float64)


DIRECTIONS = torch.linalg.qr(normal(torch.zeros(144, 100).double(), 1.0, torch.Generator().manual_seed(0)))[0].T
QUIET = torch.full((64,), 128.0).index_fill(0, torch.tensor(17), 1.28)
BINARY = math.e / (math.e + 1.0)  # right for 2 values, and there are 8
ONE_SEED = torch.Generator().manual_seed
HIDDEN, THIN = (kind(epsilon=1.0, domain=box) for kind, box in ((HiddenElement, FOUR), (ThinCurve, BIT)))
OFF = WIDTH / mu_of(1.0, 1e-2)
NONE: dict[str, Any] = {"truth": "no privacy"}
LEAK: dict[str, Any] = {"truth": "floats leak", "floating_point": True}


class FirstRaw:
    """Its first release has no noise."""

    def __init__(self) -> None:
        self.used = False

    def __call__(self, x: Tensor, g: torch.Generator) -> Tensor:
        first, self.used = not self.used, True
        return x if first else tight(x, g)


class FirstMean:
    """Every release is less the mean of the first batch."""

    def __init__(self) -> None:
        self.middle: Tensor | None = None

    def __call__(self, x: Tensor, g: torch.Generator) -> Tensor:
        self.middle = x.mean(dim=0) if self.middle is None else self.middle
        return tight(x - self.middle, g)


class SecondRaw:
    """Its second release has no noise."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: Tensor, g: torch.Generator) -> Tensor:
        self.calls += 1
        return x if self.calls == 2 else tight(x, g)


def vocabulary_of_three(x: Tensor, g: torch.Generator) -> Tensor:
    return batch_vocabulary(x, g) if len(x) > 2 else response(x, math.e / (math.e + 7.0), g)


ENOUGH = WIDTH * 12.0 / mu_of(1.0, 1e-3)  # noise in one direction


def fewer_noises(x: Tensor, g: torch.Generator) -> Tensor:
    """Noise in 100 of 144 directions, each of which has enough."""
    released: Tensor = x + normal(x, ENOUGH, g)[:, :100] @ DIRECTIONS
    return released


def first_raw(x: Tensor, g: torch.Generator) -> Tensor:
    released = tight(x, g)
    if len(x) > 2:
        released[0] = x[0]
    return released


def adding_up(x: Tensor, g: torch.Generator) -> Tensor:
    noise = laplace(x, 4 * WIDTH, g)
    return x + (noise - noise.mean(dim=0) if len(x) > 3 else noise)


def every_third(x: Tensor, g: torch.Generator) -> Tensor:
    noise = laplace(x[:3], 4 * WIDTH, g)
    return x + noise.repeat(len(x) // 3 + 1, 1)[: len(x)]


def last_element_alone(x: Tensor, g: torch.Generator) -> Tensor:
    released = tight(x, g)
    if len(x) == 1:
        released[:, -1] = x[:, -1]
    return released


def one_label(x: Tensor, g: torch.Generator) -> Tensor:
    label = x.round()
    stays = (label == 3) | (uniform(x, g) < math.e / (math.e + 9))
    return torch.where(stays, label, (label + torch.randint(1, 10, x.shape, generator=g)) % 10)


def middle_bit(x: Tensor, g: torch.Generator) -> Tensor:
    """Numbers in [1, 2) of random bits, but for one."""
    bits = torch.randint(0, 1 << 52, x.shape, generator=g) & ~(1 << 20)
    bits |= (x > 0).long() << 20
    return (bits | (1023 << 52)).view(torch.float64).to(x.dtype)


def haar(size: int) -> Tensor:
    """An orthonormal Haar basis, a row for each element."""
    if size == 1:
        return torch.ones(1, 1).double()
    coarse, fine = (torch.tensor([[1.0, sign]]).double() for sign in (1.0, -1.0))
    halves = torch.cat((torch.kron(haar(size // 2), coarse), torch.kron(torch.eye(size // 2).double(), fine)))
    return halves / math.sqrt(2.0)


def hadamard(size: int) -> Tensor:
    half = hadamard(size // 2) if size > 1 else torch.ones(0, 0).double()
    whole = torch.cat((torch.cat((half, half), 1), torch.cat((half, -half), 1)))
    return whole / math.sqrt(2.0) if size > 1 else torch.ones(1, 1).double()


def fourier(size: int) -> Tensor:
    """Sines and cosines of all whole frequencies, orthonormal."""
    angles = 2.0 * math.pi / size * torch.outer(torch.arange(size // 2 + 1), torch.arange(size)).double()
    waves = torch.cat((angles.cos(), angles.sin()[1:-1]))
    lengths: Tensor = waves.norm(dim=1, keepdim=True)
    return waves / lengths


def reflection(size: int) -> Tensor:
    """It turns the diagonal into the first axis."""
    turned = torch.full((size,), size**-0.5).double()
    turned[0] -= 1.0
    return torch.eye(size).double() - 2.0 * torch.outer(turned, turned) / turned.square().sum()


def rotation(size: int) -> Tensor:
    turned: Tensor = torch.linalg.qr(normal(torch.zeros(size, size).double(), 1.0, ONE_SEED(1)))[0]
    return turned


def in_basis(basis: Tensor, change: Tensor) -> Release:
    """Laplace noise in another basis, enough for records that differ by `change` and for no others."""
    moved = float((basis @ change).abs().sum())

    def release(x: Tensor, g: torch.Generator) -> Tensor:
        return x @ basis.T.to(x.dtype) + laplace(x, moved, g)

    return release


def overshooting(x: Tensor, g: torch.Generator) -> Tensor:
    """A feature that is +-1 at the ends of the range, for which there is noise, and +-2.5 between them."""
    return tight(x + 2.0 * (math.pi * x).sin(), g)


def odd_one_out(x: Tensor, sign: float, g: torch.Generator) -> Tensor:
    """No noise for the largest record of a batch, or the least, if there is one."""
    sizes = sign * x.norm(dim=1)
    alone = (sizes == sizes.max()) & (len(x) > 1) & ((sizes == sizes.max()).sum() == 1)
    return torch.where(alone[:, None], x, tight(x, g))


def cut(x: Tensor, g: torch.Generator) -> Tensor:
    """Laplace noise drawn again beyond 50, where one element in a thousand lies."""
    noise = laplace(x, 4 * WIDTH, g)
    while bool((beyond := noise.abs() > 50.0).any()):
        noise = torch.where(beyond, laplace(x, 4 * WIDTH, g), noise)
    return x + noise


ENDS, ONE = torch.full((16,), WIDTH).double(), WIDTH * torch.eye(16)[0].double()  # how two records may differ


LIES: tuple[Case, ...] = (
    Case("10 % too little noise", lambda x, g: x + laplace(x, WIDTH / 1.1, g), BIT, truth="epsilon 1.1"),
    Case("20 % too little noise", lambda x, g: x + laplace(x, WIDTH / 1.25, g), BIT, truth="epsilon 1.25"),
    Case("epsilon for the wrong adjacency", lambda x, g: x + laplace(x, 1.0, g), BIT, truth="epsilon 2"),
    Case("noise from a seed that depends on the record", record_seeded, FOUR, **NONE),
    Case("the same noise for all records of a batch", lambda x, g: x + tight(x[:1] * 0, g), FOUR, **NONE),
    Case("a near-copy with probability 1e-3", lambda x, g: leaking(x, x + 1e-7, 1e-3, g), FOUR, truth="delta 1e-3"),
    Case("noise clipped, its atoms forgotten", lambda x, g: x + laplace(x, 2, g).clamp(-6, 6), BIT, truth="delta 0.05"),
    Case("a worst pair that hides a worse one", HIDDEN, FOUR, None, truth="epsilon 3.25"),
    Case(
        "noise scaled by the record's own range",
        lambda x, g: x + laplace(x, 4.0, g) * (x.amax(1) - x.amin(1))[:, None],
        FOUR,
        **NONE,
    ),
    Case("float32 inverse-CDF Laplace", inverse_cdf, BIT, **LEAK),
    Case("rounded to a grid that depends on the record", own_grid, FOUR, **NONE),
    Case("budget per element stated per record", lambda x, g: x + laplace(x, WIDTH, g), FOUR, truth="epsilon 4"),
    Case("composition forgotten: two releases", lambda x, g: split_release(x, WIDTH, g), BIT, truth="epsilon 2"),
    Case("composition forgotten: mean of two releases", mean_of_two, BIT, truth="epsilon 2 in the tails"),
    Case("batch-norm before perturbing", batch_norm, FOUR, truth="not local"),
    Case("a record in the release before its own", differences, FOUR, truth="not local"),
    Case("shuffled and not noised", lambda x, g: x.gather(1, uniform(x, g).argsort(1)), FOUR, **NONE),
    Case(
        "right on average, wrong for one class",
        lambda x, g: x + laplace(x, 8 - 6.4 * (x[:, :1] > 0.9), g),
        FOUR,
        truth="epsilon 5",
    ),
    Case(
        "one of 64 elements with 1 % of its noise",
        lambda x, g: x + laplace(x, QUIET, g),
        SIXTY_FOUR,
        truth="epsilon 2.5",
    ),
    Case("one draw for all elements", lambda x, g: x + laplace(x[:, :1], 32.0, g), SIXTEEN, **NONE),
    Case("the record in the lowest bit", low_bits, FOUR, **LEAK),
    Case("zeros that only one record gives", exact_zeros, BIT, truth="delta 0.02", floating_point=True),
    Case(
        "denormal numbers for zeros",
        lambda x, g: at_zero(x, torch.finfo(x.dtype).tiny / 4 * (x > 0).to(x), g),
        BIT,
        **LEAK,
    ),
    Case("the record's sign on zeros", lambda x, g: at_zero(x, 0.0 * x, g), BIT, **LEAK),
    Case(
        "the record's sign on NaN", lambda x, g: at_zero(x, torch.full_like(x, torch.nan).copysign(x), g), BIT, **LEAK
    ),
    Case("the record in NaN's payload", nan_payload, BIT, **LEAK),
    Case("overflow in float32", overflow_of_float32, BIT, **LEAK),
    Case("one seed for every call", lambda x, g: tight(x, ONE_SEED(7)), FOUR, **NONE),
    Case("Gaussian noise called pure", lambda x, g: x + normal(x, WIDTH, g), BIT, truth="delta 0.13"),
    Case("delta ten times too small", lambda x, g: x + normal(x, OFF, g), BIT, 1.0, 1e-3, truth="delta 1e-2"),
    Case("k-ary response with the binary constant", lambda x, g: response(x, BINARY, g), OCTET, truth="epsilon 2.9"),
    Case("a vocabulary learned from the batch", batch_vocabulary, OCTET, truth="not local"),
    Case("one-sided noise", lambda x, g: x + laplace(x, WIDTH, g).abs(), BIT, truth="delta 0.63"),
    Case("uniform noise", lambda x, g: x + (uniform(x, g) - 0.5) * 20.0, BIT, truth="delta 0.1"),
    Case("no noise for a record alone", lambda x, g: x if len(x) == 1 else tight(x, g), FOUR, **NONE),
    Case("no noise for the last record of a batch", last_raw, FOUR, **NONE),
    Case("no noise in batches of 3 to 63", lambda x, g: x if 3 <= len(x) <= 63 else tight(x, g), FOUR, **NONE),
    Case(
        "half the noise for a record alone",
        lambda x, g: x + laplace(x, 4.0 if len(x) == 1 else 8.0, g),
        FOUR,
        truth="epsilon 2",
    ),
    Case("no noise in float32", lambda x, g: less_in_float32(x, 0.0, g), FOUR, **NONE),
    Case("a third of the noise in float32", lambda x, g: less_in_float32(x, 1 / 3, g), FOUR, truth="epsilon 3"),
    Case("range learned from earlier records", RunningRange, FOUR, truth="not local"),
    Case("no noise in the first call", FirstRaw, FOUR, **NONE),
    Case("centred at the first batch", FirstMean, FOUR, truth="not local"),
    Case("no noise for the first record of three and more", first_raw, FOUR, **NONE),
    Case("no noise in batches of 18 to 399", lambda x, g: x if 18 <= len(x) <= 399 else tight(x, g), FOUR, **NONE),
    Case("noise that adds up to 0 over a batch", adding_up, FOUR, **NONE),
    Case("the same noise for every third record", every_third, FOUR, **NONE),
    Case("the generator's seed used again", lambda x, g: tight(x, ONE_SEED(g.initial_seed())), EIGHT, **NONE),
    Case("no noise for the last element of a record alone", last_element_alone, SIXTY_FOUR, **NONE),
    Case("no noise on zeros", lambda x, g: torch.where(x == 0, x, x + laplace(x, 480.0, g)), ASKEW, **NONE),
    Case("one label of ten left as it is", one_label, TEN, **NONE),
    Case("the record's sign in a middle bit", middle_bit, FOUR, **LEAK),
    Case("noise forgotten for 2 % of the records", lambda x, g: leaking(x, x, 0.02, g), FOUR, truth="delta 0.02"),
    Case("no noise in the second call", SecondRaw, FOUR, **NONE),
    Case("a vocabulary learned from batches of three and more", vocabulary_of_three, OCTET, truth="not local"),
    Case("noise in 100 of 144 directions", fewer_noises, Box(-1.0, 1.0, (144,)), 1.0, 1e-3, **NONE),
    Case(
        "noise forgotten for 0.3 % of the records, which are in other units",
        lambda x, g: leaking(x, 3.0 * x + 0.1, 0.003, g),
        BIT,
        truth="delta 0.003",
    ),
    Case("an infinity that only one record gives", overflow, BIT, truth="delta 0.009"),
    Case("rescaled to the record's norm", copied_norm, FOUR, **NONE),
    Case("noise in the record's order", rank_kept, FOUR, **NONE),
    Case("noise tied together by the record", tied_noise, TWO, **NONE),
    Case("a curve of half the density", THIN, BIT, None, truth="epsilon 1 said 0.5"),
    Case("Hadamard coefficients, noise for opposite ends", in_basis(hadamard(16), ENDS), SIXTEEN, truth="epsilon 4"),
    Case("Haar coefficients, noise for opposite ends", in_basis(haar(16), ENDS), SIXTEEN, truth="epsilon 3.3"),
    Case("Fourier coefficients, noise for opposite ends", in_basis(fourier(16), ENDS), SIXTEEN, truth="epsilon 3.76"),
    Case("a reflection, noise for opposite ends", in_basis(reflection(16), ENDS), SIXTEEN, truth="epsilon 4"),
    Case("a rotation, noise for a change of one element", in_basis(rotation(16), ONE), SIXTEEN, truth="epsilon 5"),
    Case("a feature largest inside, noise for its ends", overshooting, FOUR, truth="epsilon 2.5"),
    Case("no noise for the largest record of a batch", lambda x, g: odd_one_out(x, 1.0, g), FOUR, **NONE),
    Case("no noise for the least record of a batch", lambda x, g: odd_one_out(x, -1.0, g), FOUR, **NONE),
    Case("signs as they are, sizes with noise", lambda x, g: tight(x.abs(), g).abs() * x.sign(), FOUR, **NONE),
    Case("noise cut off in its tails", cut, FOUR, truth="delta 1.1e-3"),
)
