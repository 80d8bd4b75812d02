"""Results whose readers can tell that they are whole, unchanged and in their own place.

A seal is a digest of a file's name and content. JSON and safetensors files hold theirs; that of a table lies beside it.
What `fits` not is made again, or told by the functions that read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorldp.errors import InputError
from tensorldp.files import plain, read_arrays, read_json, sha256, write_arrays, write_json, write_text

SEAL = "seal"  # its key in JSON and in the metadata of safetensors


def _seal(name: str, *content: str | memoryview) -> str:
    found = hashlib.sha256(name.encode())
    for part in content:
        found.update(b"\0")
        found.update(part.encode() if isinstance(part, str) else part)
    return found.hexdigest()


def _seal_of_json(content: Any, name: str) -> str:
    return _seal(name, json.dumps(content, sort_keys=True))


def _seal_of_arrays(arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, str], name: str) -> str:
    names = sorted(arrays)
    texts = [f"{key} {arrays[key].dtype.str} {arrays[key].shape}" for key in names]
    # as bytes, because memory views have no bfloat16
    data = [np.ascontiguousarray(arrays[key]).reshape(-1).view("u1").data for key in names]
    return _seal(name, json.dumps(dict(metadata), sort_keys=True), *texts, *data)


def _refusal(path: Path) -> InputError:
    return InputError(
        f"the file {path} is not what was computed for its place (it was changed, moved, or made by an earlier "
        "version): delete it and run again"
    )


def write_sealed(path: Path, content: Mapping[str, Any], name: str) -> None:
    """Writes a JSON object with its seal, whole or not at all.

    Args:
        path: the file.
        content: what it says.
        name: what the file is, such as its place among the results; the reader must give the same.
    """
    made = plain(dict(content))
    write_json(path, {**made, SEAL: _seal_of_json(made, name)})


def read_sealed(path: Path, name: str) -> dict[str, Any]:
    """Reads what `write_sealed` wrote under this name.

    Raises:
        InputError: if the file is missing or damaged, was changed, or is of another name.
    """
    found = read_json(path)
    if not isinstance(found, dict) or found.pop(SEAL, "") != _seal_of_json(found, name):
        raise _refusal(path)
    return found


def write_sealed_arrays(
    path: Path, arrays: Mapping[str, NDArray[Any]], name: str, metadata: Mapping[str, str] | None = None
) -> None:
    """Writes a safetensors file with its seal, whole or not at all; arguments as of `write_sealed`."""
    made = dict(metadata or {})
    write_arrays(path, dict(arrays), {**made, SEAL: _seal_of_arrays(arrays, made, name)})


def read_sealed_arrays(path: Path, name: str) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Reads the arrays and metadata that `write_sealed_arrays` wrote under this name; errors as of `read_sealed`."""
    arrays, metadata = read_arrays(path)
    if metadata.pop(SEAL, "") != _seal_of_arrays(arrays, metadata, name):
        raise _refusal(path)
    return arrays, metadata


def fits(path: Path, name: str) -> bool:
    """Returns whether a file, JSON or safetensors, is there as it was written under this name."""
    try:
        (read_sealed_arrays if path.suffix == ".safetensors" else read_sealed)(path, name)
    except InputError:
        return False
    return True


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{SEAL}")


def _seal_of_file(path: Path) -> str:
    own = path.parent.name if path.parent.parent.name == "studies" else ""  # studies have tables of the same names
    return _seal(f"{own}/{path.name}", sha256(path))


def seal_file(path: Path) -> None:
    """Writes the seal of a file that cannot hold it beside it."""
    write_text(_beside(path), f"{_seal_of_file(path)}\n")


def file_fits(path: Path, *, sealed: bool = True) -> bool:
    """Returns whether a file is there as it was when it was sealed.

    Args:
        path: the file.
        sealed: what was never sealed, such as kept results, fits only without this.
    """
    try:
        return _beside(path).read_text() == f"{_seal_of_file(path)}\n"
    except FileNotFoundError:
        return not sealed and path.exists()
    except (OSError, ValueError):
        return False


def check_file(path: Path) -> None:
    """Refuses a file that was sealed and is not as it was then; errors as of `read_sealed`."""
    if path.exists() and not file_fits(path, sealed=False):
        raise _refusal(path)


def read_prepared(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Reads the arrays and metadata of a file of a prepared data set, of features or of representations.

    Raises:
        InputError: if the file is missing or damaged, or is not the one that was made there.
    """
    arrays, metadata = read_arrays(path)
    digest = path.with_name("digest.json")
    noted = read_json(digest) if digest.exists() else {}
    if noted and path.stem in {*noted, "train", "test"} and noted.get(path.stem) != sha256(path):
        raise InputError(f"the file {path} is not the one that {digest} was made with: delete it and run again")
    check_file(path)  # files without a digest there have a seal
    return arrays, metadata
