"""What modules import: the layers are those of pyproject.toml."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in SOURCE.rglob("*.py")
}
TREES = {name: ast.parse(path.read_text()) for name, path in MODULES.items()}
LIBRARY = {"torch", "numpy", "scipy", "tensorldp"} | sys.stdlib_module_names
# what the library uses of it
OF_THE_PIPELINE = {"dp_accounting", "jinja2", "pandas", "safetensors", "shtab", "sklearn", "yaml"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def statements(node: ast.AST, inside: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Every node of a tree, and whether it stands in a function."""
    for child in ast.iter_child_nodes(node):
        within = inside or isinstance(child, FUNCTIONS)
        yield child, within
        yield from statements(child, within)


def test_imports_go_down_the_layers_and_form_no_circle() -> None:
    """Those inside functions and for types alone count, too."""
    assert lint_imports(str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True) == 0


def test_every_module_has_a_layer() -> None:
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]["layers"]
    own = {".".join(module.split(".")[:2]) for module in MODULES if "." in module}
    assert sorted(module for layer in layers for module in layer.split(" | ")) == sorted(own)


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
        assert tops(module, functions=True) <= LIBRARY | OF_THE_PIPELINE, module


LAZY = """
import sys, tensorldp
assert {"mechanisms", "privacy"} <= set(dir(tensorldp))
assert "torch" not in sys.modules
assert tensorldp.mechanisms.make and tensorldp.privacy.check
print(*sys.modules)
"""


@pytest.mark.slow
def test_what_takes_long_to_import_waits_until_it_is_used() -> None:
    done = subprocess.run([sys.executable, "-c", LAZY], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "torch" in done.stdout.split()
    assert not {"pandas", "scipy.optimize", "scipy.stats", "sklearn"} & set(done.stdout.split())
