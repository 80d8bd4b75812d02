"""Names to mechanisms: the package's own, those of entry points, and those registered by an import."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from typing import TypeVar

from tensorldp.errors import InputError, unknown
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.domain import Domain
from tensorldp.mechanisms.index import ENTRY_POINTS, MODULE_OF, import_plugins

_CLASSES: dict[str, type[Mechanism]] = {}
M = TypeVar("M", bound=type[Mechanism])


def register(cls: M) -> M:
    """Make a mechanism known under its `name`; use as a class decorator.

    Raises:
        InputError: if the class has no name or another class already has it.
    """
    name = getattr(cls, "name", None)
    if not isinstance(name, str) or not name:
        raise InputError(f"{cls.__name__} needs a class attribute `name` to be registered")
    if name in _CLASSES and _CLASSES[name].__qualname__ != cls.__qualname__:
        raise InputError(f"a mechanism named {name!r} is already registered by {_CLASSES[name].__module__}")
    _CLASSES[name] = cls
    return cls


@cache
def _load() -> None:
    package = import_module("tensorldp.mechanisms")
    for module in iter_modules(package.__path__):
        import_module(f"tensorldp.mechanisms.{module.name}")
    for point in entry_points(group=ENTRY_POINTS):
        point.load()
    import_plugins()


def names() -> list[str]:
    """The registry keys, sorted."""
    _load()
    return sorted(_CLASSES)


def mechanism_class(name: str) -> type[Mechanism]:
    """The class behind a registry key.

    Raises:
        InputError: if there is none, naming the nearest key.
    """
    if name not in _CLASSES and name in MODULE_OF:
        import_module(f"tensorldp.mechanisms.{MODULE_OF[name]}")  # only its own module: importing all costs time
    if name not in _CLASSES:
        _load()
    if name not in _CLASSES:
        raise unknown("mechanism", name, _CLASSES)
    return _CLASSES[name]


def make(name: str, *, epsilon: float, domain: Domain, delta: float = 1e-5, **options: object) -> Mechanism:
    """The mechanism `name` at a nominal epsilon on a domain.

    Args:
        epsilon: > 0; `math.inf` only for `none`.
        domain: a `Box` or a `Ball`.
        delta: in (0, 1), ignored where the mechanism has none.
        options: the mechanism's own, see its class.

    Raises:
        InputError: if the name or an option is unknown, or a value is out of range.
    """
    cls = mechanism_class(name)
    allowed = option_names(cls)
    for key in options:
        if key not in allowed:
            raise unknown(f"option of {name}", key, allowed)
    return cls(epsilon=epsilon, domain=domain, delta=delta, **options)  # type: ignore[arg-type]


def option_names(cls: type[Mechanism]) -> set[str]:
    """The keyword options that a mechanism takes beyond epsilon, domain and delta."""
    import inspect

    found: set[str] = set()
    for base in cls.__mro__:
        if "__init__" in base.__dict__ and base is not object:
            found |= {
                p.name for p in inspect.signature(base).parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY
            }
    return found - {"epsilon", "domain", "delta"}
