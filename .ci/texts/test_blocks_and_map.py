"""What docs/ promises can be followed: blocks of code, links and the map of the code."""

from __future__ import annotations

import re

import pytest
from pages import DOCS, blocks
from references import ROOT

PAGES = sorted(path.name for path in DOCS.glob("*.md"))


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_run_or_says_why_not(page: str) -> None:
    for block in blocks(page):
        assert block.language in {"python", "pycon", "sh", "yaml", "text"}, block.where
        assert block.language != "yaml" or block.option("title"), f"{block.where} is no file"
        assert "skip" not in block.info or len(block.option("skip") or "") > 10, block.where


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\](?!\(https?:)\(([^)#]+)[^)]*\)", (DOCS / page).read_text()):
        assert (DOCS / target).exists(), target


def test_the_map_names_every_folder_and_nothing_that_is_not_there() -> None:
    named = set(re.findall(r"`([\w./-]+/?)`", (DOCS / "code-map.md").read_text()))
    packages = (ROOT / "src" / "tensorldp", ROOT / "src" / "tensorldp_papers")
    folders = {f"{path.parent.name}/" for package in packages for path in package.glob("*/__init__.py")} - {"privacy/"}
    assert folders <= named
    paths = {name for name in named if "/" in name or name.endswith((".py", ".yaml"))}
    assert [name for name in paths if not any((folder / name).exists() for folder in (ROOT, *packages))] == []
