"""docs/public-names.md lists names that exist and every name that guides import."""

from __future__ import annotations

import ast
import doctest
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from blocks import blocks

ROOT = Path(__file__).parents[1]
LISTED = {
    module: re.findall(r"`(\w+)`", names)
    for module, names in re.findall(
        r"^\| `(tensorldp[\w.]*)` \| (.*) \|$", (ROOT / "docs" / "public-names.md").read_text(), re.MULTILINE
    )
}


@pytest.mark.parametrize("module", LISTED)
def test_every_listed_name_exists(module: str) -> None:
    found = import_module(module)
    missing = [name for name in LISTED[module] if not hasattr(found, name)]
    assert [name for name in missing if not (hasattr(found, "__path__") and find_spec(f"{module}.{name}"))] == []


@pytest.mark.parametrize("module", ["tensorldp.mechanisms", "tensorldp.privacy", "tensorldp.check"])
def test_what_a_package_exports_is_listed(module: str) -> None:
    assert LISTED[module] == sorted(import_module(module).__all__)


def test_every_name_that_a_guide_or_the_typed_package_imports_is_listed() -> None:
    shown = (block for page in (ROOT / "docs").glob("*.md") for block in blocks(page))
    texts = [(block.language, block.text) for block in shown if block.language in ("python", "pycon")]
    texts.append(("python", (ROOT / "tests" / "alone" / "downstream.py").read_text()))
    codes = [doctest.script_from_examples(text) if kind == "pycon" else text for kind, text in texts]
    nodes = [node for code in codes for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]
    found = [(str(node.module), name.name) for node in nodes for name in node.names]
    mine = [(module, name) for module, name in found if module.split(".")[0] == "tensorldp"]
    assert len(mine) > 20
    assert [one for one in mine if one[1] not in LISTED.get(one[0], ())] == []
