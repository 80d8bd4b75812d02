"""Files that are either whole or absent."""

from __future__ import annotations

import errno
import glob
import hashlib
import json
import os
import platform
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorldp.errors import InputError


class FullDiskError(InputError):
    """There is no space left, or no file may be so large; what was to be written is not at fault."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields a temporary path in the same folder that takes the place of `path` if the block succeeds."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    for part in path.parent.glob(f".{glob.escape(path.name)}.{glob.escape(platform.node())}-*.part"):
        if not _is_running(int(part.name.split("-")[-2])):
            part.unlink(missing_ok=True)
    temporary = path.with_name(f".{path.name}.{platform.node()}-{os.getpid()}-{secrets.token_hex(4)}.part")
    temporary.touch(exist_ok=False)
    mode = stat.S_IMODE(temporary.stat().st_mode)  # what the umask allows; tempfile and safetensors disregard it
    try:
        yield temporary
        temporary.chmod(mode)
        temporary.replace(path)
    except Exception as error:  # safetensors reports a full disk in words and with its own error
        full = (errno.ENOSPC, errno.EDQUOT)
        if getattr(error, "errno", None) in full or any(f"(os error {code})" in str(error) for code in full):
            raise FullDiskError(
                f"no space left on the disk that holds {path.parent}: free some and run again"
            ) from None
        if getattr(error, "errno", None) == errno.EFBIG or f"(os error {errno.EFBIG})" in str(error):
            raise FullDiskError(f"{path} would be larger than files may be here: see `ulimit -f`") from None
        raise
    finally:
        temporary.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    """Returns whether a process of this machine still runs; where the system cannot tell, it does."""
    if os.name == "posix":
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        except OSError:  # of another user
            return True
    return True


def writable_folder(folder: Path, what: str, names: Sequence[str] = ()) -> Path:
    """Returns the folder, made if need be; refuses one where nothing can be written or a folder has one of the names.

    Args:
        folder: the folder.
        what: what is to be written, for messages.
        names: of the files to be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder {folder} for {what} cannot be made: {error.strerror}") from None
    if not os.access(folder, os.W_OK):
        raise InputError(f"the folder {folder} for {what} cannot be written to")
    for path in (folder / name for name in names):
        if path.is_dir():
            raise InputError(f"{path} is a folder, where {what} needs a file: remove it or name another folder")
    return folder


def write_text(path: Path, text: str) -> None:
    """Writes `text` to `path`, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text)


def json_text(value: Any) -> str:
    """Returns `value` as indented JSON with sorted keys; infinities become the word "inf"."""
    return json.dumps(plain(value), indent=1, sort_keys=True, allow_nan=False)


def write_json(path: Path, value: Any) -> None:
    """Writes the `json_text` of a value, whole or not at all."""
    write_text(path, json_text(value) + "\n")


def plain(value: Any) -> Any:
    """Returns a value as JSON can hold it: lists for tuples, texts as keys, words for infinities."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return value


def read_json(path: Path) -> Any:
    """Reads the JSON value in a file."""
    try:
        return json.loads(Path(path).read_text())
    except OSError:
        raise InputError(f"the file {path} is missing or cannot be read") from None
    except ValueError:  # no JSON, or no text
        raise InputError(f"the file {path} is not valid JSON: delete it and run again") from None


def write_arrays(path: Path, arrays: dict[str, NDArray[Any]], metadata: dict[str, str] | None = None) -> None:
    """Writes arrays as one safetensors file whose bytes depend on nothing but its content, whole or not at all."""
    from safetensors.numpy import save_file

    with replacing(path) as temporary:
        save_file({key: np.asarray(value, order="C") for key, value in arrays.items()}, temporary, metadata=metadata)
        if metadata is not None:
            _sort_metadata(temporary)


def _sort_metadata(path: Path) -> None:
    """Puts the metadata in order: the library's order changes from process to process, and so would the checksum."""
    with path.open("r+b") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        header = {"__metadata__": dict(sorted(header.pop("__metadata__").items())), **header}
        text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode().ljust(size)
        if len(text) != size:
            raise InputError(f"the metadata of {path.name} cannot be written: use plain characters")
        file.seek(8)
        file.write(text)


def read_arrays(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Reads all arrays of a safetensors file, and its metadata."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as source:
            return {key: source.get_tensor(key) for key in source.keys()}, source.metadata() or {}  # noqa: SIM118
    except OSError:
        raise InputError(f"the file {path} is missing or cannot be read") from None
    except SafetensorError:
        raise InputError(f"the file {path} is truncated or not a safetensors file: delete it and run again") from None


def sha256(path: Path) -> str:
    """Computes the SHA-256 of a file, as hexadecimal text."""
    with Path(path).open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()
