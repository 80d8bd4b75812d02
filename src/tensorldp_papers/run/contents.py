"""What a user's own files hold, as one text: a copy or a touch of them is no change, whatever their times say."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from tensorldp.errors import InputError
from tensorldp.files import read_json, sha256, write_json


def content_digest(files: Sequence[str], known: Path, *, keep: bool = True) -> str:
    """A digest of files and of the last two parts of their names, a class and a file in a folder of images.

    A file is read again only if its time or its size differ from those in `known`.

    Args:
        files: their paths.
        known: a JSON file {path: [time, size, SHA-256]}, which may be missing or damaged.
        keep: whether to write there what was read now.

    Raises:
        InputError: if a file cannot be read.
    """
    try:
        found = read_json(known) if known.exists() else {}
    except InputError:
        found = {}
    before = dict(found)
    try:
        for path in files:
            state = os.stat(path)  # noqa: PTH116
            if found.get(path, [])[:2] != [state.st_mtime_ns, state.st_size]:
                found[path] = [state.st_mtime_ns, state.st_size, sha256(Path(path))]
    except OSError as error:
        raise InputError(f"the file {path} cannot be read: {error.strerror or error}") from None
    if keep and found != before:
        write_json(known, found)
    lines = [f"{'/'.join(Path(path).parts[-2:]) if len(files) > 1 else ''} {found[path][2]}" for path in sorted(files)]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()[:16]
