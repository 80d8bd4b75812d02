"""A run that failed ends with what is kept, how to go on and, alone at the end, why."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tensorldp.runtime.failures import cause, last_words

SENTENCE = "error: own_datasets.mine.range = [0, 16] does not hold 17"


def log(folder: Path, text: str, name: str = "job.log") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


@pytest.fixture(autouse=True)
def typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a user typed."""
    monkeypatch.delenv("TENSORLDP_COMMAND", raising=False)
    monkeypatch.setattr(sys, "argv", ["/some/bin/snakemake", "--cores", "2", "--", "a file"])


def test_the_sentence_stands_last_and_alone_below_what_is_kept_and_how_to_go_on(tmp_path: Path) -> None:
    told = last_words([log(tmp_path, f"dumps\n{SENTENCE}\nExit\n")], 0.0, done=3, left=4).splitlines()
    assert told[-2:] == ["", SENTENCE]
    kept = "Done and kept: 3 of 7 jobs. To go on, after mending what is said below: snakemake --cores 2 -- 'a file'"
    assert told[:-2] == ["", kept]


def test_a_run_of_make_figures_goes_on_by_make_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENSORLDP_COMMAND", "make figures")
    assert last_words([log(tmp_path, SENTENCE)], 0.0, 0, 1).splitlines()[1].endswith(": make figures")


def test_an_error_that_no_sentence_tells_is_named_with_its_log(tmp_path: Path) -> None:
    path = log(tmp_path, "Traceback (most recent call last):\n  File\nValueError: broken\n\n")
    assert cause(Path(path)) == f"error: a job failed with ValueError: broken ({path})"
    silent = log(tmp_path, "", "silent.log")
    assert cause(Path(silent)) == f"error: a job failed without a word ({silent})"


def test_each_cause_is_told_once_and_of_many_the_first(tmp_path: Path) -> None:
    same = [log(tmp_path, SENTENCE, f"{n}.log") for n in range(9)]
    assert last_words(same, 0.0, 0, 9).count("error:") == 1
    others = [log(tmp_path, f"error: {n}", f"{n}.log") for n in range(9)]
    assert last_words(others, 0.0, 0, 9).splitlines()[-3:] == [
        "error: 0",
        "error: 1",
        "error: 7 more causes are in the files under logs",
    ]


def test_logs_of_an_earlier_run_and_of_jobs_that_did_not_start_say_nothing(tmp_path: Path) -> None:
    old = log(tmp_path, SENTENCE)
    os.utime(old, (1000.0, 1000.0))
    told = last_words([old, str(tmp_path / "none.log"), log(tmp_path, "interrupted\n", "new.log")], 2000.0, 1, 2)
    assert told == "\nDone and kept: 1 of 3 jobs. To go on: snakemake --cores 2 -- 'a file'\n"
