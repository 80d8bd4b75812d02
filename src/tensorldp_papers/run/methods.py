"""How cells are computed: one module per method, imported when a cell needs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from tensorldp.errors import InputError
from tensorldp.registry import Registry
from tensorldp_papers.registries import METHOD_HOMES
from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.method import (
    AnyMethod,
    Audited,
    InsideMethod,
    MeasureMethod,
    ReleaseMethod,
    SharedMethod,
    Trained,
    read_trained,
)
from tensorldp_papers.run.plans import METHODS, OWN, MethodPlan

C = TypeVar("C", bound=type[Any])
_OUTSIDE: Registry[AnyMethod] = Registry("method", group="tensorldp.methods")


def method(name: str) -> AnyMethod:
    """The method of a name.

    Raises:
        InputError: if there is none.
    """
    plan = METHODS.get(name)
    if plan not in OWN:
        return _OUTSIDE.get(name)
    found = import_module(METHOD_HOMES[name]).METHOD
    assert isinstance(found, (ReleaseMethod, InsideMethod, SharedMethod, MeasureMethod))
    assert isinstance(plan, found.plan_type)
    return found


def register_method(plan: MethodPlan[Any, Any]) -> Callable[[C], C]:
    """Make a method known, from outside the package; use as a decorator of its class.

    Args:
        plan: what planning has to know of it, under the method's name.

    Returns:
        A decorator that raises InputError if the class is not of the kind that the plan says, or the name is taken.
    """

    def register(cls: C) -> C:
        kinds = (ReleaseMethod, InsideMethod, SharedMethod, MeasureMethod)
        if not issubclass(cls, kinds) or not isinstance(plan, cls.plan_type):
            raise InputError(f"the method {plan.name} has a {type(plan).__name__}, which {cls.__name__} does not fit")
        METHODS.add(plan.name, plan, cls.__module__)
        _OUTSIDE.add(plan.name, cls(), cls.__module__)
        return cls

    return register


def guarantee_of(cell: AnyCell, data: Path | None, models: Sequence[Path] | None = None) -> dict[str, Any]:
    """What a cell's releases guarantee, whatever its method.

    Args:
        cell: the cell.
        data: the folder of the prepared data; None for the data set `synthetic`.
        models: the files of shared models, where the method has such.

    Raises:
        InputError: if what the method needs is not given.
    """
    found = method(cell.method)
    if isinstance(found, MeasureMethod):
        return found.guarantee(cell, data)
    if isinstance(found, SharedMethod):
        return found.guarantee(cell, _data(cell, data), _shared(cell, models))
    return found.guarantee(cell, _data(cell, data))


def audited_of(cell: AnyCell, data: Path | None, models: Sequence[Path] | None = None) -> Audited:
    """The mechanism of a cell to audit and a note about it, whatever its method; arguments as of `guarantee_of`."""
    found = method(cell.method)
    if isinstance(found, MeasureMethod):
        return found.audited(cell, data)
    if isinstance(found, SharedMethod):
        return found.audited(cell, _data(cell, data), _shared(cell, models))
    return found.audited(cell, _data(cell, data))


def _data(cell: AnyCell, data: Path | None) -> Path:
    if data is None:
        raise InputError(f"cells of the method {cell.method} read a data set: give its folder as --data")
    return data


def _shared(cell: AnyCell, models: Sequence[Path] | None) -> list[Trained]:
    if models is None:
        raise InputError(f"cells of the method {cell.method} share models: give their files")
    return [read_trained(path)[0] for path in models]
