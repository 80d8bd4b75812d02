"""The picture of imports: no module of the package needs, directly or not, one that needs it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in SOURCE.rglob("*.py")
}
TREES = {name: ast.parse(path.read_text()) for name, path in MODULES.items()}
LIBRARY = {"torch", "numpy", "scipy", "tensorldp"} | sys.stdlib_module_names
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def imported(node: ast.AST) -> Iterator[str]:
    """The modules of this package that one import statement needs."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in MODULES)
    elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            yield inner if inner in MODULES else node.module


def statements(node: ast.AST, inside: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Every node of a tree, and whether it stands in a function."""
    for child in ast.iter_child_nodes(node):
        within = inside or isinstance(child, FUNCTIONS)
        yield child, within
        yield from statements(child, within)


def packages(module: str) -> list[str]:
    """The packages whose `__init__` runs before a module."""
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def needs(module: str) -> set[str]:
    """What has to be there for a module to load: its imports, those for types alone too, and packages around them."""
    direct = {name for node, inside in statements(TREES[module]) if not inside for name in imported(node)}
    around = {package for name in direct for package in packages(name)}
    return (direct | (around - set(packages(module)))) - {module}


def test_no_module_needs_itself() -> None:
    graph = {module: needs(module) for module in MODULES}
    assert sum(map(len, graph.values())) > len(graph)
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" needs ".join(reversed(error.args[1])))
    assert set(order) == set(MODULES)


def test_the_check_finds_a_circle(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "if TYPE_CHECKING:\n    from tensorldp.mechanisms import Mechanism\n"
    monkeypatch.setitem(TREES, "tensorldp.curves.base", ast.parse(line))
    with pytest.raises(pytest.fail.Exception, match=r"tensorldp\.mechanisms"):
        test_no_module_needs_itself()


def test_no_function_imports_what_would_be_a_circle() -> None:
    """An import inside a function saves time where a library is heavy; of this package it would hide a circle."""
    graph = {module: needs(module) for module in MODULES}

    def reaches(start: str, goal: str) -> bool:
        seen, waiting = set(), [start]
        while waiting:
            module = waiting.pop()
            if module == goal:
                return True
            if module not in seen:
                seen.add(module)
                waiting += graph[module]
        return False

    circles = [
        f"{module} imports {name} in a function"
        for module in MODULES
        for node, inside in statements(TREES[module])
        if inside
        for name in imported(node)
        if reaches(name, module)
    ]
    assert circles == []


def tops(module: str, *, functions: bool) -> set[str]:
    """The packages that a module imports when it loads, or those that its functions import."""
    names: set[str] = set()
    for node, inside in statements(TREES[module]):
        if inside == functions and isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif inside == functions and isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names


def test_the_library_needs_torch_numpy_and_scipy_alone() -> None:
    """Of the reproduction it imports nothing, and what comes with that only inside the functions that use it."""
    library = [module for module in MODULES if module.partition(".")[0] == "tensorldp"]
    assert len(library) > 50
    for module in library:
        assert tops(module, functions=False) <= LIBRARY, module
        assert tops(module, functions=True) <= LIBRARY | {"dp_accounting", "jinja2", "safetensors", "sklearn"}, module
