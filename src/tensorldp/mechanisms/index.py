"""Which module defines which mechanism, readable without importing any of them (a test holds it to the registry)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

from tensorldp.errors import InputError

ENTRY_POINTS = "tensorldp.mechanisms"

MODULES: dict[str, tuple[str, ...]] = {
    "additive": ("none", "laplace", "gaussian", "gaussian-classical", "gaussian-analytic", "gaussian-per-element"),
    "tldp": ("tldp-l", "tldp-g", "tldp-l-w", "tldp-g-w"),
    "discrete": ("tldp-discrete",),
    "mvg": ("mvg",),
    "tvg": ("tvg", "udn", "idn"),
    "matrix": ("matrix",),
    "jl": ("jl",),
    "gradient": ("optimized",),
    "layerwise": ("llagp",),
    "dphsgd": ("dphsgd",),
    "pldp": ("pdpm", "plu-fedoa"),
    "binary": ("randomized-response", "k-rr"),
    "latent": ("latent",),
    "duchi": ("duchi",),
    "sampled": ("piecewise", "hybrid"),
    "privunit": ("privunit", "privunit-g", "projunit"),
}

MODULE_OF: dict[str, str] = {name: module for module, names in MODULES.items() for name in names}


def known() -> list[str]:
    """The package's own keys and the names of installed entry points, sorted."""
    return sorted({*MODULE_OF, *(point.name for point in entry_points(group=ENTRY_POINTS))})


@cache
def source_modules(name: str) -> list[str]:
    """The modules of this package that a mechanism is made of: its own and, transitively, those it imports."""
    folder = Path(__file__).parent
    found, waiting = set(), [MODULE_OF.get(name, "base")]
    while waiting:
        module = waiting.pop()
        if module not in found and module not in ("registry", "index"):
            found.add(module)
            text = (folder / f"{module}.py").read_text()
            waiting += re.findall(r"^from tensorldp\.mechanisms\.(\w+) import", text, re.MULTILINE)
    return sorted(found)


def import_plugins(modules: Sequence[str] | None = None) -> None:
    """Import modules that register mechanisms: those given, or those in TENSORLDP_PLUGINS (comma separated).

    Raises:
        InputError: if a module cannot be imported.
    """
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))  # a user's own module lies beside config.yaml
    named = os.environ.get("TENSORLDP_PLUGINS", "").split(",") if modules is None else modules
    for module in filter(None, named):
        try:
            import_module(module)
        except (Exception, SystemExit) as error:  # whatever a user's module may raise
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(f"the plugin {module!r} cannot be imported: {reason}") from None


def plugin_names(modules: Sequence[str]) -> list[str]:
    """The mechanisms that the given modules register; without modules nothing is imported."""
    if not modules:
        return []
    from tensorldp.mechanisms.registry import names

    import_plugins(modules)
    return [name for name in names() if name not in MODULE_OF]
