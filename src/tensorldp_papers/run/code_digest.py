"""A digest of the code that a job runs: the files that it may import, read without running them.

A file counts if a file that counts imports it, wherever the import is, or if it defines something that the job
chooses by name: its method, its mechanism, its network. Comments and docstrings do not count. When in doubt a file
counts: too much is computed again rather than too little.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

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


class Source(NamedTuple):
    """What one file contains.

    Attributes:
        digest: that of its syntax tree without docstrings, or of its bytes if it is not Python.
        files: what it imports, and the data of packages that it reads.
        chosen: names that it gives to one of `MAKERS`.
        kinds: the registries that it imports.
        words: all texts in it.
    """

    digest: bytes
    files: tuple[Path, ...] = ()
    chosen: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


@cache
def source_digest(scripts: tuple[Path, ...], names: frozenset[str] | None = None, plugins: tuple[str, ...] = ()) -> str:
    """A short text that changes with the code of any file of `source_files`, which has the same arguments."""
    found = hashlib.sha256()
    files = source_files(scripts, names, plugins)
    for line in sorted(f"{_label(path)}\n".encode() + _source(path).digest for path in files):
        found.update(line)
    return found.hexdigest()[:16]


def code_of_cell(cell: AnyCell, scripts: Path, plugins: tuple[str, ...] = (), stages: tuple[str, ...] = ()) -> str:
    """The digest of the code that computes a cell, which has one method, one mechanism and one network.

    Args:
        cell: a cell of any study.
        scripts: the folder of the stages' scripts.
        plugins: names of a user's modules.
        stages: which stages; without any, those that its scores pass through.
    """
    return source_digest(tuple(scripts / f"{stage}.py" for stage in stages or cell.plan.rules), cell.names(), plugins)


@cache
def source_files(
    scripts: tuple[Path, ...], names: frozenset[str] | None = None, plugins: tuple[str, ...] = ()
) -> tuple[Path, ...]:
    """The scripts and, directly or not, all that they may import of this package and of modules beside them.

    Args:
        scripts: Python files or notebooks.
        names: what a cell chooses: method, mechanism, network, data set; then no other mechanisms and methods count.
            None where a job may choose any.
        plugins: names of a user's modules in the working directory; each counts if it contains one of `names`, or a
            module beside it that it imports does.
    """
    chosen = [file for name in names or () for file in _homes(name)]
    for plugin in plugins:
        own = _closure(_module(Path.cwd(), plugin), frozenset())
        said = [_source(path).words for path in own if not _is_own(path)]
        if names is None or any(names & words for words in said):
            chosen += own
            chosen += _data_of_plugin(plugin) if names is None else []
    return tuple(sorted(_closure([*scripts, *chosen], names)))


def _closure(files: Iterable[Path], names: frozenset[str] | None) -> set[Path]:
    """These files and all that they may import, where something can be chosen only by `names`."""
    waiting = list(files)
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        said = _source(path)
        waiting += said.files
        waiting += [file for name in said.chosen for file in _homes(name)]
        waiting += [file for kind in said.kinds if names is None or kind not in CHOSEN for file in _of_kind(kind)]
        if names is None and path == RUNS_METHODS:
            waiting += [file for name in METHODS if METHODS.module(name) for file in _homes(name)]
    return found


def _data_of_plugin(name: str) -> list[Path]:
    folder = Path.cwd() / name.replace(".", "/")
    return [file for data in ROOM_DATA if (file := folder / data).is_file()]


@cache
def _is_own(path: Path) -> bool:
    return any(path.is_relative_to(home) for home in HOMES)


@cache
def _label(path: Path) -> str:
    """A path as digests know it, wherever the package lies."""
    return path.relative_to(ROOT).as_posix() if _is_own(path) else path.name


@cache
def _homes(name: str) -> tuple[Path, ...]:
    """The modules of this package that define a mechanism, a network or a method of this name."""
    modules = [kind.module(name) for kind in (MECHANISMS, MODELS, METHODS)]
    modules += [METHODS[name].module] if METHODS.module(name) else []
    return tuple(file for module in modules if module for file in _module(ROOT, module))


@cache
def _of_kind(name: str) -> tuple[Path, ...]:
    """The modules in which a registry looks for its members."""
    return tuple(file for module in KINDS[name].modules() for file in _module(ROOT, module))


@cache
def _source(path: Path) -> Source:
    text = path.read_bytes()
    try:
        tree = ast.parse(_code_cells(text) if path.suffix == ".ipynb" else text) if _is_code(path) else None
    except (SyntaxError, ValueError, KeyError, TypeError):  # Python or `check_notebook` says so when the file is used
        tree = None
    if tree is None:
        return Source(hashlib.sha256(text).digest())
    files: set[Path] = set()
    chosen, kinds, words = set(), set(), set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            files.update(_imported(node, path))
            kinds |= {alias.name for alias in node.names} & KINDS.keys()
        elif isinstance(node, ast.Call) and node.args:
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            texts = _texts(node.args[0])
            chosen |= texts if called in MAKERS else set()
            files.update(file for text in texts if called == "files" for file in _data(text))
            files.update(file for text in texts if called == "room_files" for file in OURS.glob(f"*/{text}"))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.add(node.value)
        if isinstance(body := getattr(node, "body", None), list):
            node.body = [item for item in body if not _is_text(item)]  # type: ignore[attr-defined]
    digest = hashlib.sha256(ast.dump(tree).encode()).digest()
    return Source(digest, tuple(files), frozenset(chosen), frozenset(kinds), frozenset(words))


def _is_code(path: Path) -> bool:
    return path.suffix in (".py", ".ipynb")


def _code_cells(text: bytes) -> str:
    cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return "\n".join("pass" if line.startswith(("%", "!")) else line for line in "\n".join(cells).splitlines())


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _texts(node: ast.AST) -> set[str]:
    return {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def _imported(node: ast.Import | ast.ImportFrom, path: Path) -> Iterator[Path]:
    """The files that an import runs: of the module, of the packages around it, and of names that are modules."""
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    else:
        base = node.module or ""
        modules = [base, *(f"{base}.{alias.name}".strip(".") for alias in node.names)]
    for name in modules:
        if isinstance(node, ast.ImportFrom) and node.level:
            folders = [path.parents[node.level - 1]]
        elif name.split(".")[0] in PACKAGES:
            folders = [ROOT]
        else:  # a module beside a script, a notebook or a plug-in; anything else is a library
            folders = [] if _is_own(path) else [path.parent, Path.cwd()]
        for folder in folders:
            yield from _module(folder, name)


@cache
def _module(folder: Path, name: str) -> tuple[Path, ...]:
    """The file of a module that a folder holds and those of the packages around it; none where it is not a module."""
    parts = name.split(".") if name else []
    around = [folder.joinpath(*parts[:i], "__init__.py") for i in range(1, len(parts))]
    own = [folder.joinpath(*parts, "__init__.py"), *([folder.joinpath(*parts).with_suffix(".py")] if parts else [])]
    return tuple(file for file in (*around, *own) if file.is_file()) if any(map(Path.is_file, own)) else ()


@cache
def _data(package: str) -> tuple[Path, ...]:
    """The files of a package's own folder that are not code."""
    folder = ROOT.joinpath(*package.split("."))
    return (
        tuple(sorted(file for file in folder.iterdir() if file.is_file() and file.suffix != ".py"))
        if folder.is_dir()
        else ()
    )
