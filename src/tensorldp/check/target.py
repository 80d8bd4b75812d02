"""What is checked: a mechanism, or a plain function of a batch, behind one interface."""

from __future__ import annotations

import random
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from gc import get_referents
from types import FunctionType, ModuleType
from typing import Protocol, TypeGuard, cast, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from tensorldp.audit.observed import Form, observed
from tensorldp.domain import Domain
from tensorldp.errors import InputError, blamed
from tensorldp.randomizer import Randomizer
from tensorldp.randomness import generator

Release = Callable[[Tensor, torch.Generator], Tensor]
AT_ONCE = 1 << 20  # elements that are released at once, or one record


@runtime_checkable
class Declared(Randomizer, Protocol):
    """A randomizer that says where its records live and how far its releases lie from them, as mechanisms do."""

    @property
    def domain(self) -> Domain:
        """Where records live."""

    @property
    def integer(self) -> bool:
        """Whether records are whole numbers."""

    @property
    def same_shape(self) -> bool:
        """Whether a release has the shape of its record."""

    def worst_input(self) -> Tensor:
        """The record whose mean squared error is the largest."""

    def squared_error(self) -> float | None:
        """The mean squared error at the worst input, or None where it has no closed form."""


def is_mechanism(checked: object) -> TypeGuard[Declared]:
    """Whether this is a mechanism, rather than a plain function or a class."""
    return isinstance(checked, Declared) and not isinstance(checked, type)


STATES = (torch.Generator, np.random.Generator, np.random.RandomState, random.Random)  # of random numbers
WHOLE = (type, ModuleType, FunctionType)  # what a copy leaves as it is


def _states(checked: object) -> dict[int, object]:
    """The random states that an object holds, by their identity, as the memory of a copy that shares them.

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


def _copy(checked: Declared | Release) -> Declared | Release | None:
    try:
        made = deepcopy(checked, _states(checked))
    except Exception:  # whatever an object from outside refuses a copy with
        return None
    return None if made is checked else made


@dataclass
class Target:
    """A randomizer as an outsider sees it.

    Attributes:
        name: for messages.
        function: from a batch (batch, *shape) and a generator to a batch of releases.
        domain: where records live.
        integer: whether elements are whole numbers.
        dtype: what the function is given.
        mechanism: the mechanism, if it is one; what it declares is then tested as well.
        form: what a release is made of, known from the first one on.
        unused: a copy of what is checked, made before its first release; None where there can be none.
    """

    name: str
    function: Release = field(repr=False)
    domain: Domain
    integer: bool = False
    dtype: torch.dtype = torch.float64
    mechanism: Declared | None = field(default=None, repr=False)
    form: Form | None = field(default=None, init=False)
    unused: Declared | Release | None = field(default=None, repr=False)

    @classmethod
    def of(cls, checked: Declared | Release, domain: Domain | None) -> Target:
        """The target for a mechanism or a function; a function needs a domain."""
        if is_mechanism(checked):
            if not checked.same_shape:
                raise InputError(
                    f"{checked.name} does not release a tensor of the record's shape: it cannot be checked"
                )
            return cls(
                checked.name,
                checked.privatize,
                checked.domain,
                checked.integer,
                mechanism=checked,
                unused=_copy(checked),
            )
        if not callable(checked):
            raise InputError(f"a check takes a mechanism or a function, got {type(checked).__name__}")
        if domain is None:
            raise InputError("a check of a function needs a domain, a Box or a Ball")
        name = str(getattr(checked, "__name__", type(checked).__name__))
        return cls(name, checked, domain, unused=_copy(checked))

    def anew(self) -> Target:
        """This target with a copy of what is checked as it was before its first release."""
        fresh = deepcopy(self.unused, _states(self.unused))
        assert fresh is not None
        made = replace(self, function=fresh.privatize if is_mechanism(fresh) else cast(Release, fresh))
        made.form = self.form
        return made

    def starts_anew(self, record: Tensor) -> bool:
        """Whether there are copies, and a generator decides what they release rather than a state of their own."""
        if self.unused is None:
            return False
        most = min(64, max(1, AT_ONCE // self.size))
        seen = []
        for index in range(2):
            try:
                fresh, source = self.anew(), generator("check", "anew", index)
                seen.append([fresh.release(record.expand(n, *record.shape), source) for n in (1, 1, most)])
            except Exception:  # a copy need not work where the original does
                return False
        return any(not torch.equal(first, second) for first, second in zip(*seen, strict=True))

    @property
    def size(self) -> int:
        """I, the elements of a record."""
        return self.domain.size

    @property
    def width(self) -> int:
        """How many columns a release has; those of a record until there is a release."""
        return self.size if self.form is None else self.form.width

    def nearest(self, records: Tensor) -> Tensor:
        """The records that it takes nearest to those of a batch, float64 (batch, *shape)."""
        of_mechanism = getattr(self.mechanism, "nearest_records", self.domain.project)
        inside: Tensor = of_mechanism(records.double())
        return inside

    def release(self, batch: Tensor, source: torch.Generator) -> Tensor:
        """The releases of a batch, (batch, width), int64 where they are whole by their type and else float64.

        The function is given a copy, and what it returns is copied: it may write into its argument and may return the
        same buffer each time. It has to return one row a record, of the same form each time.
        """
        given = batch.to(self.dtype, copy=True, memory_format=torch.contiguous_format)
        with blamed(f"{self.name} failed on a batch of shape {tuple(batch.shape)}"):
            form, seen = observed(self.name, self.function(given, source), batch.shape[0])
        if self.form is None:
            if self.mechanism is not None and (form.shape != self.domain.shape or form.dtype.is_complex):
                raise InputError(f"{self.name} must release real numbers of the record's shape, got {form}")
            self.form = form
        elif form != self.form:
            raise InputError(f"releases of {self.name} must be alike: one is {form}, one before was {self.form}")
        return seen

    def likelihood_ratio(self, x: Tensor, x_prime: Tensor) -> Callable[[Tensor], Tensor] | None:
        """y -> log p(y|x) - log p(y|x') as the mechanism declares it, or None where it declares none."""
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
