"""The numbers in the check of a claim, read from its code: its own, and those of constants and functions it names."""

from __future__ import annotations

import ast
import csv
import importlib
import inspect
import io
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from tensorldp_papers.claims.base import Registered
from tensorldp_papers.claims.criteria import criteria
from tensorldp_papers.rooms import rooms

LIMITS = ("low", "high")
RULES = ("tensorldp_papers.claims.statements", "tensorldp_papers.claims.fairness")
COUNTS = {0, 1, 2}  # whole numbers that count or index far more often than they limit


class _Module(NamedTuple):
    constants: dict[str, ast.expr]
    functions: dict[str, ast.FunctionDef]
    imported: dict[str, tuple[str, str]]


@cache
def _read(name: str) -> _Module:
    module = importlib.import_module(name)
    made = _Module({}, {}, {})
    for node in ast.parse(Path(str(module.__file__)).read_text()).body:
        if isinstance(node, ast.FunctionDef):
            made.functions[node.name] = node
        elif isinstance(node, ast.ImportFrom) and node.module:
            made.imported.update({one.asname or one.name: (node.module, one.name) for one in node.names})
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                values = node.value.elts if isinstance(target, ast.Tuple) else [node.value]  # type: ignore[attr-defined]
                pairs = zip(names, values, strict=True) if len(names) == len(values) else ()
                made.constants.update({one.id: value for one, value in pairs if isinstance(one, ast.Name)})
    return made


def _has_rules(module: str) -> bool:
    """Whether functions of a module belong to a criterion: those of rooms do."""
    return ".claims" in module and module.startswith("tensorldp_papers.papers.")


def _numbers(node: ast.AST, module: str, seen: set[tuple[str, str]], constant: bool = False) -> Iterator[float]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.keyword) and inner.arg in LIMITS:  # also 0, 1 and 2, and with their sign
            with suppress(ValueError):
                yield float(ast.literal_eval(inner.value))
        if (
            isinstance(inner, ast.Constant)
            and isinstance(inner.value, (int, float))
            and not isinstance(inner.value, bool)
        ):
            if constant or isinstance(inner.value, float) or inner.value not in COUNTS:
                yield float(inner.value)
        elif isinstance(inner, ast.Name):
            yield from _of_name(inner.id, module, seen)


def _of_name(name: str, module: str, seen: set[tuple[str, str]]) -> Iterator[float]:
    made = _read(module)
    if name in made.imported:
        origin, name = made.imported[name]
        if not origin.startswith("tensorldp_papers.") or ".claims" not in origin:
            return
        origin = _defining(origin, name)
        if name.isupper() or _has_rules(origin):
            yield from _of_name(name, origin, seen)
        return
    if (module, name) in seen:
        return
    seen.add((module, name))
    if name in made.constants and name.lstrip("_").isupper():
        yield from _numbers(made.constants[name], module, seen, constant=True)
    elif name in made.functions and _has_rules(module):
        yield from _numbers(_without_claims(made.functions[name]), module, seen)


def _defining(module: str, name: str) -> str:
    made: ModuleType = importlib.import_module(module)
    value: Any = getattr(made, name, None)
    return str(value.__module__) if inspect.isfunction(value) else module


def _without_claims(function: ast.FunctionDef) -> ast.Module:
    """The body of a function, without what its decorators say of other claims."""
    return ast.Module(body=function.body, type_ignores=[])


def numbers_of(id: str, registered: Registered) -> str:
    """The different numbers of a claim's check and of its own decorator, rising, with blanks between them."""
    check = inspect.unwrap(registered.check)
    module = check.__module__
    function = _read(module).functions[check.__name__]
    own = [
        one
        for one in function.decorator_list
        if not (isinstance(one, ast.Call) and getattr(one.func, "id", "") == "claim") or _first(one) == id
    ]
    seen: set[tuple[str, str]] = set()
    found: set[float] = set(_numbers(_without_claims(function), module, seen))
    for decorator in own:
        found |= set(_numbers(decorator, module, seen))
    return " ".join(f"{number:.10g}" for number in sorted(found))


def numbers_of_rules() -> str:
    """Those of the constants behind every verdict: chances, looks, what the sources print, and what chance reaches."""
    found = {
        f"{name}={' '.join(f'{number:.10g}' for number in _in_order(value))}"
        for module in RULES
        for name, value in _read(module).constants.items()
        if name.isupper() and name != "LENGTHS"
    }
    found.add(f"RUNS={' '.join(f'{number:.10g}' for number in _of_runs())}")
    return "; ".join(sorted(text for text in found if not text.endswith("=")))


def _of_runs() -> Iterator[float]:
    """What the papers print of their runs, and what chance reaches there, room by room."""
    for runs in (runs for room in rooms() for runs in room.runs):
        yield from (runs.records, *runs.least.values(), runs.largest, runs.luck)


def _in_order(node: ast.expr) -> list[float]:
    return [
        float(inner.value)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Constant)
        and isinstance(inner.value, (int, float))
        and not isinstance(inner.value, bool)
    ]


def line_to_add(id: str, registered: Registered, today: str) -> str | None:
    """The line that criteria.csv needs where a claim's words, expectation or numbers differ from its last one."""
    lines, numbers = criteria().get(id, []), numbers_of(id, registered)
    now = (registered.claim.claim, registered.expected, numbers)
    if lines and (lines[-1].claim, lines[-1].expected, _limits(lines[-1].numbers)) == (*now[:2], _limits(numbers)):
        return None
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow([id, today, "", *now, "<verdict before>", "<reason>"])
    return text.getvalue()


def _limits(numbers: str) -> set[str]:
    """Without 0, which is the limit of every order: `Scores.above` has it, and no number in a check."""
    return set(numbers.split()) - {"0"}


def _first(call: ast.Call) -> str:
    argument = call.args[0]
    return str(argument.value) if isinstance(argument, ast.Constant) else ""
