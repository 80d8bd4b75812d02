"""What is checked: a mechanism, or a plain function of a batch, behind one interface."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from gc import get_referents
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tensorldp.audit.observed import Form, observed
from tensorldp.check.calls import Foreign, name_of
from tensorldp.check.records import Numbers, Records, records_of
from tensorldp.domain import Ball, Domain
from tensorldp.errors import InputError, blamed, described, shown
from tensorldp.mechanisms.base import Mechanism
from tensorldp.randomness import generator

Release = Callable[[Tensor, torch.Generator], Tensor]
AT_ONCE = 1 << 20  # elements that are released at once, or one record
COARSE = 1 << 10  # steps of the domain's width in a release of which nothing is left of how its last bits were rounded


TYPES = re.compile(r"\b(double|float64|float|float32|half|float16|bfloat16)\b", re.IGNORECASE)


@contextmanager
def _told_of_dtypes(given: torch.dtype) -> Iterator[None]:
    """Adds to an error about two formats of floats which of them the records have, and how to change it."""
    try:
        yield
    except (RuntimeError, TypeError) as error:
        if len({word.lower() for word in TYPES.findall(str(error))}) < 2:
            raise
        name = str(given).removeprefix("torch.")
        other = "float32" if given == torch.float64 else "float64"
        change = f"records are {name} here, and a check gives {other} ones by --dtype {other} or dtype=torch.{other}"
        raise RuntimeError(f"{change}: {error}") from error


STATES = (torch.Generator, np.random.Generator, np.random.RandomState, random.Random)  # of random numbers
WHOLE = (type, ModuleType, FunctionType)  # what a copy leaves as it is


def _states(checked: object) -> dict[int, object]:
    """Returns the random states that an object holds, by identity, as the memory of a copy that shares them.

    A state of its own would give each copy the same numbers, as no two objects in use have.
    """
    seen: dict[int, object] = {}
    todo = [checked]
    while todo:
        one = todo.pop()
        if id(one) not in seen and not isinstance(one, WHOLE):
            seen[id(one)] = one
            todo.extend(get_referents(one))
    return {key: one for key, one in seen.items() if isinstance(one, STATES)}


ANEW = 16  # copies that are compared, until two differ: one that keeps its first answer differs only now and then
OBJECT = "give a class, or a function without parameters, that makes it"


def _copy(checked: Mechanism | Release) -> Mechanism | Release | str:
    """Makes a copy, or says why there is none."""
    try:
        made = deepcopy(checked, _states(checked))
    except Exception as error:  # whatever an object from outside refuses a copy with
        return f"it refuses to be copied ({described(error)})"
    return f"a function cannot be put back to before its first call: {OBJECT}" if made is checked else made


@dataclass
class Target:
    """A randomizer as an outsider sees it.

    Attributes:
        name: for messages.
        function: from a batch (batch, *shape) and a generator to a batch of releases.
        domain: where records live.
        integer: whether elements are whole numbers.
        dtype: what the function is given.
        step: releases that are floats are rounded to multiples of it, so that nothing is left of how they were rounded
            before; 0 for not at all.
        mechanism: the mechanism, if it is one; what it declares is then tested as well.
        form: what a release is made of, known from the first one on.
        unused: a copy of what is checked, made before its first release, or why there is none.
        records: what kind of records these are; None for a mechanism's.
    """

    name: str
    function: Release = field(repr=False)
    domain: Domain
    integer: bool = False
    dtype: torch.dtype = torch.float64
    step: float = 0.0
    mechanism: Mechanism | None = field(default=None, repr=False)
    form: Form | None = field(default=None, init=False)
    unused: Mechanism | Release | str = field(default="", repr=False)
    records: Records | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        checked: Mechanism | Callable[..., Any],
        domain: Domain | Records | None,
        dtype: torch.dtype = torch.float64,
        *,
        call: str | None = None,
        decode: Callable[[Any], Any] | None = None,
    ) -> Target:
        """Builds the target for a mechanism or a function, given records of this format; a function needs a domain.

        Args:
            checked: the mechanism or function.
            domain: where records live.
            dtype: the format of real numbers.
            call: "batch" or "record", what a function is given; None finds out.
            decode: what everybody can compute from one release of a function.
        """
        if isinstance(checked, Mechanism):
            if not checked.same_shape:
                raise InputError(
                    f"{checked.name} does not release a tensor of the record's shape: it cannot be checked"
                )
            return cls(
                checked.name,
                checked.privatize,
                checked.domain,
                checked.integer,
                dtype,
                mechanism=checked,
                unused=_copy(checked),
            )
        if not callable(checked):
            raise InputError(f"a check takes a mechanism or a function, got {type(checked).__name__}")
        if domain is None:
            raise InputError("a check of a function needs a domain, a Box or a Ball")
        name = name_of(checked)
        records = records_of(domain)
        function = Foreign(name, checked, records, way=call, decode=decode)
        box, integer = records.domain, records.integer
        return cls(name, function, box, integer, dtype, unused=_copy(function), records=records)

    def anew(self) -> Target:
        """Returns this target with a copy of what is checked as it was before its first release."""
        fresh = deepcopy(self.unused, _states(self.unused))
        assert not isinstance(fresh, str)
        made = replace(self, function=fresh.privatize if isinstance(fresh, Mechanism) else fresh)
        made.form = self.form
        return made

    def no_new_start(self, record: Tensor) -> str:
        """Says why first calls cannot be repeated; empty if copies work and the generator decides their releases."""
        if isinstance(self.unused, str):
            return self.unused
        most = min(64, max(1, AT_ONCE // self.size))
        first: list[Tensor] = []
        for index in range(ANEW):
            sizes = (1, 1, most) if index < 2 else (1,)
            try:
                fresh, source = self.anew(), generator("check", "anew", index)
                seen = [fresh.release(record.expand(n, *record.shape), source) for n in sizes]
            except Exception as error:  # a copy need not work where the original does
                return f"a copy of it does not work ({error if isinstance(error, InputError) else described(error)})"
            first = first or seen
            if not all(torch.equal(one, other) for one, other in zip(first, seen, strict=False)):
                return ""
        return "its copies release the same whatever generator they are given: draw from the generator"

    def repeats(self, record: Tensor, count: int) -> bool:
        """Returns whether `count` releases of a record are all the same, in one call and in the next."""
        most = max(1, min(count - 1, AT_ONCE // max(self.size, self.width)))
        source = generator("check", "repeats", self.name)
        seen = torch.cat([self.release(record.expand(n, *record.shape), source) for n in (most, 1)])
        return bool((seen == seen[:1]).all())

    def of_reals(self, dtype: torch.dtype) -> Target:
        """Returns this target for records of a format, its releases rounded to hide all of that format's steps.

        Raises:
            InputError: if the format is so coarse that they would still show.
        """
        if dtype == torch.float64:
            return replace(self, dtype=dtype, step=0.0)
        if self.records is not None and not self.records.floats:
            raise InputError(f"records are {self.records}, not real numbers")
        box = self.domain.as_box()
        farthest = max(abs(box.low), abs(box.high))
        exact = not self.integer or farthest <= 1 << 24
        if not (exact and farthest <= COARSE / 16 * box.width and box.width >= 1e-15 and farthest <= 1e15):
            raise InputError(f"{str(dtype).removeprefix('torch.')} is too coarse for the domain {self.domain}")
        return replace(self, dtype=dtype, step=box.width / COARSE)

    @property
    def notes(self) -> tuple[str, ...]:
        """Returns what a user should know of how a function was called and its releases were read."""
        return tuple(self.function.notes) if isinstance(self.function, Foreign) else ()

    @property
    def columns(self) -> list[str]:
        """Returns what each column of a function's release is; empty where it is no more than numbers."""
        return self.function.columns if isinstance(self.function, Foreign) else []

    @property
    def coded(self) -> bool:
        """Returns whether codes stand in a function's release for values that are no numbers."""
        return isinstance(self.function, Foreign) and self.function.coded

    @property
    def record(self) -> str:
        """Returns what a record is, in words."""
        if self.records is not None and not isinstance(self.records, Numbers):
            return self.records.record
        kind = "whole" if self.integer else str(self.dtype).removeprefix("torch.")
        shape = " x ".join(map(str, self.domain.shape))
        numbers = f"{shape} {kind} numbers" if self.size > 1 else f"one {kind} number"
        if isinstance(self.domain, Ball):
            return f"{numbers} in a ball of radius {self.domain.radius:g}"
        box = self.domain.as_box()
        return f"{numbers} from {box.low:g} to {box.high:g}"

    @property
    def size(self) -> int:
        """Returns I, the elements of a record."""
        return self.domain.size

    @property
    def width(self) -> int:
        """Returns how many columns a release has; those of a record until there is a release."""
        return self.size if self.form is None else self.form.width

    def nearest(self, records: Tensor) -> Tensor:
        """Returns the records that it takes nearest to those of a batch, float64 (batch, *shape)."""
        of_kind = self.domain.project if self.records is None else self.records.nearest
        inside: Tensor = getattr(self.mechanism, "nearest_records", of_kind)(records.double())
        return inside

    def release(self, batch: Tensor, source: torch.Generator) -> Tensor:
        """Releases a batch as (batch, width), int64 where releases are whole by their type and else float64.

        The function is given a copy, and what it returns is copied: it may write into its argument and may return the
        same buffer each time. It has to return one row a record, of the same form each time.
        """
        given = batch.to(self.dtype, copy=True, memory_format=torch.contiguous_format)
        told = self._told(batch)  # before a first call, by which a function is known
        try:  # not `with`, as there are a hundred thousand calls
            form, seen = observed(self.name, self.function(given, source), batch.shape[0])
        except BaseException as error:
            with blamed(f"{self.name} failed on {told}"), _told_of_dtypes(self.dtype):
                raise error
        if self.form is None:
            if self.mechanism is not None and (form.shape != self.domain.shape or form.dtype.is_complex):
                raise InputError(f"{self.name} must release real numbers of the record's shape, got {form}")
            self.form = form
        elif form != self.form:
            raise InputError(f"releases of {self.name} must be alike: one is {form}, one before was {self.form}")
        return seen if form.whole or not self.step else (seen / self.step).round() * self.step

    def _told(self, batch: Tensor) -> str:
        """Returns what an error calls a batch; the first one with its first record, which a function may not want."""
        told = f"a batch of shape {tuple(batch.shape)}"
        if self.records is None or not isinstance(self.function, Foreign) or self.function.found:
            return told
        return f"{told}, whose first record is {shown(self.records.given(batch[:1])[0])} ({self.record})"

    def likelihood_ratio(self, x: Tensor, x_prime: Tensor) -> Callable[[Tensor], Tensor] | None:
        """Returns y -> log p(y|x) - log p(y|x') as the mechanism declares it, or None where it declares none."""
        mechanism = self.mechanism
        if mechanism is None:
            return None

        def ratio(y: Tensor) -> Tensor:
            records = y.double().reshape(-1, *self.domain.shape).clone()
            with blamed(f"the likelihood ratio of {self.name} failed"):
                values = mechanism.log_likelihood_ratio(records, x.clone(), x_prime.clone())
                if not isinstance(values, Tensor) or tuple(values.shape) != (len(records),):
                    raise InputError(f"the likelihood ratio of {self.name} must be one number a release")
                return values.detach().double()

        with blamed(f"the likelihood ratio of {self.name} failed"):
            try:
                mechanism.log_likelihood_ratio(x.unsqueeze(0).clone(), x.clone(), x_prime.clone())
            except InputError:
                return None
        return ratio
