"""How much memory there is, and how the C library hands it out to tensors."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

from tensorldp.errors import InputError

MMAP_MAX, TRIM_THRESHOLD = -4, -1  # glibc's numbers of its settings
KEPT = 256 << 20


def keep_freed_memory() -> bool:
    """Lets glibc reuse what tensors freed instead of returning it to the system; False if the library is another.

    By default each activation of a few megabytes is mapped and unmapped, and the kernel fills its pages with zeros
    anew at every step: up to a third of a small network's training. More than 256 MB of free memory at the end of the
    heap are still returned.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(MMAP_MAX, 0) and mallopt(TRIM_THRESHOLD, KEPT))


def free_memory() -> float:
    """Returns the bytes this process may still use, by machine, group and its own limit; infinite if unknown."""
    limits = [_of_machine(), _of_process()]
    for most, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        limit, taken = (_number(Path("/sys/fs/cgroup") / name) for name in (most, used))
        if limit is not None and taken is not None:
            limits.append(limit - taken)
    return max(0.0, min(limits))


def check_memory(name: str, elements: int, each: int) -> None:
    """Refuses what does not fit in memory, before any of it is allocated.

    Args:
        name: what needs it, for the message.
        elements: how many there are.
        each: bytes that are needed for one of them.
    """
    needed, free = min(elements * each, 10**300), free_memory()
    if needed > free:
        raise InputError(
            f"{name} of {elements} elements needs about {needed / 2**30:.3g} GB of memory, "
            f"and {free / 2**30:.3g} GB are free"
        )


def _of_machine() -> float:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):  # a system that does not say
        return float("inf")


def _of_process() -> float:
    try:
        import resource  # POSIX only

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError, ValueError):
        return float("inf")
    return float("inf") if limit == resource.RLIM_INFINITY else float(limit - pages * resource.getpagesize())


def _number(path: Path) -> float | None:
    try:
        return float(path.read_text())
    except (OSError, ValueError):  # "max" is not a number
        return None
