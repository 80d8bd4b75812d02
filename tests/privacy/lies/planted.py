"""Randomizers whose guarantee is wrong in ways that happen. Each claims epsilon 1 on [-1, 1]^d unless it says so."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from case import BIT, FOUR, SIXTEEN, SIXTY_FOUR, TWO, Case, laplace, normal, uniform
from torch import Tensor

from tensorldp.curves.gaussian import mu_of
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.mechanisms import Box, Mechanism

WIDTH = 2.0


def little_noise(factor: float) -> Callable[[Tensor, torch.Generator], Tensor]:
    def ten_percent_less(x: Tensor, g: torch.Generator) -> Tensor:
        return x + laplace(x, WIDTH / factor, g)

    return ten_percent_less


def wrong_adjacency(x: Tensor, g: torch.Generator) -> Tensor:
    return x + laplace(x, 1.0, g)  # the sensitivity of adding a record, not of replacing one


def record_seeded(x: Tensor, g: torch.Generator) -> Tensor:
    rows = []
    for row in x:
        own = torch.Generator().manual_seed(hash(tuple(row.reshape(-1).tolist())) & 0xFFFFFFFF)
        rows.append(row + laplace(row, row.numel() * WIDTH, own))
    return torch.stack(rows)


def one_noise_a_batch(x: Tensor, g: torch.Generator) -> Tensor:
    return x + laplace(x[:1], x[0].numel() * WIDTH, g)


def rare_near_copy(x: Tensor, g: torch.Generator) -> Tensor:
    leak = uniform(x[:, :1], g) < 1e-3
    return torch.where(leak, x + 1e-7, x + laplace(x, x.shape[1] * WIDTH, g))


def clipped_noise(x: Tensor, g: torch.Generator) -> Tensor:
    return x + laplace(x, WIDTH, g).clamp(-6.0, 6.0)  # the ends of the noise move with the record


class HiddenElement(Mechanism):
    """The first element has a tenth of the noise, and the declared pair differs in the others only."""

    name, domain_kind = "hidden-element", "box"

    @property
    def scales(self) -> Tensor:
        scales = torch.full((self.size,), self.size * WIDTH / self.epsilon, dtype=torch.float64)
        scales[0] /= 10.0
        return scales

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        return x + laplace(x, self.scales.to(x.dtype), generator)

    def squared_error(self) -> float:
        return float(2.0 * (self.scales**2).sum())

    def curve(self) -> LaplaceCurve:
        return LaplaceCurve(self.epsilon / self.size, self.size)

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        x, x_prime = self.domain.constant(-1.0), self.domain.constant(1.0)
        x[0] = x_prime[0] = 0.0
        return x, x_prime

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        y, x, x_prime = (self._flat(t) for t in (y, x, x_prime))
        return (((y - x_prime).abs() - (y - x).abs()) * self.epsilon / (self.size * WIDTH)).sum(dim=1)


def own_range(x: Tensor, g: torch.Generator) -> Tensor:
    spread = x.amax(dim=1, keepdim=True) - x.amin(dim=1, keepdim=True)
    return x + laplace(x, 1.0, g) * x.shape[1] * spread


def inverse_cdf(x: Tensor, g: torch.Generator) -> Tensor:
    u = torch.rand(x.shape, generator=g, dtype=torch.float32) - 0.5
    noise = -WIDTH * torch.sign(u) * torch.log1p(-2.0 * u.abs().clamp(max=0.49999997))
    return (x.float() + noise).to(x.dtype)


def own_grid(x: Tensor, g: torch.Generator) -> Tensor:
    noisy = x + laplace(x, x.shape[1] * WIDTH, g)
    step = 0.01 + 0.01 * x.abs().amax(dim=1, keepdim=True)
    return (noisy / step).round() * step


def per_element(x: Tensor, g: torch.Generator) -> Tensor:
    return x + laplace(x, WIDTH, g)


def two_releases(x: Tensor, g: torch.Generator) -> Tensor:
    return x + (laplace(x, WIDTH, g) + laplace(x, WIDTH, g)) / 2.0


def two_releases_seen(x: Tensor, g: torch.Generator) -> Tensor:
    return torch.cat([x + laplace(x, WIDTH, g), x + laplace(x, WIDTH, g)], dim=1)


def batch_norm(x: Tensor, g: torch.Generator) -> Tensor:
    scaled = (x - x.mean(dim=0)) / (x.std(dim=0, unbiased=False) + 1e-5)
    return scaled.clamp(-1, 1) + laplace(x, x.shape[1] * WIDTH, g)


def shuffled(x: Tensor, g: torch.Generator) -> Tensor:
    order = torch.argsort(uniform(x, g), dim=1)
    return x.gather(1, order)


def one_class(x: Tensor, g: torch.Generator) -> Tensor:
    favoured = (x[:, :1] > 0.9).to(x.dtype)
    return x + laplace(x, x.shape[1] * WIDTH, g) * (1.0 - 0.8 * favoured)


def quiet_element(x: Tensor, g: torch.Generator) -> Tensor:
    scale = torch.full((x.shape[1],), x.shape[1] * WIDTH, dtype=x.dtype)
    scale[17] /= 100.0
    return x + laplace(x, scale, g)


def one_draw(x: Tensor, g: torch.Generator) -> Tensor:
    return x + laplace(x[:, :1], x.shape[1] * WIDTH, g)


def low_bits(x: Tensor, g: torch.Generator) -> Tensor:
    bits = (x + laplace(x, x.shape[1] * WIDTH, g)).double().view(torch.int64)
    return ((bits & ~1) | (x > 0).long()).view(torch.float64)


def one_seed(x: Tensor, g: torch.Generator) -> Tensor:
    return x + laplace(x, x.shape[1] * WIDTH, torch.Generator().manual_seed(7))


def gaussian_called_pure(x: Tensor, g: torch.Generator) -> Tensor:
    return x + normal(x, WIDTH, g)


def gaussian_delta_off(x: Tensor, g: torch.Generator) -> Tensor:
    return x + normal(x, WIDTH / mu_of(1.0, 1e-2), g)


def wrong_denominator(x: Tensor, g: torch.Generator) -> Tensor:
    keep = uniform(x, g) < math.e / (math.e + 1.0)  # right for 2 values, and there are 8
    other = (x.round() + torch.randint(1, 8, x.shape, generator=g)) % 8
    return torch.where(keep, x.round(), other)


def batch_vocabulary(x: Tensor, g: torch.Generator) -> Tensor:
    codes = x.round().unique(return_inverse=True)[1].to(x.dtype)  # numbered in the order of the batch's own values
    keep = uniform(x, g) < math.e / (math.e + 7.0)
    return torch.where(keep, codes, (codes + torch.randint(1, 8, x.shape, generator=g)) % 8)


def one_sided(x: Tensor, g: torch.Generator) -> Tensor:
    return x + torch.empty_like(x).exponential_(generator=g) * WIDTH


def uniform_noise(x: Tensor, g: torch.Generator) -> Tensor:
    return x + (uniform(x, g) - 0.5) * 20.0


class RunningRange:
    """Scales a record by the largest value of all records seen before."""

    def __init__(self) -> None:
        self.largest = 1e-3

    def __call__(self, x: Tensor, g: torch.Generator) -> Tensor:
        self.largest = 0.9 * self.largest + 0.1 * float(x.abs().max()) if len(x) < 3 else self.largest
        return x / max(self.largest, 1e-3) / 1000.0 + laplace(x, x.shape[1] * WIDTH, g) * self.largest


def forgotten_row(x: Tensor, g: torch.Generator) -> Tensor:
    return torch.where(uniform(x[:, :1], g) < 0.02, x, x + laplace(x, x.shape[1] * WIDTH, g))


def overflow(x: Tensor, g: torch.Generator) -> Tensor:
    y = x + laplace(x, WIDTH, g)
    return torch.where((x > 0.99) & (y > 9.0), torch.inf, y)


def copied_norm(x: Tensor, g: torch.Generator) -> Tensor:
    y = x + laplace(x, x.shape[1] * WIDTH, g)
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
    """Honest, floats included: two-sided geometric noise of epsilon 1 on the rounded record, with zeros of one sign."""
    first, second = ((torch.empty_like(x).exponential_(generator=g) * WIDTH).floor() for _ in range(2))
    return x.round() + first - second + 0.0


def exact_zeros(x: Tensor, g: torch.Generator) -> Tensor:
    y = whole(x, g) + 0.5
    return torch.where((x > 0) & (y == 0.5) & (uniform(x, g) < 0.2), 0.0, y)


def tiny_numbers(x: Tensor, g: torch.Generator) -> Tensor:
    y = whole(x, g)
    return torch.where((x > 0) & (y == 0.0), torch.finfo(x.dtype).tiny / 4.0, y)


def signed_zeros(x: Tensor, g: torch.Generator) -> Tensor:
    y = whole(x, g)
    return torch.where(y == 0.0, torch.copysign(y, x), y)


def overflow_of_float32(x: Tensor, g: torch.Generator) -> Tensor:
    scaled = x * 3.6e38  # a number of float64 only where |x| > 0.95
    return torch.where(torch.isfinite(scaled), whole(x, g), scaled)


class ThinCurve(Mechanism):
    """A right density beside a curve that claims half of it, the rest right."""

    name, domain_kind = "thin-curve", "box"

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        return x + laplace(x, self.size * WIDTH / self.epsilon, generator)

    def squared_error(self) -> float:
        return 2.0 * self.size * (self.size * WIDTH / self.epsilon) ** 2

    def curve(self) -> LaplaceCurve:
        return LaplaceCurve(0.5 * self.epsilon / self.size, self.size)

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        return self.domain.constant(-1.0), self.domain.constant(1.0)


def _mechanism(cls: type[Mechanism], domain: Box) -> Callable[[], Mechanism]:
    return lambda: cls(epsilon=1.0, domain=domain)


OCTET = Box(0.0, 7.0, (1,))
LIES: tuple[Case, ...] = (
    Case("10 % too little noise", lambda: little_noise(1.1), BIT, truth="epsilon 1.1"),
    Case("20 % too little noise", lambda: little_noise(1.25), BIT, truth="epsilon 1.25"),
    Case("epsilon for the wrong adjacency", lambda: wrong_adjacency, BIT, truth="epsilon 2"),
    Case("noise from a seed that depends on the record", lambda: record_seeded, FOUR, truth="no privacy"),
    Case("the same noise for all records of a batch", lambda: one_noise_a_batch, FOUR, truth="no privacy"),
    Case("a near-copy with probability 1e-3", lambda: rare_near_copy, FOUR, truth="delta 1e-3"),
    Case("noise clipped, its atoms forgotten", lambda: clipped_noise, BIT, truth="delta 0.05"),
    Case("a worst pair that hides a worse one", _mechanism(HiddenElement, FOUR), FOUR, None, truth="epsilon 3.25"),
    Case("noise scaled by the record's own range", lambda: own_range, FOUR, truth="no privacy"),
    Case("float32 inverse-CDF Laplace", lambda: inverse_cdf, BIT, truth="floats leak", floating_point=True),
    Case("rounded to a grid that depends on the record", lambda: own_grid, FOUR, truth="no privacy"),
    Case("budget per element stated per record", lambda: per_element, FOUR, truth="epsilon 4"),
    Case("composition forgotten: two releases", lambda: two_releases_seen, BIT, truth="epsilon 2"),
    Case("composition forgotten: mean of two releases", lambda: two_releases, BIT, truth="epsilon 2 in the tails"),
    Case("batch-norm before perturbing", lambda: batch_norm, FOUR, truth="not local"),
    Case("shuffled and not noised", lambda: shuffled, FOUR, truth="no privacy"),
    Case("right on average, wrong for one class", lambda: one_class, FOUR, truth="epsilon 5"),
    Case("one of 64 elements with 1 % of its noise", lambda: quiet_element, SIXTY_FOUR, truth="epsilon 2.5"),
    Case("one draw for all elements", lambda: one_draw, SIXTEEN, truth="no privacy"),
    Case("the record in the lowest bit", lambda: low_bits, FOUR, truth="floats leak", floating_point=True),
    Case("zeros that only one record gives", lambda: exact_zeros, BIT, truth="delta 0.02", floating_point=True),
    Case("denormal numbers for zeros", lambda: tiny_numbers, BIT, truth="floats leak", floating_point=True),
    Case("the record's sign on zeros", lambda: signed_zeros, BIT, truth="floats leak", floating_point=True),
    Case("overflow in float32", lambda: overflow_of_float32, BIT, truth="floats leak", floating_point=True),
    Case("one seed for every call", lambda: one_seed, FOUR, truth="no privacy"),
    Case("Gaussian noise called pure", lambda: gaussian_called_pure, BIT, truth="delta 0.13"),
    Case("delta ten times too small", lambda: gaussian_delta_off, BIT, 1.0, 1e-3, truth="delta 1e-2"),
    Case("k-ary response with the binary constant", lambda: wrong_denominator, OCTET, truth="epsilon 2.9"),
    Case("a vocabulary learned from the batch", lambda: batch_vocabulary, OCTET, truth="not local"),
    Case("one-sided noise", lambda: one_sided, BIT, truth="delta 0.63"),
    Case("uniform noise", lambda: uniform_noise, BIT, truth="delta 0.1"),
    Case("range learned from earlier records", RunningRange, FOUR, truth="not local"),
    Case("noise forgotten for 2 % of the records", lambda: forgotten_row, FOUR, truth="delta 0.02"),
    Case("an infinity that only one record gives", lambda: overflow, BIT, truth="delta 0.009"),
    Case("rescaled to the record's norm", lambda: copied_norm, FOUR, truth="no privacy"),
    Case("noise in the record's order", lambda: rank_kept, FOUR, truth="no privacy"),
    Case("noise tied together by the record", lambda: tied_noise, TWO, truth="no privacy"),
    Case("a curve of half the density", _mechanism(ThinCurve, BIT), BIT, None, truth="epsilon 1 said 0.5"),
)
