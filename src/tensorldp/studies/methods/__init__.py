"""How cells are computed: one module per method, imported when a cell needs it."""

from __future__ import annotations

from importlib import import_module

from tensorldp.config.methods import METHODS
from tensorldp.errors import unknown
from tensorldp.studies.methods.base import Method


def method(name: str) -> Method:
    """The method of a name.

    Raises:
        InputError: if there is none.
    """
    if name not in METHODS:
        raise unknown("method", name, sorted(METHODS))
    found = import_module(f"tensorldp.studies.methods.{name}").METHOD
    assert isinstance(found, Method)
    return found
