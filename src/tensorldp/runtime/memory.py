"""How the C library hands out memory to tensors."""

from __future__ import annotations

import ctypes
import sys

MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1  # glibc's numbers of its settings
LARGEST = 32 << 20  # what glibc allows at most
KEPT = 256 << 20


def keep_freed_memory() -> bool:
    """Let glibc reuse what tensors freed instead of returning it to the system; False where the library is another.

    By default each activation of a few megabytes is mapped and unmapped, and the kernel fills its pages with zeros
    anew at every step: up to a third of a small network's training. Arrays above 32 MB are still returned at once, and
    more than 256 MB of free memory too.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(MMAP_THRESHOLD, LARGEST) and mallopt(TRIM_THRESHOLD, KEPT))
