"""What an output records about its own making."""

from __future__ import annotations

import platform
import resource
import subprocess
import sys
import time
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("torch", "torchvision", "numpy", "scipy", "scikit-learn", "snakemake")


@cache
def commit() -> str:
    """The commit of the source tree, with "+" if it has changes; "unknown" outside a checkout."""
    folder = Path(__file__).parent
    try:
        head = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=folder, capture_output=True, text=True,
                              check=True, timeout=10).stdout.strip()
        changes = subprocess.run(["git", "status", "--porcelain", "--untracked-files=no"], cwd=folder,
                                 capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return head + ("+" if changes else "")


@cache
def versions() -> dict[str, str]:
    """Versions of Python and of the packages that numbers depend on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


class Stopwatch:
    """Wall seconds since its making, and the peak memory of the process."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return round(time.perf_counter() - self._start, 3)

    def record(self, device: str) -> dict[str, Any]:
        """The provenance of an output made by this process; memory in MB."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return {"commit": commit(), "versions": versions(), "device": device, "seconds": self.seconds,
                "peak_mb": round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)}
