"""Compressed files and archives, read in memory and by exact member name: nothing is ever extracted to disk."""

from __future__ import annotations

import gzip
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from tensorldp.errors import InputError

LARGEST_UNPACKED = 4 << 30
"""Bytes that a compressed file, or the members of an archive together, may unpack to; the catalogue has fewer."""
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
_BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile)


def decompressed(path: Path) -> bytes:
    """Returns the content of a .gz or .xz file, or of any other file as it is."""
    try:
        with _OPENERS.get(path.suffix, Path.open)(path, "rb") as file:
            content: bytes = file.read(LARGEST_UNPACKED + 1)
        _refuse_large(path, len(content))
        return content
    except _BROKEN as error:
        raise _unreadable(path, error) from None


def tar_members(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Yields names and contents of the wanted members of a compressed tar archive, in its order, in one pass.

    A member, wanted or not, is refused if its name is absolute or leaves the archive, or if it is a link or a device.
    """
    total = 0
    try:
        with tarfile.open(path, "r|*") as archive:
            for member in archive:
                total += member.size
                _refuse_large(path, total)
                _refuse_unsafe(path, member.name)
                if not (member.isreg() or member.isdir()):
                    raise InputError(
                        f"the archive {path} has the member {member.name!r}, which is a link or a device: "
                        "only plain files and folders are allowed"
                    )
                if member.isreg() and wanted(member.name):
                    file = archive.extractfile(member)
                    yield member.name, file.read() if file else b""
    except _BROKEN as error:
        raise _unreadable(path, error) from None


def zip_lines(path: Path, member: str) -> Iterator[str]:
    """Yields the lines of one UTF-8 member of a zip archive, without line ends."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(member) as file:
            _refuse_large(path, archive.getinfo(member).file_size)  # no more than this is unpacked, in any case
            for line in file:
                yield line.decode("utf-8").rstrip("\n")
    except KeyError:
        raise InputError(f"the archive {path} has no member {member}") from None
    except (*_BROKEN, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from None


def _refuse_unsafe(path: Path, name: str) -> None:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if name.startswith(("/", "\\")) or ".." in parts or re.match(r"^[A-Za-z]:", name):
        raise InputError(f"the archive {path} has the member {name!r}: absolute names and names with '..' are refused")


def _refuse_large(path: Path, size: int) -> None:
    if size > LARGEST_UNPACKED:
        raise InputError(f"the file {path} unpacks to more than {LARGEST_UNPACKED:,} bytes, which is refused")


def _unreadable(path: Path, error: BaseException) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError(f"the file {path} is missing")
    return InputError(
        f"the file {path} is truncated or damaged ({str(error) or type(error).__name__}): delete it and download again"
    )
