"""What one source file says, read from its syntax tree: a digest without comments and docstrings, and what it needs."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
Function = ast.FunctionDef | ast.AsyncFunctionDef
LOOKS = frozenset({"name", "label", "family", "variant_labels"})  # class attributes that figures read


class Import(NamedTuple):
    """`from module import name as bound`, or `import module as bound` with an empty name."""

    module: str
    name: str
    bound: str


@dataclass(frozen=True)
class Part:
    """A function of a module or a method of one of its classes.

    Attributes:
        name: its own.
        uses: the names and attributes in it.
        imports: those inside it.
    """

    name: str
    uses: frozenset[str]
    imports: tuple[Import, ...]


@dataclass(frozen=True)
class Syntax:
    """What a file says.

    Attributes:
        digest: of its syntax tree, in which comments, docstrings and places do not count.
        imports: all of them, wherever they stand.
        chooses: packages of which it imports modules by a name that it computes.
        reads: packages whose data files it reads, `files("package")`.
        makes: names that it gives to `make` literally.
        defines: the text of class attributes `name`.
        looks: what its classes state of how a figure shows them: `LOOKS`.
        packages: of names bound to a registry, the package whose modules define its members.
        strings: all texts in it.
    """

    digest: bytes
    imports: tuple[Import, ...] = ()
    chooses: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    makes: frozenset[str] = frozenset()
    defines: frozenset[str] = frozenset()
    looks: tuple[str, ...] = ()
    packages: dict[str, str] = field(default_factory=dict)
    strings: frozenset[str] = frozenset()


LookUp = Callable[[str, bytes, Callable[[], Syntax]], Syntax]
"""From a suffix, a file's content and its reading to what it says."""
_look_up: LookUp = lambda suffix, content, read: read()  # noqa: E731


def keep_in(look_up: LookUp) -> None:
    """Ask this before a file is read."""
    global _look_up
    _look_up = look_up


@cache
def syntax(path: Path) -> Syntax:
    """What a Python file or the code cells of a notebook say; a file that is no Python counts by its bytes."""
    text = path.read_bytes()
    return _look_up(path.suffix, text, lambda: _read(path, text))


def _read(path: Path, text: bytes) -> Syntax:
    tree = _parsed(path, text) if path.suffix in (".py", ".ipynb") else None
    if tree is None:
        return Syntax(_sha256(text))
    words: list[str] = []
    seen: list[ast.AST] = []
    _spell(tree, words, seen)
    found = _Found()
    for node in seen:
        found.add(node)
    return Syntax(
        _sha256("\0".join(words).encode()),
        tuple(found.imports),
        frozenset(found.chooses),
        frozenset(found.reads),
        frozenset(found.makes),
        frozenset(found.defines),
        tuple(found.looks),
        found.packages,
        frozenset(found.strings),
    )


@cache
def functions(path: Path) -> tuple[list[Part], set[str]]:
    """The functions of a Python file and the methods of its classes, and the names used outside of them."""
    tree = _parsed(path, path.read_bytes())
    if tree is None:
        return [], set()
    return [_part(node) for node in _functions(tree)], {name for node in _outside(tree) for name in _uses(node)}


def _parsed(path: Path, text: bytes) -> ast.Module | None:
    if path.suffix == ".ipynb":
        cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        lines = "\n".join(cells).splitlines()
        text = "\n".join("pass" if line.startswith(("%", "!")) else line for line in lines).encode()
    try:
        return ast.parse(text)
    except SyntaxError:  # Python itself will say so when the file is used
        return None


def _sha256(text: bytes) -> bytes:
    return hashlib.sha256(text).digest()


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _spell(node: ast.AST, words: list[str], seen: list[ast.AST]) -> None:
    """The tree as words, and its nodes: as `ast.dump` without places, several times as fast, without docstrings."""
    words.append(node.__class__.__name__)
    seen.append(node)
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            _spell(value, words, seen)
        elif value.__class__ is list:
            words.append("[")
            items = [item for item in value if not _is_text(item)] if name == "body" else value
            for item in items:
                if isinstance(item, ast.AST):
                    _spell(item, words, seen)
                else:
                    words.append(repr(item))
            words.append("]")
        else:
            words.append(repr(value))


class _Found:
    def __init__(self) -> None:
        self.imports: list[Import] = []
        self.packages: dict[str, str] = {}
        self.chooses: set[str] = set()
        self.reads: set[str] = set()
        self.makes: set[str] = set()
        self.defines: set[str] = set()
        self.looks: list[str] = []
        self.strings: set[str] = set()

    def add(self, node: ast.AST) -> None:
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                self.strings.add(node.value)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self.imports += _imports(node)
        elif isinstance(node, ast.Call) and node.args:
            self._call(_called(node.func), node.args[0])
        elif isinstance(node, ast.ClassDef):
            self._class(node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Call):
            package = next((_text(k.value) for k in node.value.keywords if k.arg == "package"), "")
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if package and isinstance(target, ast.Name):
                    self.packages[target.id] = package

    def _call(self, name: str, first: ast.expr) -> None:
        if name == "import_module" and isinstance(first, ast.JoinedStr) and _text(first.values[0]).endswith("."):
            self.chooses.add(_text(first.values[0])[:-1])
        elif name == "files" and _text(first):
            self.reads.add(_text(first))
        elif name == "make":
            self.makes |= {_text(node) for node in ast.walk(first) if _text(node)}

    def _class(self, node: ast.ClassDef) -> None:
        for item in node.body:
            if not isinstance(item, (ast.Assign, ast.AnnAssign)) or item.value is None:
                continue
            targets = item.targets if isinstance(item, ast.Assign) else [item.target]
            names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
            if LOOKS.intersection(names):
                self.looks.append(f"{names} {ast.dump(item.value)}")
            if "name" in names:
                self.defines |= {_text(value) for value in ast.walk(item.value) if _text(value)}


def _text(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _called(function: ast.expr) -> str:
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _imports(node: ast.Import | ast.ImportFrom) -> list[Import]:
    if isinstance(node, ast.Import):
        return [Import(alias.name, "", alias.asname or alias.name.split(".")[0]) for alias in node.names]
    module = "." * node.level + (node.module or "")
    return [Import(module, alias.name, alias.asname or alias.name) for alias in node.names]


def _functions(scope: Scope) -> list[Function]:
    """The functions of a module and the methods of its classes."""
    found: list[Function] = []
    for node in scope.body:
        if isinstance(node, Function):
            found.append(node)
        elif isinstance(node, ast.ClassDef):
            found += _functions(node)
    return found


def _outside(scope: Scope) -> list[ast.AST]:
    """What stands outside of functions and is no import: it counts whichever function is called."""
    found: list[ast.AST] = []
    for node in scope.body:
        if isinstance(node, ast.ClassDef):
            found += [*node.bases, *node.keywords, *node.decorator_list, *_outside(node)]
        elif isinstance(node, Function):
            found += node.decorator_list
        elif not isinstance(node, (ast.Import, ast.ImportFrom)):
            found.append(node)
    return found


def _uses(node: ast.AST) -> set[str]:
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return names | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}


def _part(node: Function) -> Part:
    inside = [n for n in ast.walk(node) if isinstance(n, (ast.Import, ast.ImportFrom))]
    return Part(node.name, frozenset(_uses(node)), tuple(i for n in inside for i in _imports(n)))
