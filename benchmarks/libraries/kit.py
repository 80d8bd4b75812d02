"""What a package's file states: its pins, its randomizers with their claims, and its accountants.

A wrapper has at most five lines. It makes the package's function; `Release` then hands it one record at a time, or the
whole batch, and seeds the random states that libraries share.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from tensorldp.mechanisms import Box

Wrapper = Callable[[], Callable[[Any], Any]]


@dataclass(frozen=True)
class Case:
    """What an accountant is asked: noise added to one query, `steps` times, each on a sample of records at `rate`."""

    name: str
    kind: str  # gaussian, laplace or response
    noise: float  # the multiplier, the scale, or the epsilon of one response
    steps: int
    rate: float = 1.0
    delta: float = 1e-5


CASES = (
    Case("Gaussian noise 1", "gaussian", 1.0, 1),
    Case("Gaussian noise 5, 100 times", "gaussian", 5.0, 100),
    Case("Laplace scale 1", "laplace", 1.0, 1),
    Case("Laplace scale 2, 50 times", "laplace", 2.0, 50),
    Case("randomized response at 1", "response", 1.0, 1),
    Case("randomized response at 0.5, 50 times", "response", 0.5, 50),
    Case("DP-SGD noise 1, rate 0.01, 1000 steps", "gaussian", 1.0, 1000, 0.01),
    Case("DP-SGD noise 2, rate 0.1, 100 steps", "gaussian", 2.0, 100, 0.1),
)


@dataclass(frozen=True)
class Randomizer:
    """A function under its claim: `epsilon` and `delta` for two records of the domain, as `says` has it in `where`."""

    name: str
    make: Wrapper
    domain: Box
    whole: bool  # records are whole numbers, a category if there is one
    batch: bool  # the function takes a batch, and not a record
    epsilon: float
    delta: float
    says: str
    where: str
    minutes: float
    exact: float | None  # epsilon at `delta` by our own algebra
    note: str
    honest: bool  # whether that algebra, or a proof, supports the claim


@dataclass(frozen=True)
class Accountant:
    """A function from a case to epsilon; it is asked the cases of its kinds, sampled ones if it knows of sampling."""

    name: str
    of: Callable[[Case], float]
    kinds: tuple[str, ...]
    sampling: bool
    whole: bool  # it also accounts for noise that every record gets
    says: str
    where: str

    def knows(self, case: Case) -> bool:
        """Whether it is asked that."""
        return case.kind in self.kinds and (self.sampling if case.rate < 1 else self.whole)


@dataclass
class Package:
    """A package of the index with the versions that run, the first being its own."""

    name: str
    version: str
    beside: tuple[str, ...] = ()
    randomizers: list[Randomizer] = field(default_factory=list)
    accountants: list[Accountant] = field(default_factory=list)

    def randomizer(
        self,
        name: str,
        *,
        epsilon: float,
        says: str,
        where: str,
        categories: int = 0,
        box: tuple[float, float, int] = (0.0, 1.0, 1),
        batch: bool = False,
        delta: float = 0.0,
        minutes: float = 0.15,
        exact: float | None = None,
        honest: bool = True,
        note: str = "",
    ) -> Callable[[Wrapper], Wrapper]:
        """Registers the function that a wrapper makes; a box is (least, greatest, elements)."""
        low, high, size = (0.0, categories - 1.0, 0) if categories else box

        def register(make: Wrapper) -> Wrapper:
            domain = Box(low, high, (max(size, 1),))
            claim = (epsilon, delta, says, where, minutes, exact, note, honest)
            self.randomizers.append(Randomizer(name, make, domain, categories > 0, batch, *claim))
            return make

        return register

    def accountant(
        self, name: str, *, kinds: str, says: str, where: str, sampling: bool = False, whole: bool = True
    ) -> Callable[[Callable[[Case], float]], Callable[[Case], float]]:
        """Registers a function from a case to epsilon."""

        def register(of: Callable[[Case], float]) -> Callable[[Case], float]:
            self.accountants.append(Accountant(name, of, tuple(kinds.split()), sampling, whole, says, where))
            return of

        return register


class Release:
    """A function of a batch and a generator, as `check` takes it, around a function of a library."""

    def __init__(self, randomizer: Randomizer) -> None:
        self.randomizer, self.function = randomizer, randomizer.make()

    def __call__(self, records: torch.Tensor, generator: torch.Generator) -> np.ndarray[Any, Any]:
        """Returns a row of numbers for each record."""
        seed(int(torch.randint(2**31, (1,), generator=generator)))
        values = records.numpy()
        if self.randomizer.whole:
            values = np.rint(values[:, 0]).astype(np.int64)
        elif self.randomizer.domain.shape == (1,):
            values = values[:, 0]
        if self.randomizer.batch:
            released = self.function(values)
        else:
            released = [self.function(value) for value in values.tolist()]
        found = np.asarray(released)
        return found.astype(np.int64 if found.dtype.kind in "bi" else np.float64).reshape(len(values), -1)


def seed(number: int) -> None:
    """Seeds the global random states of NumPy, Python, PyTorch and, where it is in use, of numba."""
    np.random.seed(number)
    random.seed(number)
    torch.manual_seed(number)
    if "numba" in sys.modules:
        _numba()(number)


def _numba(kept: list[Callable[[int], None]] = []) -> Callable[[int], None]:  # noqa: B006 compiled once
    if not kept:
        kept.append(sys.modules["numba"].njit(lambda number: np.random.seed(number)))
    return kept[0]


def supports(answer: int, seed: int, size: int) -> list[bool]:
    """What local hashing tells everybody: of eight categories, whether the hash under the seed is the answer."""
    from xxhash import xxh32

    return [xxh32(str(category), seed=int(seed)).intdigest() % size == answer for category in range(8)]


# closed forms of epsilon, for the column of our own algebra


def response(p: float, q: float) -> float:
    """Epsilon of a response that is right with probability p, and any one wrong answer with probability q."""
    return float(np.log(p / q))


def bits(p: float, q: float, differ: int = 1) -> float:
    """Epsilon of bits: a one stays with probability p, a zero becomes one with q; `differ` bits of each kind differ."""
    return float(differ * np.log(p * (1 - q) / (q * (1 - p))))
