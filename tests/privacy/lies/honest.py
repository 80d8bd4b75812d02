"""Randomizers whose guarantee is right, some of them by a hair."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from case import BIT, FOUR, SIXTEEN, Case, laplace, normal, uniform
from planted import OCTET, WIDTH
from torch import Tensor

from tensorldp.curves.gaussian import mu_of
from tensorldp.mechanisms import Ball, Box, Mechanism, make


def tight_laplace(x: Tensor, g: torch.Generator) -> Tensor:
    return x + laplace(x, x.shape[1] * WIDTH, g)


def tight_gaussian(x: Tensor, g: torch.Generator) -> Tensor:
    return x + normal(x, WIDTH * math.sqrt(x.shape[1]) / mu_of(1.0, 1e-3), g)


def clipped_output(x: Tensor, g: torch.Generator) -> Tensor:
    return tight_laplace(x, g).clamp(-2.0, 2.0)


def fixed_grid(x: Tensor, g: torch.Generator) -> Tensor:
    return (tight_laplace(x, g) / 0.25).round() * 0.25


def shuffled_after(x: Tensor, g: torch.Generator) -> Tensor:
    y = tight_laplace(x, g)
    return y.gather(1, torch.argsort(uniform(x, g), dim=1))


def split_budget(x: Tensor, g: torch.Generator) -> Tensor:
    return torch.cat([x + laplace(x, 2 * WIDTH, g), x + laplace(x, 2 * WIDTH, g)], dim=1)


def one_element(x: Tensor, g: torch.Generator) -> Tensor:
    chosen = torch.randint(x.shape[1], (len(x), 1), generator=g)
    noisy = x.gather(1, chosen)
    return torch.zeros_like(x).scatter(1, chosen, noisy + laplace(noisy, WIDTH, g))


def sign_response(x: Tensor, g: torch.Generator) -> Tensor:
    keep = uniform(x, g) < math.exp(1 / x.shape[1]) / (math.exp(1 / x.shape[1]) + 1)
    sign = torch.where(x >= 0, 1.0, -1.0).to(x.dtype)
    return torch.where(keep, sign, -sign)


def octet_response(x: Tensor, g: torch.Generator) -> Tensor:
    keep = uniform(x, g) < math.e / (math.e + 7.0)
    other = (x.round() + torch.randint(1, 8, x.shape, generator=g)) % 8
    return torch.where(keep, x.round(), other)


def geometric(x: Tensor, g: torch.Generator) -> Tensor:
    rate = 1.0 / 7.0
    first, second = ((torch.empty_like(x).exponential_(generator=g) / rate).floor() for _ in range(2))
    return x.round() + first - second


def pure_noise(x: Tensor, g: torch.Generator) -> Tensor:
    return laplace(x, 1.0, g)


def constant(x: Tensor, g: torch.Generator) -> Tensor:
    return torch.zeros_like(x)


def stated_leak(x: Tensor, g: torch.Generator) -> Tensor:
    leak = uniform(x[:, :1], g) < 1e-2
    return torch.where(leak, x, tight_laplace(x, g))


def _key(name: str, domain: Box | Ball, **options: Any) -> Callable[[], Mechanism]:
    return lambda: make(name, epsilon=1.0, domain=domain, **options)


BYTE, PAIR = Box(0.0, 7.0, (2,)), Box(-1.0, 1.0, (2, 2))
HONEST: tuple[Case, ...] = (
    Case("Laplace, exactly", lambda: tight_laplace, BIT, truth="epsilon 1"),
    Case("Laplace, 16 elements", lambda: tight_laplace, SIXTEEN, truth="epsilon 1"),
    Case("Gaussian at delta 1e-3, exactly", lambda: tight_gaussian, FOUR, 1.0, 1e-3, truth="(1, 1e-3)"),
    Case("Laplace, output clipped", lambda: clipped_output, FOUR, truth="epsilon 1"),
    Case("Laplace, rounded to a fixed grid", lambda: fixed_grid, BIT, truth="epsilon 1"),
    Case("Laplace, then shuffled", lambda: shuffled_after, FOUR, truth="epsilon 1"),
    Case("two releases at half the budget", lambda: split_budget, BIT, truth="epsilon 1"),
    Case("one element at random", lambda: one_element, FOUR, truth="epsilon 1"),
    Case("randomized response of signs", lambda: sign_response, FOUR, truth="epsilon 1"),
    Case("8-ary response", lambda: octet_response, OCTET, truth="epsilon 1"),
    Case("noise alone", lambda: pure_noise, FOUR, truth="epsilon 0"),
    Case("a constant", lambda: constant, FOUR, 0.0, truth="epsilon 0"),
    Case("a leak of 1 % that is stated", lambda: stated_leak, FOUR, 1.0, 1e-2, truth="(1, 1e-2)"),
    Case(
        "two-sided geometric, floats included",
        lambda: geometric,
        Box(0, 7, (1,)),
        truth="epsilon 1",
        floating_point=True,
    ),
    Case(
        "8-ary response, floats included",
        lambda: octet_response,
        Box(0, 7, (1,)),
        truth="epsilon 1",
        floating_point=True,
    ),
    Case("laplace", _key("laplace", FOUR), FOUR, None),
    Case("gaussian-analytic", _key("gaussian-analytic", FOUR), FOUR, None),
    Case("tldp-l", _key("tldp-l", FOUR), FOUR, None),
    Case("tldp-discrete", _key("tldp-discrete", BYTE), BYTE, None),
    Case("k-rr", _key("k-rr", BYTE), BYTE, None),
    Case("latent", _key("latent", FOUR), FOUR, None),
    Case("duchi", _key("duchi", FOUR), FOUR, None),
    Case("piecewise", _key("piecewise", FOUR), FOUR, None),
    Case("hybrid", _key("hybrid", FOUR), FOUR, None),
    Case("privunit", _key("privunit", FOUR), FOUR, None),
    Case("tvg", _key("tvg", PAIR), PAIR, None),
    Case("mvg", _key("mvg", PAIR), PAIR, None),
    Case("pdpm", _key("pdpm", FOUR), FOUR, None),
)
