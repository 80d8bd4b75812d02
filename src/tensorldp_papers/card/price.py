"""The price: error, time and memory of releases beside other mechanisms with the same guarantee."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
from torch import Tensor

from tensorldp.audit.observed import observed
from tensorldp.calibration import calibrate, true_epsilon
from tensorldp.errors import InputError
from tensorldp.mechanisms import Domain, Mechanism, make
from tensorldp.randomness import generator
from tensorldp_papers.run.provenance import peak_mb

BESIDE = ("laplace", "gaussian-analytic", "privunit")  # what prices are compared with
ELEMENTS = 1_000_000  # for which time and memory are stated
MOST_RECORDS = 2000  # of a measured error

Release = Callable[[Tensor, torch.Generator], Tensor]


@dataclass(frozen=True)
class Price:
    """What releases by one mechanism cost.

    Attributes:
        name: of the mechanism.
        nominal: its nominal epsilon; None of a function.
        error: root mean squared error of an element at the worst record, over the domain's width; NaN where a release
            is not made of as many real numbers as a record.
        measured: whether the error was measured, and not computed.
        seconds: for `ELEMENTS` elements.
        memory: that a process grows by for `ELEMENTS` elements, in MB, the released ones included.
        why: why there is no price; empty as a rule.
    """

    name: str
    nominal: float | None
    error: float = math.nan
    measured: bool = False
    seconds: float = math.nan
    memory: float = math.nan
    why: str = ""


def price(name: str, release: Release, domain: Domain, mechanism: Mechanism | None = None) -> Price:
    """Computes the worst record's error, in closed form if there is one; measures time and memory of 1e6 elements."""
    worst = domain.constant(domain.as_box().high) if mechanism is None else mechanism.worst_input()
    known = None if mechanism is None else mechanism.squared_error()
    if known is None:
        count = max(1, min(MOST_RECORDS, ELEMENTS // domain.size))
        batch = worst.expand(count, *worst.shape).clone(memory_format=torch.contiguous_format)
        form, released = observed(name, release(batch, generator("card", "price", name)), count)
        alike = form.shape == tuple(worst.shape) and not form.dtype.is_complex
        known = float((released - worst.reshape(-1)).square().sum(dim=1).mean()) if alike else math.nan
    return Price(
        name,
        None if mechanism is None else mechanism.epsilon,
        math.sqrt(known / domain.size) / domain.as_box().width,
        mechanism is None or mechanism.squared_error() is None,
        *_spent(release, worst, max(1, ELEMENTS // domain.size)),
    )


def _spent(release: Release, record: Tensor, count: int) -> tuple[float, float]:
    """Measures seconds and MB of a release of many records; unknown where a new process cannot start or dies."""
    try:
        ForkingPickler.dumps(release)
    except Exception:  # of many kinds: a function in a function, an object that holds a lock
        return _measured(release, record.tolist(), count)[0], math.nan
    context = get_context("forkserver")  # a process without memory to use again
    context.set_forkserver_preload(["tensorldp.mechanisms"])
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        try:
            return pool.submit(_measured, release, record.tolist(), count).result()
        except BrokenExecutor:  # it took more memory than there is, or cannot be imported there
            return math.nan, math.nan


def _measured(release: Release, record: list[Any], count: int) -> tuple[float, float]:
    value = torch.tensor(record, dtype=torch.float64)
    batch = value.expand(count, *value.shape).clone(memory_format=torch.contiguous_format)
    release(batch[:1], generator("card", "price"))  # what is made once
    before, started = peak_mb(), time.perf_counter()
    release(batch, generator("card", "price"))
    seconds, grown = time.perf_counter() - started, peak_mb() - before
    return seconds * ELEMENTS / batch.numel(), grown * ELEMENTS / batch.numel()


def _made(name: str, domain: Domain, delta: float, epsilon: float) -> Mechanism:
    return make(name, epsilon=epsilon, domain=domain, delta=delta)


def others_at(mechanism: Mechanism, delta: float) -> list[Price]:
    """Computes the prices of `BESIDE` with the true epsilon of a mechanism, on its domain."""
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
