"""The blocks of code in docs/*.md, and what it means to follow them.

A block's info string says what it is: `python`, `pycon` and `sh` are run in the project's folder; a `title="path"`
makes the block a file; `skip="reason"` is shown and not run; `text` is prose.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r"^( *)```(\w*)([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    page: str
    line: int
    language: str
    info: str
    text: str

    def option(self, name: str) -> str | None:
        found = re.search(rf'{name}="([^"]*)"', self.info)
        return found and found.group(1)

    @property
    def where(self) -> str:
        return f"docs/{self.page}:{self.line}"


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in its order."""
    text = (DOCS / page).read_text()
    return [
        Block(page, text.count("\n", 0, found.start()) + 1, found[2], found[3], textwrap.dedent(found[4]))
        for found in FENCE.finditer(text)
    ]


def run(folder: Path, block: Block, *command: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "TENSORLDP_MIRROR"}
    environment["PYTHONPATH"] = str(folder / "src")
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    text = block.text if command[-1] == "-" else None
    done = subprocess.run(
        command, cwd=folder, env=environment, input=text, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, f"{block.where} fails:\n{block.text}\n{(done.stdout + done.stderr)[-5000:]}"
    if "--dry-run" in block.text:
        assert re.search(r"^total +\d+$|^Nothing to be done", done.stdout + done.stderr, re.MULTILINE), block.where


def follow(folder: Path, page: str) -> None:
    """Do what a page says, in a copy of the project."""
    sessions = []
    for block in blocks(page):
        title = block.option("title")
        if block.option("skip") or block.language == "text":
            continue
        if title:
            path = folder / title
            assert not path.exists() or block.language == "yaml", block.where
            path.parent.mkdir(exist_ok=True)
            path.write_text(block.text)
        elif block.language == "sh":
            run(folder, block, "bash", "-euo", "pipefail", "-c", block.text)
        elif block.language == "python":
            run(folder, block, sys.executable, "-c", block.text)
        elif block.language == "pycon":
            sessions.append(block)
        else:
            raise AssertionError(f"{block.where}: a block of {block.language or 'no language'} cannot be followed")
    if sessions:  # all examples of a page are one session, as a reader would type them
        text = "\n".join(block.text for block in sessions)
        script = f"import doctest, sys; sys.exit(doctest.testfile({str(folder / 'session.txt')!r}, False).failed)"
        assert len(doctest.DocTestParser().get_examples(text)) > 0
        (folder / "session.txt").write_text(text)
        run(folder, sessions[0], sys.executable, "-c", script)
        (folder / "session.txt").unlink()
