"""Checksums of files: pinned ones, and those recorded when a file is first used."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tensorldp.errors import InputError
from tensorldp.files import write_text
from tensorldp_papers.data.source import File

CHUNK = 1 << 20


@dataclass(frozen=True)
class Digest:
    """What was found in a file: its size in bytes and its hashes in hexadecimal."""

    size: int
    sha256: str
    md5: str


class Hasher:
    """Hashes bytes as they pass."""

    def __init__(self) -> None:
        self._sha256, self._md5, self._size = hashlib.sha256(), hashlib.md5(usedforsecurity=False), 0

    def update(self, part: bytes) -> None:
        """Take the next bytes in."""
        self._sha256.update(part)
        self._md5.update(part)
        self._size += len(part)

    def digest(self) -> Digest:
        """Of all bytes so far."""
        return Digest(self._size, self._sha256.hexdigest(), self._md5.hexdigest())


def digest(path: Path) -> Digest:
    """The size and the hashes of a file.

    Raises:
        InputError: if it cannot be read.
    """
    hasher = Hasher()
    try:
        with path.open("rb") as source:
            while part := source.read(CHUNK):
                hasher.update(part)
    except OSError as error:
        raise InputError(f"the file {path} cannot be read: {error.strerror or error}") from None
    return hasher.digest()


def recorded(file: File, folders: Iterable[Path]) -> str | None:
    """The checksum to hold a file to: the pinned one, else the SHA-256 in a `<name>.sha256` of one of `folders`.

    Raises:
        InputError: if that sidecar is not what sha256sum writes.
    """
    if file.checksum is not None:
        return file.checksum
    for folder in folders:
        sidecar = folder / f"{file.name}.sha256"
        if sidecar.is_file():
            words = sidecar.read_text(errors="replace").split()
            if not words or not re.fullmatch(r"[0-9a-f]{64}", words[0]):
                raise InputError(f"the file {sidecar} must hold a SHA-256 of 64 hexadecimal digits and the file name")
            return f"sha256:{words[0]}"
    return None


def record(file: File, folder: Path, found: Digest) -> None:
    """Keep the SHA-256 of a file that has no pinned one, in the form that `sha256sum -c` reads."""
    write_text(folder / f"{file.name}.sha256", f"{found.sha256}  {file.name}\n")


def matches(expected: str, found: Digest) -> bool:
    """Whether a file is what a checksum says."""
    algorithm, value = expected.split(":")
    return (found.md5 if algorithm == "md5" else found.sha256[: len(value)]) == value


def mismatch(what: str, expected: str, found: Digest, pinned: bool) -> InputError:
    """The error for a file with another hash than expected."""
    algorithm, value = expected.split(":")
    got = found.md5 if algorithm == "md5" else found.sha256
    label = {"md5": "MD5", "sha256": "SHA-256"}.get(algorithm, "SHA-256 beginning with")
    advice = (
        "it is damaged or another release"
        if pinned
        else "it has changed since its first use; delete the .sha256 file if that is intended"
    )
    return InputError(f"{what} has the {label.split()[0]} {got}, expected is the {label} {value}: {advice}")
