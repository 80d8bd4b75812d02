"""The price: error and time of releases beside other mechanisms with the same guarantee."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from tensorldp.calibration import calibrate, true_epsilon
from tensorldp.errors import InputError
from tensorldp.mechanisms import Domain, Mechanism, make
from tensorldp.randomness import generator

BESIDE = ("laplace", "gaussian-analytic", "privunit")
ELEMENTS = 1_000_000
MOST_RECORDS = 2000  # of a measured error

Release = Callable[[Tensor, torch.Generator], Tensor]


@dataclass(frozen=True)
class Price:
    """What releases by one mechanism cost.

    Attributes:
        name: of the mechanism.
        nominal: its nominal epsilon; None of a function.
        error: root mean squared error of an element at the worst record, over the domain's width.
        measured: whether the error was measured, and not computed.
        seconds: for `ELEMENTS` elements.
        why: why there is no price; empty as a rule.
    """

    name: str
    nominal: float | None
    error: float = math.nan
    measured: bool = False
    seconds: float = math.nan
    why: str = ""


def price(name: str, release: Release, domain: Domain, mechanism: Mechanism | None = None) -> Price:
    """The error at the worst record, from its closed form where there is one, and the time of a million elements."""
    worst = domain.constant(domain.as_box().high) if mechanism is None else mechanism.worst_input()
    known = None if mechanism is None else mechanism.squared_error()
    batch = worst.expand(max(1, min(MOST_RECORDS, ELEMENTS // domain.size)), *worst.shape).contiguous()
    source = generator("card", "price", name)
    started = time.perf_counter()
    released = release(batch, source)
    seconds = (time.perf_counter() - started) * ELEMENTS / batch.numel()
    if known is None:
        known = float((released.double() - batch.double()).square().flatten(1).sum(dim=1).mean())
    width = domain.as_box().width
    nominal = None if mechanism is None else mechanism.epsilon
    return Price(
        name,
        nominal,
        math.sqrt(known / domain.size) / width,
        mechanism is None or mechanism.squared_error() is None,
        seconds,
    )


def _made(name: str, domain: Domain, delta: float, epsilon: float) -> Mechanism:
    return make(name, epsilon=epsilon, domain=domain, delta=delta)


def others_at(mechanism: Mechanism, delta: float) -> list[Price]:
    """The prices of `BESIDE` with the true epsilon of a mechanism, on its domain."""
    wanted, domain = true_epsilon(mechanism, delta), mechanism.domain
    found = []
    for name in BESIDE:
        if name == mechanism.name:
            continue
        try:
            other = calibrate(partial(_made, name, domain, delta), wanted, delta)
            found.append(price(name, other.privatize, domain, other))
        except InputError as error:
            found.append(Price(name, None, why=str(error)))
    return found
