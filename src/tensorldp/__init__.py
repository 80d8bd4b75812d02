"""What local differential privacy costs, and what it really gives, when the private thing is a tensor."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tensorldp.version import __version__ as __version__

__all__ = ["mechanisms", "privacy"]

if TYPE_CHECKING:
    from tensorldp import mechanisms, privacy
else:  # imported when they are first used, as they import torch

    def __getattr__(name: str) -> Any:
        """Returns a module of `__all__`."""
        if name in __all__:
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Returns the names of this module, with those of `__all__`."""
    return sorted({*globals(), *__all__})
