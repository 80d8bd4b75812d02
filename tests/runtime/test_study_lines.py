"""While a run goes it says how far each study is, in a line now and then, and nothing about single jobs."""

from __future__ import annotations

import io
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tensorldp_papers.progress import about
from tensorldp_papers.run.study_lines import StudyLines

ONE, TWO = ("s", "digits", "0"), ("s", "digits", "1")


class Run:
    """A run of a study of two batches with five cells each, as Snakemake reports it and as a person sees it."""

    def __init__(self, folder: Path, there: tuple[str, ...] = (), level: int = logging.INFO) -> None:
        self.folder, self.seen = folder, io.StringIO()
        self.snakemake = logging.getLogger("snakemake.logging")
        self.shown = logging.StreamHandler(self.seen)
        self.snakemake.setLevel(level)
        self.snakemake.addHandler(self.shown)
        for name in there:
            (folder / "batches" / "s" / "digits" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "batches" / "s" / "digits" / name).touch()
        self.lines = StudyLines({"s": "Study"})
        for kind in ("scores", "privacy"):
            for batch in (ONE, TWO):
                self.lines.want(kind, batch, 5)
        self.lines.attach(folder)
        self.now = time.time()

    def report(self, event: str, message: str = "", **said: Any) -> None:
        self.snakemake.info(message, extra={"event": event, **said})

    def log(self, number: int) -> Path:
        return self.folder / f"{number}.log"

    def begins(self, number: int, stage: str, batch: tuple[str, str, str] = ONE) -> None:
        named = dict(zip(("study", "dataset", "batch"), batch, strict=True))
        said = {"rule_name": stage, "wildcards": named, "log": [str(self.log(number))], "jobid": number}
        self.report("job_info", f"rule {stage}:", **said)

    def computes(self, number: int, cell: int, of: int, after: float) -> None:
        """So many seconds after the start, a job has come to a cell."""
        self.log(number).write_text(f"dumps\n{cell} of {of}: s/digits/v/laplace/epsilon~1\n")
        os.utime(self.log(number), (self.now + after, self.now + after))
        self.lines.look(self.now + after)

    def ends(self, number: int) -> None:
        self.report("job_finished", f"Finished jobid: {number}", job_id=number)

    @property
    def said(self) -> list[str]:
        return self.seen.getvalue().splitlines()


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Run]:
    yield from _started(Run(tmp_path))


def _started(run: Run) -> Iterator[Run]:
    yield run
    run.snakemake.removeHandler(run.shown)
    run.snakemake.removeHandler(run.lines)
    run.lines.close()


def test_a_line_tells_cells_and_the_time_that_the_rest_takes_at_the_speed_so_far(started: Run) -> None:
    started.begins(1, "train")
    started.computes(1, cell=3, of=5, after=120)
    assert started.said == ["Study: 2 of 10 cells trained, about 8 minutes left"]


def test_two_jobs_at_once_take_half_the_time(started: Run) -> None:
    for number, batch in ((1, ONE), (2, TWO)):
        started.begins(number, "train", batch)
        started.computes(number, cell=1, of=5, after=1)
    started.computes(1, cell=3, of=5, after=120)
    assert started.said == ["Study: 2 of 10 cells trained, about 4 minutes left"]


def test_no_time_is_told_before_a_cell_is_done(started: Run) -> None:
    started.begins(1, "measure")
    started.computes(1, cell=1, of=5, after=40)
    assert started.said == ["Study: 0 of 10 cells measured"]


def test_what_waits_for_its_turn_does_not_slow_the_estimate(started: Run) -> None:
    started.begins(1, "train")
    started.lines.look(started.now + 1000)  # a cluster has not begun it
    started.computes(1, cell=3, of=5, after=1120)
    assert started.said[-1] == "Study: 2 of 10 cells trained, about 8 minutes left"


def test_cells_that_are_there_count_as_kept(tmp_path: Path) -> None:
    for started in _started(Run(tmp_path, there=("1/scores.json", "1/privacy.json"))):
        started.begins(1, "evaluate")
        started.computes(1, cell=2, of=3, after=60)
        assert started.said == ["Study: 8 of 10 cells scored, about 2 minutes left; 7 kept"]
        started.ends(1)
        started.begins(2, "privacy")
        started.ends(2)
        assert started.said[1:] == ["Study: 10 of 10 cells; 3 new, 7 kept"]


def test_a_study_is_silent_for_half_a_minute_and_for_longer_in_a_longer_run(started: Run) -> None:
    started.begins(1, "train")
    for seconds in range(0, 7200, 10):
        started.computes(1, cell=1 + seconds // 1440, of=5, after=seconds)
    assert 5 <= len(started.said) < 40


def test_a_job_that_fails_may_be_tried_again_and_its_cells_are_still_to_do(started: Run) -> None:
    started.begins(1, "train")
    started.report("job_error", "Error in rule train", jobid=1, rule_name="train", output=[], log=[])
    started.begins(1, "train")
    started.computes(1, cell=2, of=5, after=60)
    assert started.said == ["Error in rule train", "Study: 1 of 10 cells trained, about 9 minutes left"]


def test_lines_of_snakemake_on_single_jobs_are_left_out_and_all_else_is_shown(started: Run) -> None:
    started.begins(1, "train")
    started.report("job_started", "Execute 1 jobs...")
    started.report("", "Select jobs to execute...")
    started.report("", "Removing temporary output results/models/s/digits/0.")
    started.ends(1)
    started.report("progress", "1 of 8 steps", done=1, total=8)
    for event, text in (("progress", "8 of 8 steps"), ("", "Shutting down"), ("job_error", "Error in rule")):
        started.report(event, text, done=8, total=8, jobid=7)
    assert started.said == ["8 of 8 steps", "Shutting down", "Error in rule"]


def test_with_verbose_snakemake_shows_all(tmp_path: Path) -> None:
    for started in _started(Run(tmp_path, level=logging.DEBUG)):
        started.begins(1, "train")
        started.ends(1)
        assert started.said == ["rule train:", "Finished jobid: 1"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (1, "less than a minute"),
        (59, "about 1 minute"),
        (200, "about 3 minutes"),
        (5300, "about 88 minutes"),
        (7200, "about 2 hours"),
        (3e5, "about 3 days"),
    ],
)
def test_an_estimated_time_is_told_in_round_numbers(seconds: float, words: str) -> None:
    assert about(seconds) == words
