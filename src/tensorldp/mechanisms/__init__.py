"""Mechanisms behind one small interface: `names`, `make`, `register`, and the domains `Box` and `Ball`.

Attributes load on first use, so that the workflow can read the index of names without importing torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tensorldp.mechanisms.base import Mechanism
    from tensorldp.mechanisms.domain import Ball, Box, Domain
    from tensorldp.mechanisms.registry import make, mechanism_class, names, register

_HOME = {
    "Mechanism": "base",
    "Ball": "domain",
    "Box": "domain",
    "Domain": "domain",
    "make": "registry",
    "mechanism_class": "registry",
    "names": "registry",
    "register": "registry",
}

__all__ = ["Ball", "Box", "Domain", "Mechanism", "make", "mechanism_class", "names", "register"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'tensorldp.mechanisms' has no attribute {name!r}")
    return getattr(import_module(f"tensorldp.mechanisms.{_HOME[name]}"), name)
