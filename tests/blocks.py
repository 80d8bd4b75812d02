"""The fenced blocks of pages."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^( *)```(\w*)([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    info: str
    text: str

    def option(self, name: str) -> str:
        found = re.search(rf'{name}="([^"]*)"', self.info)
        return found[1] if found else ""

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in its order."""
    text = page.read_text()
    return [
        Block(page.name, text.count("\n", 0, found.start()) + 1, found[2], found[3], textwrap.dedent(found[4]))
        for found in FENCE.finditer(text)
    ]
