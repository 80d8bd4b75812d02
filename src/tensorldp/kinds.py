"""The registry of mechanisms, below their package, so that planning can list names without importing torch."""

from __future__ import annotations

from typing import Any

from tensorldp.registry import Registry

# members are Any, because this module lies below the class; the package checks and types its own
MECHANISMS: Registry[Any] = Registry("mechanism", group="tensorldp.mechanisms", packages=["tensorldp.mechanisms"])
NO_PRIVACY = "none"  # the mechanism that releases the record itself, with epsilon infinity
