"""What a package's file states: its pins, its randomizers with their claims, and its accountants.

A function is named as `tensorldp check` takes it, with its arguments. Where that is not enough, a wrapper makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tensorldp.check.calls import BATCH
from tensorldp.check.records import Categories, Numbers, Records
from tensorldp.commands.target import imported, with_settings
from tensorldp.mechanisms import Box

Wrapper = Callable[[], Callable[..., Any]]


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
    make: Callable[[], Any]  # imports what is checked: a function, or what makes one anew
    records: Records
    call: str | None  # what the function is given, where `check` needs telling
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
        target: str = "",
        options: Mapping[str, Any] | None = None,
        categories: int | Sequence[str] = 0,
        box: tuple[float, float, int] = (0.0, 1.0, 1),
        batch: bool = False,
        delta: float = 0.0,
        minutes: float = 0.15,
        exact: float | None = None,
        honest: bool = True,
        note: str = "",
    ) -> Callable[[Wrapper], Wrapper]:
        """Registers the function at `target`, "module:name", with its options, or else the one that a wrapper makes.

        A box is (least, greatest, elements).
        """
        low, high, size = box
        records: Records = Categories(categories) if categories else Numbers(Box(low, high, (size,)))

        def register(make: Callable[[], Any]) -> None:
            claim = (epsilon, delta, says, where, minutes, exact, note, honest)
            self.randomizers.append(Randomizer(name, make, records, BATCH if batch else None, *claim))

        def wrapped(wrapper: Wrapper) -> Wrapper:
            register(lambda: wrapper)
            return wrapper

        if target:
            register(lambda: with_settings(imported(target), options or {}))
        return wrapped

    def accountant(
        self, name: str, *, kinds: str, says: str, where: str, sampling: bool = False, whole: bool = True
    ) -> Callable[[Callable[[Case], float]], Callable[[Case], float]]:
        """Registers a function from a case to epsilon."""

        def register(of: Callable[[Case], float]) -> Callable[[Case], float]:
            self.accountants.append(Accountant(name, of, tuple(kinds.split()), sampling, whole, says, where))
            return of

        return register


# closed forms of epsilon, for the column of our own algebra


def response(p: float, q: float) -> float:
    """Epsilon of a response that is right with probability p, and any one wrong answer with probability q."""
    return float(np.log(p / q))


def bits(p: float, q: float, differ: int = 1) -> float:
    """Epsilon of bits: a one stays with probability p, a zero becomes one with q; `differ` bits of each kind differ."""
    return float(differ * np.log(p * (1 - q) / (q * (1 - p))))
