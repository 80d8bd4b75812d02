"""Names to mechanisms."""

from __future__ import annotations

from typing import TypeVar

from tensorldp.deltas import NOMINAL_DELTA
from tensorldp.domain import Domain
from tensorldp.errors import InputError
from tensorldp.mechanism_table import MECHANISMS
from tensorldp.mechanisms.base import Mechanism

M = TypeVar("M", bound=type[Mechanism])


def register(cls: M) -> M:
    """Makes a mechanism known under its `name`; use as a class decorator.

    Raises:
        InputError: if the class is no `Mechanism`, has no name, or its name is taken by another class.
    """
    if not (isinstance(cls, type) and issubclass(cls, Mechanism)):
        raise InputError(f"only a class derived from Mechanism can be registered as one, got {cls!r}")
    name = getattr(cls, "name", None)
    if not isinstance(name, str) or not name:
        raise InputError(f"{cls.__name__} needs a class attribute `name` to be registered")
    MECHANISMS.add(name, cls)
    return cls


def names() -> list[str]:
    """Returns the registry keys, sorted."""
    return MECHANISMS.names()


def mechanism_class(name: str) -> type[Mechanism]:
    """Returns the class behind a registry key.

    Raises:
        InputError: if there is none, naming the nearest key.
    """
    cls: type[Mechanism] = MECHANISMS.get(name)
    return cls


def make(name: str, *, epsilon: float, domain: Domain, delta: float = NOMINAL_DELTA, **options: object) -> Mechanism:
    """Makes the mechanism `name` at a nominal epsilon on a domain.

    Args:
        name: its registry key.
        epsilon: in [1e-12, 1e12]; `math.inf` only for `none`.
        domain: a `Box` or a `Ball`.
        delta: in [1e-200, 1), ignored where the mechanism has none.
        **options: the mechanism's own, see its class.

    Raises:
        InputError: if the name or an option is unknown, or a value is out of range.
    """
    cls = mechanism_class(name)
    cls.check_options(options)
    return cls(epsilon=epsilon, domain=domain, delta=delta, **options)  # type: ignore[arg-type]
