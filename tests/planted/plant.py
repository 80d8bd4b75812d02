"""Plant a fault in a copy of the repository and see which tests notice it: python tests/planted/plant.py FAULT TESTS...

A fault is a patch beside this file, whose first line says what it is. Without tests, those that `caught.yaml` lists.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FAULTS = sorted(path.stem for path in HERE.glob("*.patch"))
CAUGHT: dict[str, list[str]] = yaml.safe_load((HERE / "caught.yaml").read_text())  # tests that notice each fault


def git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)


def copy_with(fault: str, folder: Path) -> None:
    """A copy of the repository's files with a fault in it."""
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    done = git(folder, "apply", str(HERE / f"{fault}.patch"))
    if done.returncode:
        raise ValueError(f"the fault {fault} cannot be planted any more: {done.stderr}")


def failed(fault: str, tests: list[str], folder: Path) -> list[str]:
    """The tests, of those given, that fail in a copy with a fault, by file and name."""
    copy_with(fault, folder)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tb=no", "-rfE", *tests],
        cwd=folder,
        env=kept | {"PYTHONPATH": str(folder / "src"), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise ValueError(f"pytest ends with {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")
    return sorted(set(re.findall(r"^(?:FAILED|ERROR) (\S+?)(?: - .*)?$", done.stdout, re.MULTILINE)))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        print(*failed(sys.argv[1], sys.argv[2:] or CAUGHT[sys.argv[1]], Path(scratch)), sep="\n")
