"""How cells are computed: one module per method, imported when a cell needs it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from tensorldp.config.cell import AnyCell
from tensorldp.config.methods import METHODS
from tensorldp.errors import InputError, unknown
from tensorldp.studies.methods.base import (
    AnyMethod,
    Audited,
    InsideMethod,
    MeasureMethod,
    ReleaseMethod,
    SharedMethod,
    Trained,
    read_trained,
)


def method(name: str) -> AnyMethod:
    """The method of a name.

    Raises:
        InputError: if there is none.
    """
    if name not in METHODS:
        raise unknown("method", name, METHODS)
    found = import_module(f"tensorldp.studies.methods.{name}").METHOD
    assert isinstance(found, (ReleaseMethod, InsideMethod, SharedMethod, MeasureMethod))
    assert isinstance(METHODS[name], found.plan_type)
    return found


def guarantee_of(cell: AnyCell, data: Path | None, models: Path | None = None) -> dict[str, Any]:
    """What a cell's releases guarantee, whatever its method.

    Args:
        cell: the cell.
        data: the folder of the prepared data; None for the data set `synthetic`.
        models: the folder of shared models, where the method has such.

    Raises:
        InputError: if a folder that the method needs is not given.
    """
    found = method(cell.method)
    if isinstance(found, MeasureMethod):
        return found.guarantee(cell, data)
    if isinstance(found, SharedMethod):
        return found.guarantee(cell, _data(cell, data), _shared(cell, models))
    return found.guarantee(cell, _data(cell, data))


def audited_of(cell: AnyCell, data: Path | None, models: Path | None = None) -> Audited:
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


def _shared(cell: AnyCell, models: Path | None) -> list[Trained]:
    if models is None:
        raise InputError(f"cells of the method {cell.method} share models: give their folder as --models")
    return [read_trained(models, seed)[0] for seed in cell.seeds]
