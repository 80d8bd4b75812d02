"""A process that watches another: code under test may end its process, but not say what the exit code means."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

FAILED = 2
_watching: list[bool] = []  # not empty in a process that another one watches


def watched(run: Callable[[], int]) -> int:
    """Runs `run` in a child process and returns its exit code; 2 and a sentence if the child ends without an answer.

    So neither `os._exit(0)` in a user's module, nor a crash of the interpreter, nor the system that kills a process
    for its memory can be taken for a verdict. Where processes cannot be forked, `run` runs in this one.
    """
    if not hasattr(os, "fork"):
        return run()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _end_with_parent()
        _watching.append(True)
        code = run()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one would bring a traceback, and no other answer
        os.write(write, bytes([code]))
        return code
    os.close(write)
    passed_on = []

    def pass_on(number: int, frame: FrameType | None) -> None:
        passed_on.append(number)
        with suppress(ProcessLookupError):
            os.kill(child, number)  # it gets Ctrl-C twice, or once if only this process got it

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, pass_on)
    _, status = os.waitpid(child, 0)
    os.set_blocking(read, False)  # a process that the child left behind may hold the other end
    with suppress(BlockingIOError):
        if answer := os.read(read, 1):
            return answer[0]
    if passed_on:  # end as it did
        signal.signal(passed_on[0], signal.SIG_DFL)
        os.kill(os.getpid(), passed_on[0])
    print(f"error: the process ended without an answer: {_end(os.waitstatus_to_exitcode(status))}", file=sys.stderr)
    return FAILED


@contextmanager
def ended_after(seconds: float) -> Iterator[None]:
    """Ends this process, whatever it does, if the block takes longer and another process is there to say so."""
    if _watching:
        signal.setitimer(signal.ITIMER_REAL, min(seconds, 1e8))
    try:
        yield
    finally:
        if _watching:
            signal.setitimer(signal.ITIMER_REAL, 0.0)


def _end(code: int) -> str:
    """Says how a process ended."""
    if code >= 0:
        return f"it ended itself with exit code {code}"
    if -code == signal.SIGALRM:
        return "the code under test did not return within many times the minutes that it was given"
    memory = ", as the system sends when memory runs out" if -code == signal.SIGKILL else ""
    return f"signal {-code} ({signal.strsignal(-code)}) ended it{memory}"


def _end_with_parent() -> None:
    """Lets this process end with the one that watches it, where the system can."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
