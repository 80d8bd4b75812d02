"""What a run that failed says last: what is kept, the command that goes on, and alone at the end why it failed."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

MOST = 3  # causes that are told
UNSAID = ("interrupted", "KeyboardInterrupt")  # of jobs that end because the run does


def command() -> str:
    """The command that goes on with this run: that of `make figures` where it was started so, else this process's."""
    return os.environ.get("TENSORLDP_COMMAND") or shlex.join(["snakemake", *sys.argv[1:]])


def cause(log: Path) -> str:
    """Why a job failed, by its log: the last sentence of a mistake, else the last line; empty if interrupted."""
    try:
        lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    except OSError:
        lines = []
    if sentences := [line for line in lines if line.startswith("error: ")]:
        return sentences[-1]
    if lines and lines[-1] in UNSAID:
        return ""
    return f"error: a job failed with {lines[-1]} ({log})" if lines else f"error: a job failed without a word ({log})"


def last_words(logs: Iterable[str], started: float, done: int, left: int) -> str:
    """The end of a run that failed.

    Args:
        logs: of the jobs that are not done.
        started: when the run was, in seconds since the epoch; a log that is older is of an earlier run.
        done: how many jobs of this run are done.
        left: how many are not.
    """
    written = [path for path in map(Path, logs) if path.is_file() and path.stat().st_mtime >= started]
    causes = [text for text in dict.fromkeys(map(cause, written)) if text]
    if len(causes) > MOST:
        causes[MOST - 1 :] = [f"error: {len(causes) - MOST + 1} more causes are in the files under logs"]
    mend = ", after mending what is said below" if causes else ""
    told = f"\nDone and kept: {done} of {done + left} jobs. To go on{mend}: {command()}\n"
    return told + "".join(["\n", *(f"{text}\n" for text in causes)] if causes else [])
