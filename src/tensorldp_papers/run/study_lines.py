"""What a run says while it goes: a line for each study, in place of Snakemake's three for each job."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tensorldp_papers.progress import about

STAGES = {  # what cells are after a stage of a batch, and the list that the stage is for
    "perturb": ("released", "scores"),
    "train": ("trained", "scores"),
    "train_shared": ("trained", "models"),
    "evaluate": ("scored", "scores"),
    "measure": ("measured", "scores"),
    "privacy": ("audited", "privacy"),
}
LISTS = ("train_shared", "evaluate", "measure", "privacy")  # stages that end with the list of a batch
LOOK, AGAIN, SHARE = 2.0, 30.0, 0.05  # seconds between looks and between lines, and their share of the run so far
CELL = re.compile(r"^(\d+) of (\d+): ", re.MULTILINE)  # a stage's word in its log on each cell that it computes
EVENTS = ("job_info", "job_started", "job_finished")  # of a single job, as these texts are
TEXTS = ("Select jobs to execute...", "Removing temporary output")
LINE = "resources_info"  # what Snakemake calls lines that `--quiet progress` leaves out
Batch = tuple[str, str, str]  # study, data set, number or name


@dataclass
class _Job:
    """A stage of a batch at work, or done: how many cells it has to compute, and how many it has."""

    stage: str
    batch: Batch
    log: Path
    cells: int
    asked: float
    began: float
    ended: float | None = None
    computes: int | None = None  # of its cells; None until its log says so
    computed: int = 0

    def look(self, now: float) -> None:
        """Reads the log, which an executor may begin long after it was asked to."""
        if self.ended is not None:
            return
        if not self.log.is_file() or self.log.stat().st_mtime < self.asked:
            self.began = now
        elif found := CELL.findall(self.log.read_text(errors="replace")):
            self.computed, self.computes = int(found[-1][0]) - 1, int(found[-1][1])

    def end(self, now: float) -> None:
        self.look(now)
        self.ended, self.computes = now, self.computes or 0
        self.computed = self.computes

    @property
    def left(self) -> int:
        """Returns how many cells it still has to compute, at most."""
        return (self.cells if self.computes is None else self.computes) - self.computed

    @property
    def kept(self) -> int:
        """Returns how many of its cells were there already."""
        return 0 if self.computes is None else self.cells - self.computes


@dataclass
class _Study:
    """The batches of a study that the run wants, those of them without their lists yet, and the jobs so far."""

    wanted: dict[tuple[str, Batch], int] = field(default_factory=dict)  # of a list and a batch: cells
    missing: set[tuple[str, Batch]] = field(default_factory=set)
    jobs: list[_Job] = field(default_factory=list)
    said: str = ""
    when: float = 0.0

    def line(self, now: float) -> str:
        """Returns how many cells have passed the stage that takes longest, and about how long all stages take."""
        seconds = {}
        for stage in dict.fromkeys(job.stage for job in self.jobs):
            timed = [job for job in self.jobs if job.stage == stage and job.computed]
            each = sum((job.ended or now) - job.began for job in timed) / max(sum(job.computed for job in timed), 1)
            seconds[stage] = self._left(stage) * each
        at_once = max(sum(job.ended is None for job in self.jobs), 1)
        stage = max(reversed(seconds), key=seconds.__getitem__)
        word, kind = STAGES[stage]
        cells = self._cells(kind)
        kept = self._kept(kind, [job for job in self.jobs if job.stage == stage])
        time_left = f", {about(sum(seconds.values()) / at_once)} left" if any(seconds.values()) else ""
        return f"{cells - self._left(stage)} of {cells} cells {word}{time_left}{f'; {kept} kept' if kept else ''}"

    def last_line(self) -> str:
        """Returns how many cells the run has computed, in whole or in part, and how many were there."""
        computed: dict[Batch, int] = {}
        for job in self.jobs:
            if job.stage != "train_shared":
                computed[job.batch] = max(computed.get(job.batch, 0), job.computed)
        cells, new = max(map(self._cells, ("scores", "privacy"))), sum(computed.values())
        return f"{cells} of {cells} cells; {new} new, {cells - new} kept"

    def _cells(self, kind: str) -> int:
        return sum(cells for (of, _), cells in self.wanted.items() if of == kind)

    def _left(self, stage: str) -> int:
        jobs = {job.batch: job for job in self.jobs if job.stage == stage}
        waiting = [key for key in self.missing if key[0] == STAGES[stage][1] and key[1] not in jobs]
        return sum(self.wanted[key] for key in waiting) + sum(job.left for job in jobs.values())

    def _kept(self, kind: str, jobs: list[_Job]) -> int:
        seen = {job.batch for job in jobs}
        there = [key for key in self.wanted if key[0] == kind and key not in self.missing and key[1] not in seen]
        return sum(self.wanted[key] for key in there) + sum(job.kept for job in jobs)


class StudyLines(logging.Handler):
    """Says how far each study is, from what Snakemake reports and from the logs of jobs at work.

    It speaks through Snakemake's logger, so that its options and its log hold for these lines, too.

    Args:
        names: of studies, in words.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__()
        self._names = names
        self._studies: dict[str, _Study] = {}
        self._at_work: dict[Any, tuple[_Study, _Job]] = {}
        self._started = self._stepped = 0.0
        self._over = threading.Event()
        self._snakemake = logging.getLogger("snakemake.logging")

    def want(self, kind: str, batch: Batch, cells: int) -> None:
        """Notes a batch of so many cells that the run wants the list of this kind of."""
        self._studies.setdefault(batch[0], _Study()).wanted[kind, batch] = cells

    def attach(self, results: Path) -> None:
        """Begins: the lists in this folder are of an earlier run. Snakemake's own lines about jobs end here.

        They stay in its log; with `--verbose` and in other handlers than its own all stays.
        """
        for study in self._studies.values():
            there = {key: results.joinpath("batches", *key[1], f"{key[0]}.json").exists() for key in study.wanted}
            study.missing = {key for key in study.wanted if not there[key]}
        self._started = time.time()
        if not self._snakemake.isEnabledFor(logging.DEBUG):
            for handler in self._snakemake.handlers:
                if isinstance(handler, logging.StreamHandler) and not isinstance(handler, logging.FileHandler):
                    handler.addFilter(self._is_calm)
        self._snakemake.addHandler(self)
        threading.Thread(target=self._watch, daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Notes which batches are at work and done."""
        event, said, now = _event(record), vars(record), time.time()
        if event == "job_info" and said["rule_name"] in STAGES:
            self._begin(said, now)
        elif event == "job_finished" and said["job_id"] in self._at_work:
            self._end(*self._at_work.pop(said["job_id"]), now)
        elif event == "job_error" and said["jobid"] in self._at_work:  # it may be tried again
            study, job = self._at_work.pop(said["jobid"])
            study.jobs.remove(job)

    def _begin(self, said: Mapping[str, Any], now: float) -> None:
        named, stage = said["wildcards"], said["rule_name"]
        batch, kind = (named["study"], named["dataset"], named["batch"]), STAGES[stage][1]
        study = self._studies.get(batch[0])
        if study and (kind, batch) in study.wanted and said["log"]:
            study.missing.add((kind, batch))
            job = _Job(stage, batch, Path(str(said["log"][0])), study.wanted[kind, batch], now, now)
            study.jobs.append(job)
            self._at_work[said["jobid"]] = study, job

    def _end(self, study: _Study, job: _Job, now: float) -> None:
        job.end(now)
        if job.stage in LISTS:
            study.missing.discard((STAGES[job.stage][1], job.batch))
        if not study.missing:
            self._say(job.batch[0], study.last_line(), now)

    def close(self) -> None:
        self._over.set()
        super().close()

    def _watch(self) -> None:
        while not self._over.wait(LOOK):
            self.look(time.time())

    def look(self, now: float) -> None:
        """Reads the logs of what is at work, and says how far its studies are that have been silent for long."""
        self.acquire()
        try:
            jobs = [job for _, job in self._at_work.values()]
            for job in jobs:
                job.look(now)
            for name in dict.fromkeys(job.batch[0] for job in jobs):
                study = self._studies[name]
                if now - max(study.when, self._started) >= self._pause(now):
                    self._say(name, study.line(now), now)
        finally:
            self.release()

    def _pause(self, now: float) -> float:
        return max(AGAIN, SHARE * (now - self._started))

    def _say(self, name: str, line: str, now: float) -> None:
        study = self._studies[name]
        study.when = now
        if line != study.said:
            study.said = line
            self._snakemake.info(f"{self._names.get(name, name)}: {line}", extra={"event": LINE})

    def _is_calm(self, record: logging.LogRecord) -> bool:
        """Returns whether a record is not about a single job; of Snakemake's counts of steps, some pass."""
        event, now = _event(record), time.time()
        if event == "progress" and vars(record)["done"] < vars(record)["total"]:
            if now - max(self._stepped, self._started) < self._pause(now):
                return False
            self._stepped = now
        return event not in EVENTS and not str(record.msg).startswith(TEXTS)


def _event(record: logging.LogRecord) -> str:
    return str(getattr(record, "event", "") or "")
