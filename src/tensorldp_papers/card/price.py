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
from typing import Any, TypeVar

import torch
from torch import Tensor

from tensorldp.audit.observed import Form, observed
from tensorldp.calibration import calibrate, true_epsilon
from tensorldp.check.calls import Foreign
from tensorldp.check.records import Numbers
from tensorldp.errors import InputError, described
from tensorldp.mechanisms import Domain, Mechanism, make
from tensorldp.randomness import generator
from tensorldp_papers.run.provenance import peak_mb

BESIDE = ("laplace", "gaussian-analytic", "privunit")  # what prices are compared with
ELEMENTS = 1_000_000  # for which time and memory are stated
MOST_RECORDS = 2000  # of a measured error
GROWTH = 8  # times as many releases in the next round, where there is time for them
SECONDS = 15.0  # for one mechanism, as a rule

T = TypeVar("T")
Release = Callable[[Tensor, torch.Generator], Tensor]


@dataclass(frozen=True)
class Price:
    """What releases by one mechanism cost.

    Attributes:
        name: of the mechanism.
        nominal: its nominal epsilon; None of a function.
        error: root mean squared error of an element at the worst record, over the domain's width; NaN where a release
            is not made of as many real numbers as a record.
        measured: of how many releases the error is a mean; 0 where it was computed.
        seconds: for `ELEMENTS` elements.
        memory: that a process grows by for `ELEMENTS` elements, in MB, the released ones included.
        releases: of how many at once time and memory were measured.
        lacks: what could not be measured, each with why.
        why: why there is no price; empty as a rule.
    """

    name: str
    nominal: float | None
    error: float = math.nan
    measured: int = 0
    seconds: float = math.nan
    memory: float = math.nan
    releases: int = 0
    lacks: tuple[str, ...] = ()
    why: str = ""


def price(
    name: str, release: Release, domain: Domain, mechanism: Mechanism | None = None, seconds: float = SECONDS
) -> Price:
    """Computes the worst record's error, in closed form if there is one; measures time and memory of 1e6 elements.

    What is measured ends within `seconds`, but for a single release that takes longer: so many releases as fit, of time
    and memory at most those of 1e6 elements. Memory is only known of all of them.
    """
    worst = domain.constant(domain.as_box().high) if mechanism is None else mechanism.worst_input()
    known = None if mechanism is None else mechanism.squared_error()
    measured, lacks = 0, list[str]()
    if isinstance(release, Foreign) and not isinstance(release.records, Numbers):
        known = math.nan
        lacks.append(f"error: records are {release.records}, not numbers")
    if known is None:
        most = max(1, min(MOST_RECORDS, ELEMENTS // domain.size))
        measured, (form, known), _ = _growing(lambda count: _squared(name, release, worst, count), most, seconds / 2)
        if math.isnan(known):
            measured = 0
            lacks.append(f"error: a release is {form}, and a record has the shape {domain.shape}")
    most = max(1, ELEMENTS // domain.size)
    count, took, memory, why = _spent(release, worst, most, seconds / 2)
    each = ELEMENTS / (max(count, 1) * domain.size)
    if not count:
        lacks.append(f"time: {why}")
    if count < most and not why:
        why = f"there was time for {count:,} of {most:,} releases"
    if why:
        lacks.append(f"memory: {why}")
    return Price(
        name,
        None if mechanism is None else mechanism.epsilon,
        math.sqrt(known / domain.size) / domain.as_box().width,
        measured,
        took * each if count else math.nan,
        math.nan if why else memory * each,
        count,
        tuple(lacks),
    )


def _growing(run: Callable[[int], T], most: int, seconds: float) -> tuple[int, T, float]:
    """Runs on 1, 8, 64, ... at most `most` releases while there is time; returns the last count, result and seconds."""
    started, count = time.perf_counter(), 1
    while True:
        begun = time.perf_counter()
        result = run(count)
        ended = time.perf_counter()
        more = int(count * min(GROWTH, (started + seconds - ended) / max(ended - begun, 1e-9)))
        if count == most or more <= count:
            return count, result, ended - begun
        count = min(most, more)


def _squared(name: str, release: Release, worst: Tensor, count: int) -> tuple[Form, float]:
    """Returns the form of releases of the worst record, and their mean squared error, NaN if they are no records."""
    batch = worst.expand(count, *worst.shape).clone(memory_format=torch.contiguous_format)
    form, released = observed(name, release(batch, generator("card", "price", name)), count)
    alike = math.prod(form.shape) == worst.numel() and not form.dtype.is_complex
    return form, float((released - worst.reshape(-1)).square().sum(dim=1).mean()) if alike else math.nan


def _spent(release: Release, record: Tensor, most: int, seconds: float) -> tuple[int, float, float, str]:
    """Measures how many releases fit, at most `most`, their seconds and MB, and why the MB, or all, are unknown."""
    try:
        ForkingPickler.dumps(release)
    except Exception as error:  # of many kinds: a function in a function, an object that holds a lock
        why = f"no process of its own can have it ({described(error)})"
        return *_measured(release, record.tolist(), most, seconds), why
    context = get_context("forkserver")  # a process without memory to use again
    context.set_forkserver_preload(["tensorldp.mechanisms"])
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        try:
            return *pool.submit(_measured, release, record.tolist(), most, seconds).result(), ""
        except BrokenExecutor:  # it took more memory than there is, or cannot be imported there
            return 0, math.nan, math.nan, "a process of its own with it died"


def _measured(release: Release, record: list[Any], most: int, seconds: float) -> tuple[int, float, float]:
    value = torch.tensor(record, dtype=torch.float64)
    batch = value.expand(most, *value.shape).clone(memory_format=torch.contiguous_format)
    peaks: list[float] = []

    def run(count: int) -> None:
        release(batch[:count], generator("card", "price"))
        peaks.append(peak_mb())

    count, _, took = _growing(run, most, seconds)
    return count, took, peaks[-1] - peaks[0]  # without what is made once, by the first


def _made(name: str, domain: Domain, delta: float, epsilon: float) -> Mechanism:
    return make(name, epsilon=epsilon, domain=domain, delta=delta)


def others_at(mechanism: Mechanism, delta: float, seconds: float = SECONDS) -> list[Price]:
    """Computes the prices of `BESIDE` with the true epsilon of a mechanism, on its domain, each within `seconds`."""
    wanted, domain = true_epsilon(mechanism, delta), mechanism.domain
    found = []
    for name in BESIDE:
        if name == mechanism.name:
            continue
        try:
            other = calibrate(partial(_made, name, domain, delta), wanted, delta)
            found.append(price(name, other.privatize, domain, other, seconds))
        except InputError as error:
            found.append(Price(name, None, why=str(error)))
    return found
