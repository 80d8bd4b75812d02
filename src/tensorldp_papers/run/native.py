"""C++ of this package: compiled for this machine when it is first needed, and kept in the user's cache."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from tensorldp.errors import InputError
from tensorldp_papers.run.precision import CPU_INFO

LOOPS = Path(__file__).parents[1] / "nets" / "compiled" / "steps.cpp"
COMPILERS = ("c++", "g++", "clang++")
FLAGS = ("-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC", "-w")
COMPILE_SECONDS = 120  # after which a compiler is given up


def compiler() -> str | None:
    """Finds the C++ compiler: the environment's CXX, else the first of `COMPILERS` that there is."""
    wished = os.environ.get("CXX")
    return next((path for name in ([wished] if wished else COMPILERS) if (path := shutil.which(name))), None)


def _cache_folder() -> Path:
    """Returns where compiled code is kept: the user's cache, else a temporary folder that nobody else can write."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    for folder in (home / "tensorldp", Path(tempfile.gettempdir()) / f"tensorldp-compiled-{os.getuid()}"):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _is_own(folder):
                return folder
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="tensorldp-"))


def _is_own(folder: Path) -> bool:
    """Returns whether it is a folder that this user, and no other, can write: its files are executed."""
    found = folder.lstat()
    safe = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
    return safe and os.access(folder, os.W_OK)


def _identity(program: str, source: Path) -> str:
    """Returns a text that changes with the source and its headers, the compiler and the processor's instructions."""
    version = subprocess.run([program, "--version"], capture_output=True, timeout=COMPILE_SECONDS, check=True).stdout
    try:
        processor = next((line for line in CPU_INFO.read_text().splitlines() if line.startswith("flags")), "")
    except OSError:
        processor = ""
    texts = [path.read_bytes() for path in (source, *sorted(source.parent.glob("*.h")))]
    parts = (*texts, version, " ".join(FLAGS).encode(), processor.encode())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


@cache
def build(source: Path) -> Path:
    """Builds the shared library of a C++ file; compiled where it is not kept yet.

    Raises:
        InputError: if there is no compiler, or it fails.
    """
    program = compiler()
    if program is None:
        raise InputError("there is no C++ compiler on this machine: install one, or set precision to float32")
    try:
        target = _cache_folder() / f"{source.stem}-{_identity(program, source)}.so"
        if not target.exists():
            with tempfile.TemporaryDirectory(dir=target.parent) as folder:
                made = Path(folder) / target.name
                command = [program, *FLAGS, "-o", str(made), str(source)]
                subprocess.run(command, capture_output=True, timeout=COMPILE_SECONDS, check=True)
                made.replace(target)
        ctypes.CDLL(str(target))
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or str(error).encode()
        first = next(iter(said.decode(errors="replace").strip().splitlines()), type(error).__name__)
        raise InputError(f"the C++ compiler {program} cannot compile {source.name}: {first}") from None
    return target


@cache
def available(source: Path) -> bool:
    """Returns whether this machine can compile and load a C++ file."""
    try:
        build(source)
    except InputError:
        return False
    return True
