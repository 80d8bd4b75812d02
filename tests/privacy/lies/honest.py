"""Randomizers whose guarantee is right, some of them by a hair."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import planted as lies
import torch
from planted import BIT, FOUR, OCTET, Case, laplace, tight, uniform
from torch import Tensor

from tensorldp.curves.gaussian import mu_of
from tensorldp.mechanisms import make


def tight_gaussian(x: Tensor, g: torch.Generator) -> Tensor:
    return x + lies.normal(x, lies.WIDTH * math.sqrt(x.shape[1]) / mu_of(1.0, 1e-3), g)


def shuffled_after(x: Tensor, g: torch.Generator) -> Tensor:
    y = tight(x, g)
    return y.gather(1, torch.argsort(uniform(x, g), dim=1))


def one_element(x: Tensor, g: torch.Generator) -> Tensor:
    chosen = torch.randint(x.shape[1], (len(x), 1), generator=g)
    noisy = x.gather(1, chosen)
    return torch.zeros_like(x).scatter(1, chosen, noisy + laplace(noisy, lies.WIDTH, g))


def sign_response(x: Tensor, g: torch.Generator) -> Tensor:
    keep = uniform(x, g) < math.exp(1 / x.shape[1]) / (math.exp(1 / x.shape[1]) + 1)
    sign = torch.where(x >= 0, 1.0, -1.0).to(x.dtype)
    return torch.where(keep, sign, -sign)


class InTurn:
    """Every other call has four times the noise that the claim needs."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: Tensor, g: torch.Generator) -> Tensor:
        self.calls += 1
        return x + lies.laplace(x, x.shape[1] * lies.WIDTH * (4.0 if self.calls % 2 else 1.0), g)


class OwnCoins:
    """Randomized response by a random state of its own, then noise, which the claim does not need."""

    def __init__(self) -> None:
        self.own = np.random.default_rng(0)

    def __call__(self, x: Tensor, g: torch.Generator) -> Tensor:
        keep = torch.from_numpy(self.own.random(x.shape) < lies.BINARY)
        return torch.where(keep == (x > 0), 1.0, -1.0).to(x.dtype) + lies.laplace(x, 0.1, g)


def octets(x: Tensor, g: torch.Generator) -> Tensor:
    return lies.response(x, math.e / (math.e + 7.0), g)


FLOATS: dict[str, Any] = {"truth": "epsilon 1", "floating_point": True}
KEYS = dict.fromkeys(("laplace", "gaussian-analytic", "tldp-l", "tldp-discrete", "k-rr", "latent", "duchi"), FOUR)
KEYS |= dict.fromkeys(("piecewise", "hybrid", "privunit", "tvg", "mvg", "pdpm"), FOUR)
KEYS |= {"tldp-discrete": lies.BYTE, "k-rr": lies.BYTE, "tvg": lies.SQUARE, "mvg": lies.SQUARE}
HONEST: tuple[Case, ...] = (
    Case("Laplace, exactly", tight, BIT, truth="epsilon 1"),
    Case("Laplace, 16 elements", tight, lies.SIXTEEN, truth="epsilon 1"),
    Case("Gaussian at delta 1e-3, exactly", tight_gaussian, FOUR, 1.0, 1e-3, truth="(1, 1e-3)"),
    Case("Laplace, output clipped", lambda x, g: tight(x, g).clamp(-2.0, 2.0), FOUR, truth="epsilon 1"),
    Case("Laplace, rounded to a fixed grid", lambda x, g: (tight(x, g) * 4).round() / 4, BIT, truth="epsilon 1"),
    Case("Laplace, then shuffled", shuffled_after, FOUR, truth="epsilon 1"),
    Case("two releases at half the budget", lambda x, g: lies.split_release(x, 4.0, g), BIT, truth="epsilon 1"),
    Case("one element at random", one_element, FOUR, truth="epsilon 1"),
    Case("randomized response of signs", sign_response, FOUR, truth="epsilon 1"),
    Case("8-ary response", octets, OCTET, truth="epsilon 1"),
    Case("noise alone", lambda x, g: laplace(x, 1.0, g), FOUR, truth="epsilon 0"),
    Case("a constant", lambda x, g: torch.zeros_like(x), FOUR, 0.0, truth="epsilon 0"),
    Case("a leak of 1 % that is stated", lambda x, g: lies.leaking(x, x, 0.01, g), FOUR, 1.0, 0.01, truth="(1, 1e-2)"),
    Case("more noise in every other call", InTurn, FOUR, truth="epsilon 1"),
    Case("coins of its own", OwnCoins, BIT, truth="epsilon 1"),
    Case("two-sided geometric, floats included", lambda x, g: x.round() + lies.geometric(x, 7.0, g), OCTET, **FLOATS),
    Case("8-ary response, floats included", octets, OCTET, **FLOATS),
    *(Case(key, make(key, epsilon=1.0, domain=box), box, None) for key, box in KEYS.items()),
)
