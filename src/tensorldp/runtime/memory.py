"""How the C library hands out memory to tensors."""

from __future__ import annotations

import ctypes
import sys

MMAP_MAX, TRIM_THRESHOLD = -4, -1  # glibc's numbers of its settings
KEPT = 256 << 20


def keep_freed_memory() -> bool:
    """Let glibc reuse what tensors freed instead of returning it to the system; False where the library is another.

    By default each activation of a few megabytes is mapped and unmapped, and the kernel fills its pages with zeros
    anew at every step: up to a third of a small network's training. More than 256 MB of free memory at the end of the
    heap are still returned.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(MMAP_MAX, 0) and mallopt(TRIM_THRESHOLD, KEPT))
