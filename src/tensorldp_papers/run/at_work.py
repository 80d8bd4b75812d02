"""Whether a run is at work in this folder: python -m tensorldp_papers.run.at_work takes away the lock of a killed one.

Snakemake's own lock outlives a run that is killed. A run therefore holds another one, which ends with its process.
"""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

SNAKEMAKE = Path(".snakemake")


def hold() -> IO[str] | None:
    """Returns what to keep as long as the run lives; None if the file system has no such locks."""
    SNAKEMAKE.mkdir(exist_ok=True)
    return _locked(SNAKEMAKE, fcntl.LOCK_SH)


def unlock(folder: Path = Path(), options: Sequence[str] = ()) -> None:
    """Lets Snakemake take its lock away if no process is there that locked the folder.

    Args:
        folder: of the run.
        options: Snakemake's, which say where the folder and its Snakefile are.
    """
    own = folder / SNAKEMAKE
    if any((own / "locks").glob("*.lock")) and (file := _locked(own, fcntl.LOCK_EX)):
        file.close()
        print("The last run here was killed: unlocking", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "snakemake", "--unlock", "--quiet", "all", *options], check=False)


def _locked(folder: Path, kind: int) -> IO[str] | None:
    file = (folder / "at_work").open("w")
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


if __name__ == "__main__":
    unlock()
