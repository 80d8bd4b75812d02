"""Names to members of one kind: the package's own, those of a user's plug-in modules and those of entry points."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Generic, TypeVar

from tensorldp.errors import InputError, shown, unknown

REGISTERED: list[str] = []  # the module of each member of a registry, as `Registry.add` notes it
_looked_at: dict[str, ModuleType] = {}


def plugin_modules() -> list[str]:
    """Returns the modules that TENSORLDP_PLUGINS names, comma separated."""
    return [name for name in os.environ.get("TENSORLDP_PLUGINS", "").split(",") if name]


def module_file(folder: Path, name: str) -> Path | None:
    """Returns the file of a module or a package that a folder holds, if it does."""
    path = folder / name.replace(".", "/")
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def import_plugins(modules: Sequence[str] | None = None) -> None:
    """Imports modules that register something: those given, or those that TENSORLDP_PLUGINS names.

    The working directory is searched last: a user's own module lies beside config.yaml.

    Raises:
        InputError: if a module cannot be imported, registers nothing, or is not the one beside config.yaml.
    """
    if (here := os.getcwd()) not in sys.path:  # noqa: PTH109  # in a tenth of the time, as claims ask half a million times
        sys.path.append(here)
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


T = TypeVar("T")
M = TypeVar("M")
Homes = Mapping[str, Sequence[str]]
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")  # names become parts of file names and of Snakemake's wildcards


class Registry(Generic[T]):
    """The members of one kind by name.

    A module is imported when one of its members is first used: listing names imports nothing. Members from outside
    register themselves when their module is imported, as a plug-in or through an entry point whose name is the
    member's.

    Args:
        kind: what a member is called in messages.
        group: the group of the entry points.
        own: the names that each module defines, or a function that says so.
    """

    def __init__(self, kind: str, *, group: str, own: Homes | Callable[[], Homes] = MappingProxyType({})) -> None:
        self.kind, self.group, self._homes_of_own = kind, group, own
        self._members: dict[str, T] = {}
        self._homes: dict[str, str] = {}  # the module that defines a member, where known

    @cached_property
    def _own(self) -> dict[str, str]:
        homes = self._homes_of_own() if callable(self._homes_of_own) else self._homes_of_own
        return {name: module for module, names in homes.items() for name in names}

    @cached_property
    def _points(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=self.group)}

    def add(self, name: str, member: T, module: str = "") -> None:
        """Makes a member known.

        Args:
            name: its key.
            member: what the key refers to.
            module: where it is defined; a class or a function says that itself.

        Raises:
            InputError: if the name could not be part of a file's name, or is that of another member.
        """
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise InputError(
                f"a {self.kind} needs a name of letters, digits, hyphens, underscores and dots, got {shown(name)}"
            )
        module = module or (member.__module__ if hasattr(member, "__qualname__") else "")
        home = self._homes.get(name, self._own.get(name))
        known = self._members.get(name)
        another = known is not None and (_origin(known), home) != (_origin(member), module)
        if another or (home and not f"{module}.".startswith(f"{home}.")):
            raise InputError(f"a {self.kind} named {name!r} is already registered by {home or 'another module'}")
        self._members[name], self._homes[name] = member, module
        REGISTERED.append(module)

    def register(self, name: str) -> Callable[[M], M]:
        """Returns a decorator that adds a definition under a name.

        Raises:
            InputError: as `add`, when it is applied.
        """

        def decorate(member: M) -> M:
            self.add(name, member)  # type: ignore[arg-type]
            return member

        return decorate

    def names(self) -> list[str]:
        """Returns all names, sorted. Plug-ins are imported; the package's own modules and entry points are not.

        Raises:
            InputError: if a plug-in cannot be used (see `import_plugins`).
        """
        import_plugins()
        return sorted({*self._own, *self._points, *self._members})

    def get(self, name: str) -> T:
        """Returns the member of a name; imports the one module that defines it.

        Raises:
            InputError: if there is none, naming the nearest, or its module cannot be imported.
        """
        if name not in self._members:
            self._load(name)
        if name not in self._members:
            raise unknown(self.kind, name, self.names())
        return self._members[name]

    def __getitem__(self, name: str) -> T:
        """Returns the member of a name as `get` does."""
        return self.get(name)

    def __contains__(self, name: object) -> bool:
        """Returns whether there is a member of this name, without importing it."""
        return name in self.names()

    def __iter__(self) -> Iterator[str]:
        """Iterates over the names, sorted."""
        return iter(self.names())

    def all(self) -> dict[str, T]:
        """Returns every member by name, sorted; imports all that define one.

        Raises:
            InputError: if a plug-in or an entry point cannot be imported.
        """
        return {name: self.get(name) for name in self.names()}

    def module(self, name: str) -> str | None:
        """Returns the package's module that defines a name, without importing it; None for members from outside."""
        return self._own.get(name)

    def modules(self) -> list[str]:
        """Returns the modules that define own members."""
        return sorted(set(self._own.values()))

    def remove(self, name: str) -> None:
        """Forgets a member from outside.

        Raises:
            InputError: if there is none of that name.
        """
        outside = [key for key in self._members if key not in self._own]
        if name not in outside:
            raise unknown(f"{self.kind} from outside", name, outside)
        del self._members[name], self._homes[name]

    def _load(self, name: str) -> None:
        if name in self._own:
            import_module(self._own[name])
        elif name in self._points:
            point = self._points[name]
            try:
                point.load()
            except Exception as error:  # whatever another package may raise
                reason = " ".join(f"{type(error).__name__}: {error}".split())
                raise InputError(
                    f"the entry point {point.value!r} of {self.group} cannot be loaded: {reason}"
                ) from None
            if name not in self._members:
                raise InputError(f"the entry point {point.value!r} of {self.group} registers no {self.kind} {name!r}")
        else:
            import_plugins()


def _origin(member: object) -> object:
    """Returns what to compare a definition by: its name, as a module imported again defines it again."""
    return getattr(member, "__qualname__", member)
