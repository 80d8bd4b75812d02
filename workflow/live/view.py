"""What a person sees of a run: read from Snakemake's own lines, told in one line that changes or a few that stay."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TextIO

STEPS = re.compile(r"^(\d+) of (\d+) steps")
RULE = re.compile(r"^(?:local)?rule (\w+):")
JOB = re.compile(r"^    jobid: (\d+)")
STUDY = re.compile(r"^    wildcards: .*\bstudy=([\w-]+)")
FINISHED = re.compile(r"^Finished jobid: (\d+)")
TROUBLE = re.compile(
    r"^(error:|Error|\w*Error\b|\w*Exception\b|Traceback|Exiting because|IncompleteFiles|Building DAG.*failed)"
)
WARNING = re.compile(r"^(warning: |Warning: )")
SECONDS = 30.0  # between lines that stay
SHARE = 0.05  # of the steps, between lines that stay


def clock(seconds: float) -> str:
    """A duration in words that a person reads at a glance."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class View:
    """Lines of Snakemake in, a quiet account of them out.

    Args:
        out: where it is told.
        live: whether `out` is a terminal, on which one line is written over again.
        now: seconds, of a clock that only rises.
        planned: how many steps each study has, once that is known.
    """

    def __init__(
        self,
        out: TextIO,
        live: bool,
        now: Callable[[], float] = time.monotonic,
        planned: Callable[[], Mapping[str, int]] = dict,
    ) -> None:
        self.out, self.live, self.now, self.planned = out, live, now, planned
        self.started = now()
        self.began = 0.0
        self.done = self.total = 0
        self.finished: Counter[str] = Counter()
        self.running: dict[str, tuple[str, str]] = {}
        self.told = (self.started, 0.0)
        self.troubled = self.stopped = False
        self._rule = self._job = ""

    def feed(self, line: str) -> None:
        """Take one line of Snakemake's; from the first error on, lines are passed on as they are."""
        if self.stopped:
            return
        if self.troubled or TROUBLE.match(line):
            self.clear()
            self.troubled = True
            print(line, file=self.out, flush=True)
        elif WARNING.match(line):
            self.clear()
            print(line, file=self.out, flush=True)
        elif found := RULE.match(line):
            self._rule = found[1]
            self.began = self.began or self.now()  # planning is no step
        elif found := JOB.match(line):
            self._job = found[1]
            self.running[self._job] = (self._rule, "")
        elif found := STUDY.match(line):  # after the number of its job
            self.running[self._job] = (self._rule, found[1])
        elif found := FINISHED.match(line):
            self._end(self.running.pop(found[1], ("", ""))[1])
        elif found := STEPS.match(line):
            self.done, self.total = int(found[1]), int(found[2])
            self.tell()

    def _end(self, study: str) -> None:
        self.finished[study] += 1
        if study and self.finished[study] == self.planned().get(study):
            self.clear()
            passed = clock(self.now() - self.started)
            print(
                f"{study}: all {self.finished[study]} steps of its cells done after {passed}", file=self.out, flush=True
            )

    def text(self) -> str:
        """Done of total, time left and what is running."""
        now = self.now()
        passed, worked = now - self.started, now - (self.began or self.started)
        left = (
            f", about {clock(worked / self.done * (self.total - self.done))} left" if 0 < self.done < self.total else ""
        )
        rules = Counter(rule for rule, _ in self.running.values())
        running = ", ".join(f"{rule} {count}" if count > 1 else rule for rule, count in sorted(rules.items()))
        return f"{self.done} of {self.total} steps, {clock(passed)}{left}" + (
            f"; running: {running}" if running else ""
        )

    def tell(self) -> None:
        """Say where the run is: always on a terminal, else when enough has passed."""
        if self.live:
            print(f"\r\033[K{self.text()[:110]}", end="", file=self.out, flush=True)
            return
        at, share = self.now(), self.done / max(self.total, 1)
        last, told = self.told
        if (at - last >= SECONDS and share - told >= SHARE / 4) or share - told >= SHARE or self.done == self.total:
            self.told = (at, share)
            print(self.text(), file=self.out, flush=True)

    def clear(self) -> None:
        """Leave the line that changes, so that others can follow."""
        if self.live and not self.troubled:
            print("\r\033[K", end="", file=self.out, flush=True)
