"""What source files said when a run was planned before, by their content, so that they are not parsed again."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tensorldp.config import syntax
from tensorldp.config.syntax import Import, Syntax
from tensorldp.errors import InputError
from tensorldp.runtime.files import read_json, write_text

READER = hashlib.sha256(Path(syntax.__file__).read_bytes() + sys.version.encode()).digest()
MOST = 3000  # files; beyond them, only those of this run are kept
SETS = ("chooses", "reads", "makes", "defines", "strings")


class KeptSyntax:
    """What files said, in a JSON file.

    A file is known by its content, by the code that reads it and by the version of Python.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.used: dict[str, Syntax] = {}
        self.known: dict[str, Any] = {}
        with contextlib.suppress(InputError, UnicodeDecodeError):  # none yet, or a damaged one: files are parsed
            found = read_json(path)
            self.known = found if isinstance(found, dict) else {}

    def look_up(self, suffix: str, content: bytes, read: Callable[[], Syntax]) -> Syntax:
        """What a file of this suffix and content says, read if that is not known."""
        key = hashlib.sha256(READER + suffix.encode() + b"\0" + content).hexdigest()
        try:
            said = from_json(self.known[key])
        except (KeyError, TypeError, ValueError):
            said = read()
        self.used[key] = said
        return said

    def write(self) -> None:
        """Write what is new; a folder that is not there, or that cannot be written or is full, is done without."""
        if self.used.keys() - self.known.keys() and self.path.parent.is_dir():
            new = {key: to_json(said) for key, said in self.used.items()}
            with contextlib.suppress(OSError, InputError):
                write_text(self.path, json.dumps(self.known | new if len(self.known) < MOST else new))


def keep_syntax(path: Path) -> None:
    """From now on look up source files in a JSON file, and write it at the end of the process."""
    kept = KeptSyntax(path)
    syntax.keep_in(kept.look_up)
    atexit.register(kept.write)


def to_json(said: Syntax) -> dict[str, Any]:
    """The fields of a `Syntax` as JSON has them."""
    return vars(said) | {name: sorted(getattr(said, name)) for name in SETS} | {"digest": said.digest.hex()}


def from_json(found: dict[str, Any]) -> Syntax:
    """The `Syntax` that `to_json` wrote."""
    return Syntax(
        **found
        | {name: frozenset(found[name]) for name in SETS}
        | {
            "digest": bytes.fromhex(found["digest"]),
            "imports": tuple(Import(*one) for one in found["imports"]),
            "looks": tuple(found["looks"]),
        }
    )
