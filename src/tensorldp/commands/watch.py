"""A process that watches another: code under test may end its process, but not say what the exit code means."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

FAILED = 2


def watched(run: Callable[[], int]) -> int:
    """The exit code that `run` returns in a child process; 2 and a sentence where the child ends without a word.

    So neither `os._exit(0)` in a user's module, nor a crash of the interpreter, nor the system that kills a process
    for its memory can be taken for a verdict. Where processes cannot be forked, `run` runs in this one.
    """
    if not hasattr(os, "fork"):
        return run()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        code = run()
        os.write(write, bytes([code]))
        return code
    os.close(write)
    terminated = False

    def terminate(number: int, frame: FrameType | None) -> None:
        nonlocal terminated
        terminated = True
        os.kill(child, number)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the child hears of Ctrl-C itself
    signal.signal(signal.SIGTERM, terminate)
    _, status = os.waitpid(child, 0)
    os.set_blocking(read, False)  # a process that the child left behind may hold the other end
    try:
        said = os.read(read, 1)
    except BlockingIOError:
        said = b""
    if said:
        return said[0]
    if terminated:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)
    print(f"error: the process ended without an answer: {_end(os.waitstatus_to_exitcode(status))}", file=sys.stderr)
    return FAILED


def _end(code: int) -> str:
    """How a process ended, in words."""
    if code >= 0:
        return f"it ended itself with exit code {code}"
    name = signal.Signals(-code).name
    return f"{name} killed it" + (", as the system does where memory runs out" if name == "SIGKILL" else "")
