"""What a run says last, read from Snakemake's own log: what it made, or why it failed and how to go on."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

MOST = 3  # causes that are reported
UNSAID = ("interrupted", "KeyboardInterrupt")  # of jobs that end because the run does
MADE = {"report": "results/report.html", "figures": "results/figures/", "numbers": "results/metrics.parquet"}
STEPS = re.compile(r"^(\d+) of (\d+) steps", re.MULTILINE)
# the log of a job that failed; under `--quiet rules`, only its command is told
FAILED = re.compile(
    r"^Error in (?:rule|group) .*?^ +log: (\S+)|> (\S+) 2>&1' returned non-zero", re.MULTILINE | re.DOTALL
)
TARGETS = (
    "results/",
    "resources/",
    "reference_figures",
    "figures",
    "metrics",
    "checks",
    "all_checks",
    "report",
    "plan",
)


def command() -> str:
    """The command that goes on with this run: what the user called, else that of this process."""
    return os.environ.get("TENSORLDP_COMMAND") or shlex.join(["snakemake", *sys.argv[1:]])


def export_commands() -> None:
    """Tell jobs how a cell is computed alone: this process's command, without its targets."""
    before = sys.argv[1 : sys.argv.index("--") if "--" in sys.argv else None]
    options = [word for word in before if not word.startswith(TARGETS)]
    here = shutil.which("snakemake") == sys.argv[0]
    os.environ.setdefault("TENSORLDP_ALONE", shlex.join(["snakemake" if here else sys.argv[0], *options]))


def _text(logs: Iterable[str]) -> str:
    return "\n".join(Path(path).read_text(errors="replace") for path in logs if Path(path).is_file())


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
    return (
        f"error: a job failed with {lines[-1]} ({log})" if lines else f"error: a job failed without a message ({log})"
    )


def last_words(logs: Sequence[str], started: float) -> str:
    """The end of a run that failed, from Snakemake's logs of it; where they name no job, from the jobs' own since then.

    Under `--quiet all` they name none.
    """
    text = _text(logs)
    failed = [first or second for first, second in FAILED.findall(text)] or _with_mistakes(started)
    causes = [told for told in dict.fromkeys(cause(Path(path)) for path in failed) if told]
    if len(causes) > MOST:
        causes[MOST - 1 :] = [f"error: {len(causes) - MOST + 1} more causes are in the files under logs"]
    steps = STEPS.findall(text)
    done = f"{steps[-1][0]} of {steps[-1][1]} jobs" if steps else "what was finished"
    mend = ", after fixing what is named below" if causes else ""
    told = f"\nDone and kept: {done}. To go on{mend}: {command()}\n"
    return told + "".join(["\n", *(f"{text}\n" for text in causes)] if causes else [])


def finished(started: float) -> str:
    """The last line of a run: which results were made since it started, and where they really are."""
    made = [
        f"{kind}: {place}"
        for kind, place in MADE.items()
        if any(map(_since(started), [Path(place), *Path(place).glob("*")]))
    ]
    return f"\nFinished in {Path.cwd()}. {'   '.join(made)}".rstrip()


def warnings_since(started: float, most: int = 10) -> list[str]:
    """What the logs of jobs since then warn of, each warning once."""
    logs = sorted(str(path) for path in Path("logs").rglob("*.log") if _since(started)(path))
    told = list(dict.fromkeys(line for line in _text(logs).splitlines() if line.startswith("warning: ")))
    return told[:most] + ([f"warning: {len(told) - most} more in the files under logs"] if len(told) > most else [])


def _with_mistakes(started: float) -> list[str]:
    logs = filter(_since(started), sorted(Path("logs").rglob("*.log")))
    return [str(log) for log in logs if re.search("^error: ", log.read_text(errors="replace"), re.MULTILINE)]


def _since(started: float) -> Callable[[Path], bool]:
    return lambda path: path.is_file() and path.stat().st_mtime >= started
