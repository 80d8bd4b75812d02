"""Which source files a stage depends on: what its modules import, found without importing anything."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
IMPORT = re.compile(r"^\s*from tensorldp(?:\.([\w.]+))? import \(?([^)#]*?)(?:\)|$)", re.MULTILINE | re.DOTALL)
# no number depends on these: messages, files, the plan itself, and data, which is compared by its own digest
AROUND = ("errors.py", "runtime/", "config/", "data/", "registration/", "mechanisms/registry.py")


@cache
def _imports(file: str) -> tuple[str, ...]:
    found = set()
    for module, names in IMPORT.findall((ROOT / file).read_text()):
        base = module.replace(".", "/")
        candidates = [
            f"{base}.py",
            f"{base}/__init__.py",
            *(
                f"{base}/{name.split(' as ')[0].strip()}{end}"
                for name in names.split(",")
                for end in (".py", "/__init__.py")
            ),
        ]
        found |= {name.removeprefix("/") for name in candidates if (ROOT / name.removeprefix("/")).is_file()}
    return tuple(sorted(found))


@cache
def imported(files: tuple[str, ...], without: tuple[str, ...] = ()) -> list[str]:
    """The given files of this package and, transitively, all that they import.

    Args:
        files: as paths under src/tensorldp.
        without: files or folders (ending in a slash) that are left out, with what only they import; AROUND always is.

    Returns:
        Paths under src/tensorldp, sorted; an `__init__.py` is followed and not named.
    """
    left_out, found, waiting = (*AROUND, *without), set(), list(files)
    while waiting:
        file = waiting.pop()
        if file not in found and not file.startswith(left_out):
            found.add(file)
            waiting += _imports(file)
    return sorted(file for file in found if not file.endswith("__init__.py"))


@cache
def _sha256(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


@cache
def source_digest(files: tuple[str, ...], without: tuple[str, ...] = (), plugins: tuple[str, ...] = ()) -> str:
    """One short text that changes with any file of `imported(files, without)`, or any plugin module's file.

    Args:
        files: as of `imported`.
        without: as of `imported`.
        plugins: names of modules, whose files count if they lie in the working directory.
    """
    own = [Path(f"{name.replace('.', '/')}.py") for name in plugins]
    paths = [*(ROOT / name for name in imported(files, without)), *(path for path in own if path.is_file())]
    return hashlib.sha256(b"".join(path.name.encode() + _sha256(path) for path in paths)).hexdigest()[:16]
