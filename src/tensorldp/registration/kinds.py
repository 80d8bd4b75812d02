"""The kinds of thing that a package or a user's module may add.

They stand here, below the packages that define members, so that planning can list names without importing torch.
"""

from __future__ import annotations

from typing import Any

from tensorldp.registration.registry import Registry

# members are Any, because this module lies below the classes; each package checks and types its own
MECHANISMS: Registry[Any] = Registry("mechanism", group="tensorldp.mechanisms", package="tensorldp.mechanisms")
NO_PRIVACY = "none"  # the mechanism that releases the record itself, with epsilon infinity
MODELS: Registry[Any] = Registry(
    "model", group="tensorldp.models", package="tensorldp.models", decorator="register_model"
)
PARSERS: Registry[Any] = Registry("parser", group="tensorldp.datasets", package="tensorldp.data", decorator="parser")
CLAIMS: Registry[Any] = Registry("claim", group="tensorldp.claims", package="tensorldp.claims", decorator="claim")
