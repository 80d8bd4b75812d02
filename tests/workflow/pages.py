"""The blocks of code in docs/*.md, and what it means to follow them.

A block's info string says what it is: `python`, `pycon` and `sh` are run in the project's folder; a `title="path"`
makes the block a file; `skip="reason"` is shown and not run; `text` is prose.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from blocks import Block, blocks
from project import FORK, SNAKEMAKE

DOCS = Path(__file__).parents[2] / "docs"


def environment_of(folder: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key != "TENSORLDP_MIRROR"}
    return kept | {"PYTHONPATH": str(folder / "src"), "PATH": f"{Path(sys.executable).parent}:{kept['PATH']}"}


def _run(command: Sequence[str], folder: Path) -> tuple[str, int]:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment_of(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
    return done.stdout, done.returncode


# what is typed has imported by then what takes seconds, as in `project.FORK`, which knows scripts and modules
FORKED = "".join(
    f'{name}() {{ [ "$1" = -c ] && set -- {name} "$@" || set -- {shlex.join((*FORK, *script))} "$@"; command "$@"; }}; '
    for name, script in (("snakemake", [str(SNAKEMAKE)]), ("tensorldp", ["-m", "tensorldp"]), ("python", []))
)


def shell(folder: Path, block: Block) -> None:
    output, code = _run(["bash", "-euo", "pipefail", "-c", FORKED + block.text], folder)
    assert code == 0, f"{block.where} fails:\n{block.text}\n{output[-5000:]}"
    if "--dry-run" in block.text:
        assert re.search(r"^total +\d+$|^Nothing to be done", output, re.MULTILINE), block.where


def python(folder: Path, where: str, text: str) -> None:
    """Runs a text in the folder, as if it were typed there."""
    script = folder / "typed.py"
    script.write_text(text)
    output, code = _run([*FORK, str(script)], folder)
    script.unlink()
    assert code == 0, f"{where} fails:\n{text}\n{output[-5000:]}"


def follow(folder: Path, pages: Iterable[str], planned: Collection[str] = ()) -> None:
    """Do what pages say, in a copy of the project; what names a page or a file in `planned` is a dry run."""
    for page in pages:
        sessions = []
        for block in blocks(DOCS / page):
            title = block.option("title")
            if block.option("skip") or block.language == "text":
                continue
            if title:
                path = folder / title
                assert not path.exists() or block.language == "yaml", block.where
                path.parent.mkdir(exist_ok=True)
                path.write_text(block.text)
            elif block.language == "sh" and not {page, *block.text.split()}.isdisjoint(planned):
                shell(folder, block._replace(text=block.text.replace("snakemake --", "snakemake --dry-run --")))
            elif block.language == "sh":
                shell(folder, block)
            elif block.language == "python":
                python(folder, block.where, block.text)
            elif block.language == "pycon":
                sessions.append(block)
            else:
                raise AssertionError(f"{block.where}: a block of {block.language or 'no language'} cannot be followed")
        if sessions:  # all examples of a page are one session, as a reader would type them
            text = "\n".join(block.text for block in sessions)
            assert len(doctest.DocTestParser().get_examples(text)) > 0
            (folder / "session.txt").write_text(text)
            script = "import doctest, sys; sys.exit(doctest.testfile('session.txt', False).failed)"
            python(folder, sessions[0].where, script)
            (folder / "session.txt").unlink()
