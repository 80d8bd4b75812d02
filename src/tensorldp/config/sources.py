"""Which source files a job depends on: its script and all that this imports, found without importing anything."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence, Set
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tensorldp.config.syntax import Import, Part, functions, syntax

PACKAGE = "tensorldp"
ROOT = Path(__file__).parents[1]
MECHANISMS, METHODS = "mechanisms", "studies/methods"

# What changes no number, and why. A folder ends in a slash. What only these files import does not count either.
AROUND = {
    "errors.py": "words of a user's mistakes, and checks that hand their argument back or raise",
    "runtime/cli.py": "how a script reads its command line; what it reads is a parameter of the job",
    "runtime/environment.py": "what a run hands to its jobs: mirror, device, plug-ins",
    "studies/leftovers.py": "deletes what a killed run left",
    "runtime/memory.py": "where freed memory goes",
    "runtime/precision.py": "the precision is a parameter of the job",
    "runtime/progress.py": "progress bars",
    "runtime/provenance.py": "times, versions and the commit, beside the numbers",
    "data/fetch.py": "what it fetches is compared with a checksum, and data and weights with their digests",
    "data/checksum.py": "as data/fetch.py",
    "config/settings.py": "reads config.yaml for the plan; what a job needs of it is a parameter of the job",
    "config/reading.py": "as config/settings.py",
    "config/methods/__init__.py": "the list of methods; the one that a cell names counts by itself",
    "config/sources.py": "this file",
    "config/syntax.py": "this file's reader",
    "config/syntax_kept.py": "what that has read before",
}
# These find modules by name: what they find counts, how they find it does not.
FINDERS = ("registration/",)


@cache
def source_digest(
    script: Path, *, method: str = "", mechanism: str = "", plugins: tuple[str, ...] = (), others: tuple[str, ...] = ()
) -> str:
    """One short text that changes with the code of any file of `source_files`, and not with comments and docstrings.

    Where figures read the labels of classes from their syntax trees (`class_literals`), these labels count too.
    Arguments are those of `source_files`.
    """
    search = _searched(script, method, mechanism, plugins, others)
    found = hashlib.sha256()
    for path in sorted(search.found, key=_label):
        found.update(_label(path).encode() + syntax(path).digest)
    for look in sorted(look for package in search.shows for path in _modules(package) for look in syntax(path).looks):
        found.update(look.encode())
    return found.hexdigest()[:16]


@cache
def source_files(
    script: Path, *, method: str = "", mechanism: str = "", plugins: tuple[str, ...] = (), others: tuple[str, ...] = ()
) -> tuple[Path, ...]:
    """The script and, directly or not, all that it imports of this package and of modules in the working directory.

    Modules that are chosen by name are all those of their package, but of methods and mechanisms only the cell's. Of
    a method's module, imports count that the functions which the script calls need.

    Args:
        script: a Python file, or a notebook.
        method: of the cell; without, all methods count where one is chosen.
        mechanism: of the cell; without, all mechanisms count where one is chosen.
        plugins: names of a user's modules that may define what is chosen by name.
        others: further names that the cell chose, such as its data set and its model, as plug-ins may define them.

    Returns:
        Absolute paths, in an order that does not depend on where the package lies.
    """
    return tuple(sorted(_searched(script, method, mechanism, plugins, others).found, key=_label))


@cache
def _searched(script: Path, method: str, mechanism: str, plugins: tuple[str, ...], others: tuple[str, ...]) -> _Search:
    return _Search(script, method, mechanism, plugins, others)


class _Search:
    """The walk from a script along imports.

    Attributes:
        found: the files that count.
        shows: packages of whose classes only what a figure shows counts.
    """

    def __init__(
        self, script: Path, method: str, mechanism: str, plugins: tuple[str, ...], others: tuple[str, ...]
    ) -> None:
        self.script, self.method, self.mechanism = script.absolute(), method, mechanism
        self.plugins = [path for name in plugins if (path := _module_file(Path.cwd(), name))]
        self.names = {method, mechanism, *others}
        self.called = _called_names(self.script, method) if method else frozenset()
        self.shows: set[str] = set()
        self.found = self._run()

    def _run(self) -> set[Path]:
        waiting = [self.script]
        waiting += [path for path in self.plugins if not self.method or self.names & syntax(path).strings]
        found: set[Path] = set()
        while waiting:
            path = waiting.pop()
            if path not in found and not _is_around(path) and not self._is_of_another_method(path):
                found.add(path)
                waiting += self._next(path)
        around = {init for path in found for init in _packages_around(path)}
        return {path for path in found | around if not _is_around(path) and not _label(path).startswith(FINDERS)}

    def _is_of_another_method(self, path: Path) -> bool:
        """Settings of other methods, which the list of methods imports."""
        label = _label(path)
        if not self.method or not label.startswith("config/methods/") or label.endswith("base.py"):
            return False
        return self.method not in syntax(path).strings

    def _next(self, path: Path) -> list[Path]:
        """What a file depends on directly."""
        in_method = self.method and _label(path).startswith(f"{METHODS}/")
        steps = _steps(path, self.called if in_method else None)
        self.shows.update(steps.shows)
        return [*steps.files, *(file for package in steps.chooses for file in self._chosen(package))]

    def _chosen(self, package: str) -> Sequence[Path]:
        folder = _folder(package)
        if folder == METHODS and self.method:
            own = _file(ROOT / METHODS / f"{self.method}.py")
            return [own] if own.is_file() else self.plugins
        if folder == MECHANISMS and self.mechanism:
            return _defining(MECHANISMS, self.mechanism) or self.plugins
        return _modules(package)


class _Steps(NamedTuple):
    files: tuple[Path, ...]
    chooses: tuple[str, ...]
    shows: tuple[str, ...]


@cache
def _steps(path: Path, called: frozenset[str] | None) -> _Steps:
    """The files that one imports or reads, and the packages whose modules it chooses by name or shows the classes of.

    Args:
        path: the file.
        called: the functions that are called, where not all of them count.
    """
    said = syntax(path)
    imports = list(said.imports) if called is None else _needed_imports(path, called)
    files = [file for found in imports for file in _resolve(found, path)]
    files += [file for name in said.makes for file in _defining(MECHANISMS, name)]
    files += [file for package in said.reads for file in _modules(package, data=True)]
    kinds = [found.name for found in imports if found.module == f"{PACKAGE}.registration.kinds"]
    packages = syntax(_file(ROOT / "registration" / "kinds.py")).packages if kinds else {}
    chosen = tuple(packages[kind] for kind in kinds if kind in packages)
    if any(found.name == "class_literals" for found in imports):
        return _Steps(tuple(files), tuple(said.chooses), chosen)
    return _Steps(tuple(files), (*said.chooses, *chosen), ())


@cache
def _called_names(script: Path, method: str) -> frozenset[str]:
    """The names that a script uses, and those that the functions of these names in a method's modules use in turn."""
    parts, rest = functions(script)
    names = rest.union(*(part.uses for part in parts))
    modules: set[Path] = set()
    waiting = [_file(ROOT / METHODS / "__init__.py"), _file(ROOT / METHODS / f"{method}.py")]
    while waiting:
        path = waiting.pop()
        if path not in modules and path.is_file() and _label(path).startswith(f"{METHODS}/"):
            modules.add(path)
            waiting += [near for found in syntax(path).imports for near in _resolve(found, path)]
    parts = [part for path in modules for part in functions(path)[0]]
    while True:
        more = names.union(*(part.uses for part in parts if _counts(part, names)))
        if more == names:
            return frozenset(names)
        names = more


def _counts(part: Part, called: Set[str]) -> bool:
    """Whether a function may run; Python itself calls those like `__init__`."""
    return part.name in called or part.name.startswith("__")


def _needed_imports(path: Path, called: frozenset[str]) -> list[Import]:
    """The imports of a method's module that functions of the called names need."""
    parts, rest = functions(path)
    running = [part for part in parts if _counts(part, called)]
    used = rest.union(*(part.uses for part in running))
    inside = [found for part in running for found in part.imports]
    return [*inside, *(found for found in syntax(path).imports if found.bound in used)]


@cache
def _resolve(found: Import, importer: Path) -> tuple[Path, ...]:
    """The files that an import of this package, or of a module beside the importing one, stands for."""
    module = found.module
    if module.startswith("."):
        up = importer.parents[len(module) - len(module.lstrip(".")) - 1]
        folder, dotted = up, module.lstrip(".")
    elif module == PACKAGE or module.startswith(f"{PACKAGE}."):
        folder, dotted = ROOT, module[len(PACKAGE) + 1 :]
    elif ROOT in importer.parents:
        return ()  # a library
    else:
        folder, dotted = (importer.parent if importer.suffix == ".py" else Path.cwd()), module
    path = folder / dotted.replace(".", "/") if dotted else folder
    if found.name and (inner := _module_file(path, found.name)):
        return (inner,)
    if (plain := path.with_suffix(".py")).is_file():
        return (_file(plain),)
    init = path / "__init__.py"
    if not init.is_file() or init == ROOT / "__init__.py":
        return ()
    for again in syntax(init).imports:  # a name that a package hands on stands for where it comes from
        if found.name and again.bound == found.name:
            return _resolve(again, init)
    return (_file(init),)


@cache
def _packages_around(path: Path) -> tuple[Path, ...]:
    """The `__init__.py` of the packages that a file of this one lies in, which an import of it runs first."""
    folders = [folder for folder in path.parents if ROOT in folder.parents]
    return tuple(_file(init) for folder in folders if (init := folder / "__init__.py").is_file())


def _module_file(folder: Path, name: str) -> Path | None:  # as in registration.plugins, which older commits have not
    path = folder / name.replace(".", "/")
    return next((_file(p) for p in (path.with_suffix(".py"), path / "__init__.py") if p.is_file()), None)


def _folder(package: str) -> str:
    return package[len(PACKAGE) + 1 :].replace(".", "/")


@cache
def _modules(package: str, data: bool = False) -> tuple[Path, ...]:
    """The modules, or the other files, of a package's own folder."""
    files = [path for path in sorted((ROOT / _folder(package)).iterdir()) if path.is_file() and path.name != "py.typed"]
    return tuple(_file(path) for path in files if (path.suffix == ".py") != data)


@cache
def _defining(folder: str, name: str) -> tuple[Path, ...]:
    """The modules with a class whose attribute `name` is this one."""
    return tuple(path for path in _modules(f"{PACKAGE}.{folder}") if name in syntax(path).defines)


@cache
def _file(path: Path) -> Path:
    """One object for equal paths, as comparing them costs more than all else here."""
    return path


@cache
def _label(path: Path) -> str:
    """A path as digests know it: the same wherever the package and the working directory lie."""
    if path.is_relative_to(ROOT):
        return path.relative_to(ROOT).as_posix()
    return f"./{path.relative_to(Path.cwd()).as_posix() if path.is_relative_to(Path.cwd()) else path.name}"


@cache
def _is_around(path: Path) -> bool:
    return _label(path).startswith(tuple(AROUND))
