"""What is checked: a mechanism, or a plain function of a batch, behind one interface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeGuard, runtime_checkable

import torch
from torch import Tensor

from tensorldp.domain import Domain
from tensorldp.errors import InputError
from tensorldp.privacy.randomizer import Randomizer

Release = Callable[[Tensor, torch.Generator], Tensor]
LikelihoodRatio = Callable[[Tensor, Tensor, Tensor], Tensor]


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
    """Whether this is a mechanism, and not a plain function or a class."""
    return isinstance(checked, Declared) and not isinstance(checked, type)


@dataclass(frozen=True)
class Subject:
    """A randomizer as an outsider sees it.

    Attributes:
        name: for messages.
        function: from a batch (batch, *shape) and a generator to a batch of releases.
        domain: where records live.
        integer: whether elements are whole numbers.
        dtype: what the function is given.
        mechanism: the mechanism, if it is one; what it declares is then put to the test as well.
    """

    name: str
    function: Release = field(repr=False)
    domain: Domain
    integer: bool = False
    dtype: torch.dtype = torch.float64
    mechanism: Declared | None = field(default=None, repr=False)

    @classmethod
    def of(cls, checked: Declared | Release, domain: Domain | None, dtype: torch.dtype = torch.float64) -> Subject:
        """The subject that a mechanism or a function is.

        Raises:
            InputError: if it is neither, if a function comes without a domain, or a mechanism does not release
                records of its own shape.
        """
        if is_mechanism(checked):
            if not checked.same_shape:
                raise InputError(
                    f"{checked.name} does not release a tensor of the record's shape: it cannot be checked"
                )
            return cls(checked.name, checked.privatize, checked.domain, checked.integer, dtype, checked)
        if not callable(checked):
            raise InputError(f"a check takes a mechanism or a function, got {type(checked).__name__}")
        if domain is None:
            raise InputError("a check of a function needs a domain, a Box or a Ball")
        return cls(getattr(checked, "__name__", type(checked).__name__), checked, domain, False, dtype)

    @property
    def size(self) -> int:
        """I, the elements of a record."""
        return self.domain.size

    def release(self, batch: Tensor, generator: torch.Generator) -> Tensor:
        """The releases of a batch, flattened to (batch, elements).

        Raises:
            InputError: if the function fails or does not return one row a record.
        """
        given = batch.to(self.dtype)
        try:
            out = self.function(given, generator)
        except InputError:
            raise
        except Exception as error:  # whatever the code under test may raise
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(f"{self.name} failed on a batch of shape {tuple(given.shape)}: {reason}") from error
        if not isinstance(out, Tensor):
            out = torch.as_tensor(out)
        if out.dim() == 0 or out.shape[0] != batch.shape[0]:
            raise InputError(f"{self.name} must return one release a record, got shape {tuple(out.shape)}")
        return out.detach().reshape(batch.shape[0], -1)

    def likelihood_ratio(self, x: Tensor, x_prime: Tensor) -> Callable[[Tensor], Tensor] | None:
        """y -> log p(y|x) - log p(y|x') as the mechanism declares it, or None where it declares none."""
        mechanism = self.mechanism
        if mechanism is None:
            return None
        try:
            mechanism.log_likelihood_ratio(x.unsqueeze(0), x, x_prime)
        except InputError:
            return None
        return lambda y: mechanism.log_likelihood_ratio(y.reshape(-1, *mechanism.domain.shape), x, x_prime)
