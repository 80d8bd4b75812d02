"""A run that failed ends with what is kept, how to go on and, alone at the end, why; Snakemake's own log knows it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from tensorldp_papers.run.failures import cause, export_commands, finished, last_words, warnings_since

STARTED = time.time() - 60
SENTENCE = "error: own_datasets.mine.range = [0, 16] does not hold 17"
FAILED = """Error in rule train:
    message: None
    jobid: 3
    output: results/models/s/d/0
    log: {log} (check log file(s) for error details)
    shell:
        stage train --out results/models/s/d/0 > {log} 2>&1
        (command exited with non-zero exit code)
"""
QUIET = """RuleException:
CalledProcessError in file "workflow/rules/cells.smk", line 29:
Command 'set -euo pipefail;  stage train --out results/models/s/d/0 > {log} 2>&1' returned non-zero exit status 1.
"""


@pytest.fixture(autouse=True)
def typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a user typed, and where."""
    for key in ("TENSORLDP_COMMAND", "TENSORLDP_ALONE"):
        monkeypatch.setenv(key, "")  # so that what a test sets goes with it
        monkeypatch.delenv(key)
    monkeypatch.setattr(sys, "argv", ["/some/bin/snakemake", "--cores", "2", "figures", "--", "a file"])
    monkeypatch.chdir(tmp_path)


def job(text: str, name: str = "job.log") -> str:
    """The log of a job."""
    path = Path("logs", name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return str(path)


def words(*logs: str, block: str = FAILED, steps: str = "1 of 7 steps (14%) done\n3 of 7 steps (43%) done\n") -> str:
    """The last words of a run in which the jobs of these logs failed."""
    run = Path("run.log")
    run.write_text("Building DAG of jobs...\n" + steps + "".join(block.format(log=log) for log in logs))
    return last_words([str(run)], STARTED)


@pytest.mark.parametrize("block", [FAILED, QUIET, QUIET + FAILED], ids=["told", "quiet", "both"])
def test_the_sentence_stands_last_and_alone_below_what_is_kept_and_how_to_go_on(block: str) -> None:
    kept = "Done and kept: 3 of 7 jobs. To go on, after fixing what is named below: "
    told = words(job(f"dumps\n{SENTENCE}\nExit\n"), block=block).splitlines()
    assert told == ["", f"{kept}snakemake --cores 2 figures -- 'a file'", "", SENTENCE]


def test_a_run_of_make_figures_goes_on_by_make_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENSORLDP_COMMAND", "make figures")
    assert words(job(SENTENCE)).splitlines()[1].endswith(": make figures")


def test_an_error_that_no_sentence_tells_is_named_with_its_log() -> None:
    path = job("Traceback (most recent call last):\n  File\nValueError: broken\n\n")
    assert cause(Path(path)) == f"error: a job failed with ValueError: broken ({path})"
    silent = job("", "silent.log")
    assert cause(Path(silent)) == f"error: a job failed without a message ({silent})"


def test_each_cause_is_told_once_and_of_many_the_first() -> None:
    assert words(*(job(SENTENCE, f"{n}.log") for n in range(9))).count("error:") == 1
    assert words(*(job(f"error: {n}", f"{n}.log") for n in range(9))).splitlines()[-3:] == [
        "error: 0",
        "error: 1",
        "error: 7 more causes are in the files under logs",
    ]


def test_an_interrupted_job_logs_of_others_and_none_say_only_how_to_go_on() -> None:
    os.utime(job(SENTENCE, "of_an_earlier_run.log"), (STARTED - 1, STARTED - 1))
    told = words(job("interrupted\n", "new.log"))
    assert told == "\nDone and kept: 3 of 7 jobs. To go on: snakemake --cores 2 figures -- 'a file'\n"
    assert words(steps="").startswith("\nDone and kept: what was finished. To go on: ")
    assert last_words(["none.log"], STARTED).startswith("\nDone and kept: what was finished. To go on: ")


def test_a_run_that_names_no_job_tells_the_mistakes_in_its_jobs_logs() -> None:
    job(f"dumps\n{SENTENCE}\n")
    job("1 of 7 cells: no error: none\n", "other.log")
    assert words().splitlines()[-2:] == ["", SENTENCE]


def test_jobs_learn_the_command_without_its_targets_and_keep_what_they_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    for typed in ("--cores 2 --config scale=desk results/report.html figures", "--mode subprocess"):
        monkeypatch.setattr(sys, "argv", ["snakemake", *typed.split()])
        export_commands()
        assert os.environ["TENSORLDP_ALONE"] == "snakemake --cores 2 --config scale=desk"


def test_a_run_names_what_it_made_and_not_what_was_there() -> None:
    Path("results", "figures").mkdir(parents=True)
    old, new = Path("results", "metrics.parquet"), Path("results", "figures", "a.png")
    for path in (old, new):
        path.touch()
    os.utime(old, (1000.0, 1000.0))
    assert finished(2000.0) == f"\nFinished in {Path.cwd()}. figures: results/figures/"
    assert finished(time.time() + 60) == f"\nFinished in {Path.cwd()}."


def test_warnings_of_this_run_are_told_once() -> None:
    os.utime(job("warning: old\n", "old.log"), (1000.0, 1000.0))
    for n in range(3):
        job(f"warning: the same\nwarning: {n}\nall else\n", f"{n}.log")
    assert warnings_since(2000.0) == ["warning: the same", "warning: 0", "warning: 1", "warning: 2"]
    assert warnings_since(2000.0, most=1)[1] == "warning: 3 more in the files under logs"
