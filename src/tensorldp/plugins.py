"""Modules of a user, named in config.yaml or in TENSORLDP_PLUGINS, that register something when they are imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from tensorldp.errors import InputError

REGISTERED: list[str] = []  # the module of each member of a registry, as `Registry.add` notes it
_looked_at: dict[str, ModuleType] = {}


def plugin_modules() -> list[str]:
    """The modules that TENSORLDP_PLUGINS names, comma separated."""
    return [name for name in os.environ.get("TENSORLDP_PLUGINS", "").split(",") if name]


def module_file(folder: Path, name: str) -> Path | None:
    """The file of a module or a package that a folder holds, if it does."""
    path = folder / name.replace(".", "/")
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def import_plugins(modules: Sequence[str] | None = None) -> None:
    """Import modules that register something: those given, or those that TENSORLDP_PLUGINS names.

    The working directory is searched last: a user's own module lies beside config.yaml.

    Raises:
        InputError: if a module cannot be imported, registers nothing, or is another than the one beside config.yaml.
    """
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    for name in plugin_modules() if modules is None else filter(None, modules):
        before = len(REGISTERED)
        try:
            module = import_module(name)
        except (Exception, SystemExit) as error:  # whatever a user's module may raise
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(f"the plugin {name!r} cannot be imported: {reason}") from None
        if _looked_at.get(name) is not module:
            _look_at(name, module, REGISTERED[before:])
            _looked_at[name] = module


def _look_at(name: str, module: ModuleType, registered: Sequence[str]) -> None:
    found, own = getattr(module, "__file__", None) or "a module of Python itself", module_file(Path.cwd(), name)
    if own and own.resolve() != Path(found).resolve():
        raise InputError(f"the plugin {name!r} is {found}, which Python finds before {own}: give yours another name")
    if not registered and not any(f"{home}.".startswith(f"{name}.") for home in REGISTERED):
        raise InputError(f"the plugin {name!r} is {found}, which registers nothing")
