"""What the modules of a package define, read from their syntax trees: nothing is imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

Definition = ast.ClassDef | ast.FunctionDef


@cache
def class_literals(module: str) -> dict[str, dict[str, Any]]:
    """What the bodies of a module's registered classes state as literals, by registry key, without importing it."""
    found: dict[str, dict[str, Any]] = {}
    spec = find_spec(module)
    text = Path(spec.origin).read_text() if spec and spec.origin else ""
    for definition, mark in _decorated(ast.parse(text), "register"):
        key = _key(definition, mark)
        if key is not None:
            found[key] = dict(_literals(definition))
    return found


def _literals(definition: Definition) -> Iterator[tuple[str, Any]]:
    for target, value in _assigned(definition):
        try:
            if isinstance(target, ast.Name):
                yield target.id, ast.literal_eval(value)
        except ValueError:  # computed, hence not a literal
            continue


def _decorated(tree: ast.Module, decorator: str) -> Iterator[tuple[Definition, ast.expr]]:
    """The classes and functions of a module that carry the decorator, with the decorator as it is written there."""
    for node in tree.body:
        if isinstance(node, Definition):
            for mark in node.decorator_list:
                called = mark.func if isinstance(mark, ast.Call) else mark
                if isinstance(called, ast.Name) and called.id == decorator:
                    yield node, mark


def _key(definition: Definition, mark: ast.expr) -> str | None:
    if isinstance(mark, ast.Call):
        return _text(mark.args[0]) if mark.args else None
    for target, value in _assigned(definition):
        if isinstance(target, ast.Name) and target.id == "name":
            return _text(value)
    return None


def _assigned(definition: Definition) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The assignments in the body of a definition."""
    for node in definition.body:
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            yield node.target, node.value
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _unpacked(target, node.value)


def _unpacked(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """`a, b = 1, 2` as its two assignments."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=False))
    return [(target, value)]


def _text(value: ast.expr) -> str | None:
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None
