"""Progress of long loops: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")


def track(items: Iterable[T], what: str, total: int | None = None, every: float = 30.0) -> Iterator[T]:
    """Passes `items` through, showing how many of `total` are done.

    On a terminal it is a tqdm bar; otherwise a line at most every `every` seconds.
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    if sys.stderr.isatty():
        yield from tqdm(items, desc=what, total=total, leave=False)
        return
    last = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        if time.monotonic() - last >= every:
            last = time.monotonic()
            print(f"{what}: {done} of {total if total is not None else '?'}", file=sys.stderr, flush=True)


def about(seconds: float) -> str:
    """Returns an estimated time in words, such as `about 3 minutes`."""
    if seconds < 45:
        return "less than a minute"
    count, unit = seconds / 60, "minute"
    if count >= 90:
        count, unit = seconds / 3600, "hour"
    if unit == "hour" and count >= 48:
        count, unit = seconds / 86400, "day"
    return f"about {count:,.0f} {unit}{'s' if round(count) > 1 else ''}"
