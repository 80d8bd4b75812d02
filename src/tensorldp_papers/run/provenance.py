"""What an output records about how it was made."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import resource
import subprocess
import sys
import time
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tensorldp_papers.run.precision import instruction_set

PACKAGES = ("torch", "torchvision", "numpy", "scipy", "scikit-learn", "snakemake")

FOUND = "TENSORLDP_PROVENANCE"  # set by `share`: asking git and importlib takes 28 ms, which is much for a small job


def share() -> None:
    """Finds out commit and versions once for this process and all that it starts."""
    os.environ.pop(FOUND, None)
    os.environ[FOUND] = json.dumps({"commit": commit(), "versions": versions()})


@cache
def commit() -> str:
    """Returns the commit of the source tree, with "+" if it has changes; "unknown" outside a checkout.

    Within a run of the workflow, what it was at the start of the run.
    """
    if FOUND in os.environ:
        return str(json.loads(os.environ[FOUND])["commit"])
    try:
        head, changes = _git("rev-parse", "--short=12", "HEAD"), _git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return head + ("+" if changes else "")


def _git(*arguments: str) -> str:
    folder = Path(__file__).parent
    found = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True, timeout=10)
    return found.stdout.strip()


@cache
def versions() -> dict[str, str]:
    """Returns the versions of Python and of the packages that numbers depend on."""
    if FOUND in os.environ:
        return dict(json.loads(os.environ[FOUND])["versions"])
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def peak_mb() -> float:
    """Returns the peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


class Stopwatch:
    """Wall seconds since it was made, and the peak memory of the process since then, where the system can tell."""

    def __init__(self) -> None:
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # what came before does not count
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Returns the seconds since the start."""
        return round(time.perf_counter() - self._start, 3)

    def record(self, device: str, precision: str = "float32") -> dict[str, Any]:
        """Returns the provenance of this process's output, whose networks computed in `precision`; memory in MB."""
        return {
            "commit": commit(),
            "versions": versions(),
            "device": device,
            "isa": instruction_set(),
            "precision": precision,
            "seconds": self.seconds,
            "peak_mb": round(peak_mb(), 1),
        }
