"""The texts of the repository, each read and parsed once."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from blocks import FENCE

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


@cache
def read(path: str | Path) -> str:
    """The text of a file, whose path may begin at the repository."""
    return (ROOT / path).read_text()


@cache
def data(path: str) -> Any:
    """What a file of YAML, TOML or JSON has."""
    return {".toml": tomllib.loads, ".json": json.loads}.get(Path(path).suffix, yaml.safe_load)(read(path))


@cache
def tree(path: Path) -> ast.Module:
    """A Python file's syntax."""
    return ast.parse(read(path))


def files(*folders: str, suffixes: set[str]) -> list[Path]:
    """The files below folders that have one of the suffixes."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)


def named(path: Path) -> str:
    """A file's path in the repository."""
    return path.relative_to(ROOT).as_posix()


@cache
def anchors(page: Path) -> set[str]:
    """The anchors that a page names, that GitHub gives its headings, or the lines of a table."""
    if page.suffix == ".csv":
        return {f"L{number}" for number, _ in enumerate(read(page).splitlines(), 1)}
    heads = re.findall(r"^#+ (.+)$", FENCE.sub("", read(page)), re.MULTILINE)
    own = set(re.findall(r'<a id="([\w-]+)">', read(page)))
    return own | {re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in heads}
