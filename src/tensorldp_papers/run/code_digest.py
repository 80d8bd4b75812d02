"""A digest of the code that a job runs: the statements that it may reach, read without running them.

A file counts if a statement that counts imports it, wherever the import is, or if it defines something that the job
chooses by name: its method, its mechanism, its network. Within the package a function, a class or a method counts if a
statement that counts says its name, and an import if its names are used: so a score does not depend on the code of
audits and curves that only a guarantee reaches. Comments and docstrings do not count. When in doubt a statement counts:
too much is computed again rather than too little.
"""

from __future__ import annotations

import ast
import atexit
import contextlib
import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import count
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from tensorldp.files import write_text
from tensorldp.mechanism_table import MECHANISMS
from tensorldp.registry import Registry
from tensorldp_papers.claim_registry import CLAIMS
from tensorldp_papers.registries import METHODS, MODELS, PARSERS
from tensorldp_papers.room_folders import OURS, ROOM

if TYPE_CHECKING:
    from tensorldp_papers.run.cell import AnyCell

PACKAGES = ("tensorldp", "tensorldp_papers")
ROOT = Path(__file__).parents[2]
HOMES = tuple(ROOT / package for package in PACKAGES)
KINDS: dict[str, Registry[Any]] = {
    "MECHANISMS": MECHANISMS,
    "MODELS": MODELS,
    "PARSERS": PARSERS,
    "CLAIMS": CLAIMS,
    "METHODS": METHODS,
}
RUNS_METHODS = ROOT / "tensorldp_papers" / "run" / "method.py"  # which imports the module that a plan names
CHOSEN = ("MECHANISMS", "METHODS")  # a cell has one of each
ROOM_DATA = (ROOM, "claims.csv", "printed.yaml")  # of a plug-in that is a room
MAKERS = ("make", "build", "get")  # calls that choose something by a name in the code
BY_NAME = ("getattr", "attrgetter", "methodcaller")  # calls that reach a method by its name in a text
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# that leave a function to be reached by its name; any other may hand it to a library or a registry
DECORATORS = ("property", "cached_property", "classmethod", "staticmethod", "abstractmethod", "cache", "overload")


Key = tuple[str, str]  # a name, and where it is said: anywhere as a "name" or a "method", or in a file


class Part(NamedTuple):
    """A statement of a file, which counts as a whole.

    Attributes:
        name: what must be said elsewhere so that it counts, such as a function's name; empty if it always counts.
        method: whether it is a method, which code reaches as an attribute.
        digest: that of its syntax tree without docstrings and without methods, which are parts of their own.
        says: the names and texts in it.
        attributes: the attributes in it.
        binds: the names that it imports.
        asks: what it imports, and the data of packages that it reads: kinds of `FILES_OF` and names.
        chosen: names that it gives to one of `MAKERS`.
        kinds: the registries that it imports.
    """

    name: str
    method: bool
    digest: bytes
    says: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    binds: tuple[str, ...] = ()
    asks: tuple[tuple[str, str], ...] = ()
    chosen: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


@cache
def source_digest(scripts: tuple[Path, ...], names: frozenset[str] | None = None, plugins: tuple[str, ...] = ()) -> str:
    """Returns a short text that changes with any statement of `source_parts`, which has the same arguments."""
    listed = source_listing(scripts, names, plugins)
    return hashlib.sha256("".join(f"{name} {part}\n" for name, part in listed.items()).encode()).hexdigest()[:16]


def source_listing(
    scripts: tuple[Path, ...], names: frozenset[str] | None = None, plugins: tuple[str, ...] = ()
) -> dict[str, str]:
    """Returns the digest of what counts of each file, by its path; arguments as of `source_files`."""
    found = source_parts(scripts, names, plugins)
    listed = {_label(path): hashlib.sha256(b"".join(part.digest for part in parts)) for path, parts in found.items()}
    return {name: listed[name].hexdigest()[:16] for name in sorted(listed)}


def code_of_cell(cell: AnyCell, scripts: Path, plugins: tuple[str, ...] = (), stages: tuple[str, ...] = ()) -> str:
    """Returns the digest of the code that computes a cell, which has one method, one mechanism and one network.

    Args:
        cell: a cell of any study.
        scripts: the folder of the stages' scripts.
        plugins: names of a user's modules.
        stages: which stages; without any, those that its scores pass through.
    """
    return source_digest(*job_of_cell(cell, scripts, plugins, stages))


def job_of_cell(
    cell: AnyCell, scripts: Path, plugins: tuple[str, ...] = (), stages: tuple[str, ...] = ()
) -> tuple[tuple[Path, ...], frozenset[str], tuple[str, ...]]:
    """Returns the arguments of `source_digest` for `code_of_cell`, which has the same arguments."""
    return tuple(scripts / f"{stage}.py" for stage in stages or cell.plan.rules), cell.names(), plugins


def source_files(
    scripts: tuple[Path, ...], names: frozenset[str] | None = None, plugins: tuple[str, ...] = ()
) -> tuple[Path, ...]:
    """Returns the files of `source_parts`, which has the same arguments, sorted."""
    return tuple(sorted(source_parts(scripts, names, plugins)))


@cache
def source_parts(
    scripts: tuple[Path, ...], names: frozenset[str] | None = None, plugins: tuple[str, ...] = ()
) -> dict[Path, list[Part]]:
    """Returns what a job may reach of the scripts, of this package and of modules beside them, by file.

    Args:
        scripts: Python files or notebooks.
        names: what a cell chooses: method, mechanism, network, data set; then no other mechanisms and methods count.
            None where a job may choose any.
        plugins: names of a user's modules in the working directory; each counts if it contains one of `names`, or a
            module beside it that it imports does.
    """
    methods = sorted(name for name in names or () if METHODS.module(name))  # which many cells have in common
    shared = [*scripts, *(file for name in methods for file in _homes(name))]
    chosen = [file for name in (names or frozenset()).difference(methods) for file in _homes(name)]
    for plugin in plugins:
        own = _reached(_module(Path.cwd(), plugin), frozenset())
        said = [part.says for path in own if not _is_own(path) for part in _parts(path)]
        if names is None or not all(map(names.isdisjoint, said)):
            chosen += own
            chosen += _data_of_plugin(plugin) if names is None else []
    return _reached(shared, names, chosen)


def _data_of_plugin(name: str) -> list[Path]:
    folder = Path.cwd() / name.replace(".", "/")
    return [file for data in ROOM_DATA if (file := folder / data).is_file()]


def _reached(
    files: Iterable[Path], names: frozenset[str] | None, chosen: Iterable[Path] = ()
) -> dict[Path, list[Part]]:
    """Returns what counts of these files and all that they may import, where only `names` can choose something.

    Args:
        files: what many jobs have in common.
        names: as of `source_parts`.
        chosen: more files; the same as if they were among `files`, and sooner there.
    """
    if names is None:  # no other job has these in common
        return _Reach(True, [*files, *chosen]).parts()
    return _Reach(False, chosen, _reach_of(tuple(files))).parts()


class _Reach:
    """What counts: parts of files, by their numbers.

    Args:
        anything: whether any mechanism and method may be chosen.
        files: that count, with what they may import.
        before: what counts already; it stays as it is.
    """

    def __init__(self, anything: bool, files: Iterable[Path], before: _Reach | None = None) -> None:
        self.anything = anything
        self.before = before
        self.said: set[int] = before.said.copy() if before else set()
        self.found: dict[Path, frozenset[int] | set[int]] = before.found.copy() if before else {}
        self.left: defaultdict[int, list[tuple[Path, int]]] = defaultdict(list)  # parts that wait for a key to be said
        self._add([*files])

    def _add(self, waiting: list[Path]) -> None:
        parts = list[tuple[Path, int]]()
        while waiting or parts:
            if waiting:
                if (path := waiting.pop()) in self.found:
                    continue
                self.found[path] = set()
                if self.anything and path == RUNS_METHODS:
                    waiting += [file for name in METHODS if METHODS.module(name) for file in _homes(name)]
                for number, keys in enumerate(_keys(path)):
                    if not keys or not self.said.isdisjoint(keys):
                        parts.append((path, number))
                    else:
                        for key in keys:
                            self.left[key].append((path, number))
                continue
            path, number = parts.pop()
            numbers = self.found[path]
            if number in numbers:
                continue
            if isinstance(numbers, frozenset):  # of `before`
                numbers = self.found[path] = set(numbers)
            numbers.add(number)
            part = _parts(path)[number]
            waiting += _files(path)[number]
            waiting += [file for name in part.chosen for file in _homes(name)]
            waiting += [file for kind in part.kinds if self.anything or kind not in CHOSEN for file in _of_kind(kind)]
            for key in {*_says(path)[number]} - self.said:
                self.said.add(key)
                parts += self.left.pop(key, [])
                parts += self.before.left.get(key, []) if self.before else []

    def parts(self) -> dict[Path, list[Part]]:
        """Returns the parts that count, by file."""
        return {path: [_parts(path)[number] for number in sorted(numbers)] for path, numbers in self.found.items()}


@cache
def _reach_of(files: tuple[Path, ...]) -> _Reach:
    reach = _Reach(False, files)
    reach.found = {path: frozenset(numbers) for path, numbers in reach.found.items()}
    return reach


NUMBERS: defaultdict[Key, int] = defaultdict(count().__next__)  # of keys: sets of numbers are compared much sooner


def _numbered(keys: Iterable[Key]) -> tuple[int, ...]:
    return tuple(NUMBERS[key] for key in keys)


@cache
def _keys(path: Path) -> list[tuple[int, ...]]:
    """Returns for each part of a file the keys one of which must be said so that it counts; none if it always does."""
    found = list[tuple[int, ...]]()
    for part in _parts(path):
        if not part.name:
            found.append(())
        elif part.binds and path.name == "__init__.py":  # it hands on to others what it imports
            found.append(_numbered(("name", name) for name in (*part.binds, "*")))
        elif part.binds:
            found.append(_numbered((str(path), name) for name in part.binds))
        else:
            found.append(_numbered([("method" if part.method else "name", part.name)]))
    return found


@cache
def _says(path: Path) -> list[tuple[int, ...]]:
    """Returns for each part of a file the keys that it says."""
    parts, found = _parts(path), list[tuple[int, ...]]()
    imported = frozenset[str]().union(*(part.binds for part in parts))
    for part in parts:
        keys: set[Key] = {("name", name) for name in (*part.says, *part.binds)}  # "*" is said for all that is handed on
        keys |= set() if part.binds else {(str(path), name) for name in imported.intersection(part.says)}
        found.append(_numbered(keys | {("method", name) for name in part.attributes}))
    return found


@cache
def _is_own(path: Path) -> bool:
    return any(path.is_relative_to(home) for home in HOMES)


@cache
def _label(path: Path) -> str:
    """Returns a path as digests know it, wherever the package lies."""
    return path.relative_to(ROOT).as_posix() if _is_own(path) else path.name


@cache
def _homes(name: str) -> tuple[Path, ...]:
    """Finds the modules of this package that define a mechanism, a network or a method of this name."""
    modules = [kind.module(name) for kind in (MECHANISMS, MODELS, METHODS)]
    modules += [METHODS[name].module] if METHODS.module(name) else []
    return tuple(file for module in modules if module for file in _module(ROOT, module))


@cache
def _of_kind(name: str) -> tuple[Path, ...]:
    """Returns the modules in which a registry looks for its members."""
    return tuple(file for module in KINDS[name].modules() for file in _module(ROOT, module))


@cache
def _parts(path: Path) -> tuple[Part, ...]:
    text = path.read_bytes()
    if not (_is_own(path) and _is_code(path)):
        return _split(text, path)
    key = f"{hashlib.sha256(text).hexdigest()} {path.name == '__init__.py'}"
    earlier = _earlier()
    if key not in earlier.parts:
        earlier.parts[key] = _split(text, path)
        earlier.grown = True
    return earlier.parts[key]


class _Earlier:
    """Parts of this package's files that an earlier process has found, by the files' texts, in Snakemake's folder."""

    def __init__(self) -> None:
        self.path = Path(".snakemake", "code_parts.json").absolute()
        self.version = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
        self.parts: dict[str, tuple[Part, ...]] = {}
        self.grown = False
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):  # there is none, or it is damaged
            kept = json.loads(self.path.read_text())
            if kept["version"] == self.version:
                self.parts = {key: tuple(map(_from_json, parts)) for key, parts in kept["parts"].items()}

    def keep(self) -> None:
        if self.grown and self.path.parent.is_dir():
            parts = {key: [_to_json(part) for part in parts] for key, parts in self.parts.items()}
            with contextlib.suppress(OSError):  # a folder that cannot be written costs the next process seconds
                write_text(self.path, json.dumps({"version": self.version, "parts": parts}))


@cache
def _earlier() -> _Earlier:
    earlier = _Earlier()
    atexit.register(earlier.keep)
    return earlier


def _to_json(part: Part) -> list[Any]:
    words = part.says, part.attributes, part.binds, part.chosen, part.kinds
    return [part.name, part.method, part.digest.hex(), part.asks, *words]


def _from_json(kept: list[Any]) -> Part:
    name, method, digest, asks, *words = kept
    says, attributes, binds, chosen, kinds = (tuple(map(intern, names)) for names in words)  # most occur often
    asked = tuple((kind, of) for kind, of in asks)
    return Part(name, method, bytes.fromhex(digest), says, attributes, binds, asked, chosen, kinds)


def _split(text: bytes, path: Path) -> tuple[Part, ...]:
    try:
        tree = ast.parse(_code_cells(text) if path.suffix == ".ipynb" else text) if _is_code(path) else None
    except (SyntaxError, ValueError, KeyError, TypeError):  # Python or `check_notebook` says so when the file is used
        tree = None
    if tree is None:
        return (Part("", False, hashlib.sha256(text).digest()),)
    if not _is_own(path):  # a user's module and a script count as a whole
        return tuple(_part("", node, path) for node in tree.body if not _is_text(node))
    run = [part for node in tree.body for part in (node.orelse if _is_for_types(node) else [node])]
    counted = [node for node in run if not (_is_text(node) or _is_list_of_names(node))]
    found = [part for node in counted for part in _parts_of(node, path, tree)]
    used = frozenset[str]().union(*(part.says for part in found if not part.binds))
    unused = [part._replace(name="") if part.binds and used.isdisjoint(part.binds) else part for part in found]
    return tuple(found if path.name == "__init__.py" else unused)


def _parts_of(node: ast.stmt, path: Path, tree: ast.Module) -> Iterator[Part]:
    """Splits one statement of a module into parts: of a class its methods, and the rest of it."""
    name = ""
    if isinstance(node, FUNCTIONS) and _is_reached_by_name(node):
        name = node.name
    elif isinstance(node, ast.ClassDef):
        own = all(_is_known_class(base, tree) for base in node.bases)
        methods = [item for item in node.body if isinstance(item, FUNCTIONS) and _is_reached_by_name(item)]
        if own:
            yield from (_part(method.name, method, path, method=True) for method in methods)
            node.body = [item for item in node.body if item not in methods] or [ast.Pass()]
        name = "" if any(not _is_named(mark, ("dataclass",)) for mark in node.decorator_list) else node.name
        part = _part(name, node, path)
        # what is derived from a library's class is called by the library, also through classes that derive from this
        called = [] if own else [method.name for method in methods]
        yield part._replace(attributes=_in_order([*part.attributes, *called]))
        return
    yield _part(name, node, path)


def _is_for_types(node: ast.stmt) -> TypeGuard[ast.If]:
    return isinstance(node, ast.If) and _is_named(node.test, ("TYPE_CHECKING",))


def _is_list_of_names(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and any(_is_named(target, ("__all__",)) for target in node.targets)


def _is_named(node: ast.expr, names: tuple[str, ...]) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    return (called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")) in names


def _is_reached_by_name(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    hidden = node.name.startswith("__") and node.name.endswith("__")
    return not hidden and all(_is_named(mark, DECORATORS) for mark in node.decorator_list)


def _is_known_class(base: ast.expr, tree: ast.Module) -> bool:
    """Returns whether a base is a class of ours or beside, or one that calls no methods of what derives from it."""
    name = base.value if isinstance(base, ast.Subscript) else base
    if not isinstance(name, ast.Name):
        return False
    if name.id in ("ABC", "Generic", "Protocol", "NamedTuple"):
        return True
    if any(isinstance(node, ast.ClassDef) and node.name == name.id for node in tree.body):
        return True
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    homes = [node.module or "" for node in imports for alias in node.names if (alias.asname or alias.name) == name.id]
    return any(home.split(".")[0] in PACKAGES for home in homes)


def _part(name: str, top: ast.stmt, path: Path, *, method: bool = False) -> Part:
    asks: set[tuple[str, str]] = set()
    chosen, kinds, says, attributes = set[str](), set[str](), set[str](), set[str]()
    for node in ast.walk(top):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            asks.update(_imported(node))
            named = {alias.name for alias in node.names}
            kinds |= named & KINDS.keys()
            says |= named
        elif isinstance(node, ast.Call) and node.args:
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            texts = _texts(node.args[0])
            chosen |= texts if called in MAKERS else set()
            asks |= {(called, text) for text in texts} if called in ("files", "room_files") else set()
            attributes |= {text for part in node.args for text in _texts(part)} if called in BY_NAME else set()
        elif isinstance(node, ast.Attribute):
            says.add(node.attr)
            attributes.add(node.attr)
            if isinstance(node.value, ast.Name) and node.value.id in PACKAGES:  # a package may import when it is asked
                asks.add(("attribute", f"{node.value.id}.{node.attr}"))
        elif isinstance(node, ast.Name):
            says.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            says.add(node.value)
        if isinstance(body := getattr(node, "body", None), list):
            node.body = [item for item in body if not _is_text(item)]  # type: ignore[attr-defined]
    binds = set[str]()
    if isinstance(top, (ast.Import, ast.ImportFrom)):
        binds = {(alias.asname or alias.name).split(".")[0] for alias in top.names}
        name, says = "import" if _is_own(path) else "", {alias.name for alias in top.names}
    digest = hashlib.sha256(ast.dump(top).encode()).digest()
    return Part(
        name=name,
        method=method,
        digest=digest,
        says=_in_order(says),
        attributes=_in_order(attributes),
        binds=_in_order(binds),
        asks=tuple(sorted(asks)),
        chosen=_in_order(chosen),
        kinds=_in_order(kinds),
    )


def _in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Returns names, each once and sorted: tuples take a tenth of the memory of sets."""
    return tuple(sorted({*names}))


def _is_code(path: Path) -> bool:
    return path.suffix in (".py", ".ipynb")


def _code_cells(text: bytes) -> str:
    cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return "\n".join("pass" if line.startswith(("%", "!")) else line for line in "\n".join(cells).splitlines())


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _texts(node: ast.AST) -> set[str]:
    return {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Returns what an import asks for: a module and names of it that may be modules, with a point for each level."""
    if isinstance(node, ast.Import):
        yield from (("import", alias.name) for alias in node.names)
        return
    base, points = node.module or "", "." * node.level
    for name in (base, *(f"{base}.{alias.name}".strip(".") for alias in node.names)):
        yield "import", points + name


@cache
def _files(path: Path) -> list[tuple[Path, ...]]:
    """Returns for each part of a file the files that it asks for, as they are there now."""
    return [
        tuple({file: None for kind, name in part.asks for file in FILES_OF[kind](name, path)}) for part in _parts(path)
    ]


def _run_by(name: str, path: Path) -> Iterator[Path]:
    """Returns the files that an import runs: the module, the packages around it, and names that are modules."""
    module = name.lstrip(".")
    if level := len(name) - len(module):
        folders = [path.parents[level - 1]]
    elif module.split(".")[0] in PACKAGES:
        folders = [ROOT]
    else:  # a module beside a script, a notebook or a plug-in; anything else is a library
        folders = [] if _is_own(path) else [path.parent, Path.cwd()]
    for folder in folders:
        yield from _module(folder, module)


@cache
def _module(folder: Path, name: str) -> tuple[Path, ...]:
    """Returns the file of a module in a folder and those of the packages around it; none where it is not a module."""
    parts = name.split(".") if name else []
    around = [folder.joinpath(*parts[:i], "__init__.py") for i in range(1, len(parts))]
    own = [folder.joinpath(*parts, "__init__.py"), *([folder.joinpath(*parts).with_suffix(".py")] if parts else [])]
    return tuple(file for file in (*around, *own) if file.is_file()) if any(map(Path.is_file, own)) else ()


@cache
def _data(package: str) -> tuple[Path, ...]:
    """Returns the files of a package's own folder that are not code."""
    folder = ROOT.joinpath(*package.split("."))
    return (
        tuple(sorted(file for file in folder.iterdir() if file.is_file() and file.suffix != ".py"))
        if folder.is_dir()
        else ()
    )


FILES_OF: dict[str, Callable[[str, Path], Iterable[Path]]] = {
    "import": _run_by,
    "attribute": lambda name, path: _module(ROOT, name),
    "files": lambda name, path: _data(name),
    "room_files": lambda name, path: OURS.glob(f"*/{name}"),
}
