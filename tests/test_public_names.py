"""docs/public-names.md lists names that exist, and every name that the guides tell a reader to import."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "public-names.md").read_text()
LISTED = {
    module: re.findall(r"`(\w+)`", names)
    for module, names in re.findall(r"^\| `(tensorldp[\w.]*)` \| (.*) \|$", PAGE, re.MULTILINE)
}
BLOCK = re.compile(r"^( *)```(python|pycon)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


def imported() -> Iterator[tuple[str, str, str]]:
    """(page, module, name) of each import from the library in the guides and in the typed package that uses it."""
    sources = {page.name: BLOCK.findall(page.read_text()) for page in sorted((ROOT / "docs").glob("*.md"))}
    texts = [(page, kind, text) for page, blocks in sources.items() for _, kind, text in blocks]
    texts.append(("downstream.py", "python", (ROOT / "tests" / "alone" / "downstream.py").read_text()))
    for page, kind, text in texts:
        code = "\n".join(re.findall(r"^ *>>> (from tensorldp.*)$", text, re.MULTILINE)) if kind == "pycon" else text
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tensorldp":
                yield from ((page, str(node.module), alias.name) for alias in node.names)


@pytest.mark.parametrize("module", LISTED)
def test_every_listed_name_exists(module: str) -> None:
    found = import_module(module)
    missing = [name for name in LISTED[module] if not hasattr(found, name)]
    assert [name for name in missing if f"{module}.{name}" not in sys.modules and not submodule(module, name)] == []


def submodule(module: str, name: str) -> bool:
    try:
        import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return False
    return True


@pytest.mark.parametrize("module", ["tensorldp.mechanisms", "tensorldp.privacy", "tensorldp.check"])
def test_what_a_package_exports_is_listed(module: str) -> None:
    assert LISTED[module] == sorted(import_module(module).__all__)


def test_every_name_that_a_guide_imports_is_listed() -> None:
    found = list(imported())
    assert len(found) > 20
    assert [one for one in found if one[2] not in LISTED.get(one[1], ())] == []
