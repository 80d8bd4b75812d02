"""Modules of a user, named in config.yaml or in TENSORLDP_PLUGINS, that register something when they are imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from tensorldp.errors import InputError


def plugin_modules() -> list[str]:
    """The modules that TENSORLDP_PLUGINS names, comma separated."""
    return [name for name in os.environ.get("TENSORLDP_PLUGINS", "").split(",") if name]


def import_plugins(modules: Sequence[str] | None = None) -> None:
    """Import modules that register something: those given, or those that TENSORLDP_PLUGINS names.

    The working directory is searched last: a user's own module lies beside config.yaml.

    Raises:
        InputError: if a module cannot be imported.
    """
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    for module in plugin_modules() if modules is None else filter(None, modules):
        try:
            import_module(module)
        except (Exception, SystemExit) as error:  # whatever a user's module may raise
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(f"the plugin {module!r} cannot be imported: {reason}") from None
