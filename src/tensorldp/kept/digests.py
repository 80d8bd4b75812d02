"""What makes a cell's numbers, in two short texts: its settings, and the code that computes it, now or at a commit."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tensorldp.config.cell import AnyCell

READERS = ("sources*.py", "syntax*.py")  # of src/tensorldp/config: they find what counts, and do not count themselves
_ASK = """
import json, sys
from pathlib import Path
from tensorldp.config.sources import source_digest

found = []
for script, method, mechanism in json.load(sys.stdin):
    try:
        path = Path("workflow/scripts", script + ".py")
        found.append(source_digest(path.absolute(), method=method, mechanism=mechanism))
    except (OSError, SyntaxError):
        found.append("")
print(json.dumps(found))
"""


def settings_digest(cell: AnyCell) -> str:
    """A text that changes with any setting of the cell but its seeds and the precision of its networks.

    A training setting with its default counts as absent: a new one that is not used leaves the text as it was, and a
    changed default is a change of the code.
    """
    settings = {**cell.release_settings(), "training": cell.training.model_dump(exclude_defaults=True)}
    del settings["seeds"]
    return _digest(json.dumps(settings, sort_keys=True))


def training_text(cell: AnyCell) -> str:
    """The training settings that are not the defaults, as JSON: all cells of a variant have them in common."""
    return json.dumps(cell.training.model_dump(exclude_defaults=True), sort_keys=True)


def scripts_of(cell: AnyCell) -> tuple[str, ...]:
    """The names of the scripts that its numbers pass through, in order."""
    before = {"features": "extract_features"}.get(cell.release, "")
    before = "represent" if cell.method == "frontier" else before
    return (*([before] if before else []), *(rule.removesuffix("_shared") for rule in cell.plan.rules))


def source_digests(cells: Iterable[AnyCell], repository: Path, commit: str = "") -> dict[AnyCell, str]:
    """For each cell a text that changes with the code that computes its numbers, as `config.sources` reads it.

    Args:
        cells: of any studies.
        repository: the checkout, with src/ and workflow/scripts/.
        commit: whose files are read; empty for those of the checkout as they are.

    Returns:
        One text for each cell; empty where the commit is not to be had, or cannot have computed the cell.
    """
    wanted = {cell: [(script, cell.method, cell.mechanism) for script in scripts_of(cell)] for cell in cells}
    asked = sorted({step for steps in wanted.values() for step in steps})
    if not commit:
        answers = _ask(repository, asked)
    else:
        with tempfile.TemporaryDirectory() as name:
            answers = _ask(Path(name), asked) if _check_out(repository, commit, Path(name)) else [""] * len(asked)
    found = dict(zip(asked, answers, strict=True))
    return {
        cell: _digest("".join(found[step] for step in steps)) if all(found[step] for step in steps) else ""
        for cell, steps in wanted.items()
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _check_out(repository: Path, commit: str, folder: Path) -> bool:
    """Write the commit's code into a folder, with today's readers of syntax trees, so that digests can be compared."""
    if not commit.isalnum():  # changed sources, which no commit has, or no checkout
        return False
    archive = folder / "tree.tar"
    command = ["git", "archive", f"--output={archive}", commit, "src/tensorldp", "workflow/scripts"]
    if subprocess.run(command, cwd=repository, capture_output=True, check=False).returncode:
        return False
    shutil.unpack_archive(archive, folder, filter="data")
    for pattern in READERS:
        for path in (Path(__file__).parents[1] / "config").glob(pattern):
            shutil.copyfile(path, folder / "src" / "tensorldp" / "config" / path.name)
    return True


def _ask(repository: Path, steps: list[tuple[str, str, str]]) -> list[str]:
    """The digests of scripts with their methods and mechanisms, asked of a process that has that tree's package."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(repository.absolute() / 'src')!r}){_ASK}"],
        cwd=repository,
        input=json.dumps(steps),
        capture_output=True,
        text=True,
        check=False,
    )
    return list(json.loads(done.stdout)) if done.returncode == 0 else [""] * len(steps)
