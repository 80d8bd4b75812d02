"""What a run says last: what it made, or why it failed and how to go on."""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tensorldp_papers.run import slurm

MOST_CAUSES = 3  # causes that are reported
UNSAID = ("interrupted", "KeyboardInterrupt")  # of jobs that end because the run does
MADE = {"report": "results/report.html", "figures": "results/figures/", "numbers": "results/metrics.parquet"}
ENDED = re.compile(r"> (\S+) 2>&1' returned non-zero exit status (\d+)")  # a job of this machine: its log, and how
KILLED = "137"  # the exit status of what the system ended, mostly for lack of memory
BASH = re.compile(r"\S+: line \d+: +\d+ Killed\b")  # what the shell adds to the log of what was killed
TARGETS = (
    "results/",
    "resources/",
    "reference_figures",
    "keep_figures",
    "figures",
    "metrics",
    "checks",
    "all_checks",
    "report",
    "plan",
)


def command() -> str:
    """Returns the command that goes on with this run: what the user called, else that of this process."""
    return os.environ.get("TENSORLDP_COMMAND") or shlex.join(["snakemake", *sys.argv[1:]])


def export_commands() -> None:
    """Tells jobs how a cell is computed alone: this process's command, without its targets."""
    before = sys.argv[1 : sys.argv.index("--") if "--" in sys.argv else None]
    options = [word for word in before if not word.startswith(TARGETS)]
    here = shutil.which("snakemake") == sys.argv[0]
    os.environ.setdefault("TENSORLDP_ALONE", shlex.join(["snakemake" if here else sys.argv[0], *options]))


@dataclass(frozen=True)
class Failed:
    """A job that failed.

    Attributes:
        rule: its rule.
        output: its first file.
        message: what its executor said, such as the state in SLURM; empty on this machine.
        logs: its own, and those of its executor.
        resources: what it had.
    """

    rule: str
    output: str = ""
    message: str = ""
    logs: tuple[Path, ...] = ()
    resources: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Returns the job in words."""
        return f"the job {self.rule}" + (f" for {self.output}" if self.output else "")


class Witness(logging.Handler):
    """Notes which jobs of a run failed and how far it came, however quiet Snakemake is: it is asked before its filters.

    What fails and succeeds at a later attempt is forgotten.
    """

    def __init__(self) -> None:
        super().__init__()
        self.failed: dict[Any, Failed] = {}
        self.steps = ""
        self.ended: dict[Path, str] = {}  # exit statuses by log
        self._resources: dict[Any, Mapping[str, Any]] = {}
        self._array = ""

    def attach(self) -> None:
        """Hears what this process's Snakemake reports, as its logger plugins do."""
        logging.getLogger("snakemake.logging").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Notes what Snakemake reports."""
        event, said = str(getattr(record, "event", "") or ""), vars(record)
        if event == "job_info":
            self._resources[said["jobid"]] = dict(said["resources"].items())
        elif event == "job_error" and not said.get("indent"):  # those of groups are indented
            self._note(said, said["log"], str(said.get("rule_msg") or ""))
        elif event == "group_error":
            for job in said["job_error_info"]:
                self._note(job, [*job["log"], *said["aux_logs"]], str(said.get("msg") or ""))
        elif event == "job_finished":
            self.failed.pop(said["job_id"], None)
        elif event == "progress":
            self.steps = f"{said['done']} of {said['total']} jobs"
        elif record.levelno >= logging.ERROR:
            text = record.getMessage()
            self.ended |= {Path(log): status for log, status in ENDED.findall(text)}
            if "sbatch failed for array" in text:  # its jobs only say that they were part of it
                self._array = text

    def _note(self, job: Mapping[str, Any], logs: Sequence[Any], message: str) -> None:
        message = self._array if "failed array sbatch" in message else message
        output = next(iter(job["output"]), "")
        had = self._resources.get(job["jobid"], {})
        paths = tuple(Path(str(log)) for log in logs)
        self.failed[job["jobid"]] = Failed(job["rule_name"], str(output), message, paths, had)

    def last_words(self, started: float) -> str:
        """Returns the end of a run that failed: what is kept, how to go on, and why it failed.

        Args:
            started: when the run did; older logs are of earlier runs.
        """
        found = [cause(job, started, self.ended) for job in self.failed.values()]
        causes = list(filter(None, dict.fromkeys(found)))
        if len(causes) > MOST_CAUSES:
            causes[MOST_CAUSES - 1 :] = [
                f"error: {len(causes) - MOST_CAUSES + 1} more causes are in the files under logs"
            ]
        mend = ", after fixing what is named below" if causes else ""
        told = f"\nDone and kept: {self.steps or 'what was finished'}. To go on{mend}: {command()}\n"
        return told + "".join(["\n", *(f"{text}\n" for text in causes)] if causes else [])


def cause(job: Failed, started: float, ended: Mapping[Path, str]) -> str:
    """Returns why a job failed, in a sentence with its remedy; empty if it was interrupted.

    Args:
        job: the job.
        started: when the run did.
        ended: exit statuses of jobs of this machine, by their logs.
    """
    if told := slurm.refusal(job.rule, job.message, job.resources):
        return f"error: {job.name} {told}"
    own, executors = _split(job)
    text = {path: _text([str(path)]) if _since(started)(path) else "" for path in job.logs}
    beside = "\n".join(text[path] for path in executors)
    if told := slurm.end(job.rule, job.message, beside, job.resources):
        return f"error: {job.name} {told}"
    said = [line.strip() for path in own for line in text[path].splitlines() if line.strip()]
    lines = [line for line in said if not BASH.match(line)]
    if sentences := [line for line in lines if line.startswith("error: ")]:
        return sentences[-1]
    if lines and lines[-1] in UNSAID:
        return ""
    where = f" ({', '.join(map(str, [path for path in own if text[path]] or executors or own))})"
    if any(line.startswith("Traceback") for line in lines):
        return f"error: {job.name} failed with {lines[-1]}{where}"
    number, status, _ = slurm.said(job.message)
    state = f", {status} as job {number} of SLURM" if status else ""
    at = f" after {lines[-1]!r}" if lines else ""
    if not lines and (rest := [line.strip() for line in beside.splitlines() if line.strip()]):
        at = f" of its own; SLURM's log ends with {rest[-1]!r}"
    lack = "; it was killed, most likely for lack of memory: run again with fewer --cores"
    killed = lack if len(lines) < len(said) or any(ended.get(path) == KILLED for path in own) else ""
    return f"error: {job.name} failed{state} without a message{at}{killed}{where}"


def _split(job: Failed) -> tuple[list[Path], list[Path]]:
    """Returns the logs of a job's own code, and those of its executor, which are in Snakemake's folder."""
    executors = [path for path in job.logs if ".snakemake" in path.parts or "slurm_logs" in path.parts]
    return [path for path in job.logs if path not in executors], executors


def _text(logs: Iterable[str]) -> str:
    return "\n".join(Path(path).read_text(errors="replace") for path in logs if Path(path).is_file())


def finished(started: float) -> str:
    """Returns the last line of a run: which results were made since it started, and where they really are."""
    made = [
        f"{kind}: {place}"
        for kind, place in MADE.items()
        if any(map(_since(started), [Path(place), *Path(place).glob("*")]))
    ]
    return f"\nFinished in {Path.cwd()}. {'   '.join(made)}".rstrip()


def warnings_since(started: float, most: int = 10) -> list[str]:
    """Returns what the logs of jobs since then warn of, each warning once."""
    logs = sorted(str(path) for path in Path("logs").rglob("*.log") if _since(started)(path))
    told = list(dict.fromkeys(line for line in _text(logs).splitlines() if line.startswith("warning: ")))
    return told[:most] + ([f"warning: {len(told) - most} more in the files under logs"] if len(told) > most else [])


def _since(started: float) -> Callable[[Path], bool]:
    return lambda path: path.is_file() and path.stat().st_mtime >= started
