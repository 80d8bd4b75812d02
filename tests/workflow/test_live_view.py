"""The quiet account of a run, told from Snakemake's own lines."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "workflow" / "live"))
from view import View, clock  # noqa: E402

JOB = "rule train:\n    input: a\n    jobid: {n}\n    wildcards: study=tldp_type1, dataset=digits\n"
END = "[Sun Nov 22 09:12:47 2026]\nFinished jobid: {n} (Rule: train)\n{n} of {of} steps ({n}%) done\n"


def told(text: str, live: bool = False) -> tuple[str, View]:
    out = io.StringIO()
    ticks = iter(range(100_000))
    view = View(out, live, now=lambda: float(next(ticks)))
    for line in text.splitlines():
        view.feed(line)
    return out.getvalue(), view


def test_a_run_of_many_jobs_takes_few_lines_and_ends_with_all_of_them() -> None:
    text, _ = told("".join(JOB.format(n=n) + END.format(n=n, of=2000) for n in range(1, 2001)))
    assert len(text.splitlines()) < 100
    assert text.splitlines()[-1].startswith("2000 of 2000 steps")


def test_what_runs_and_how_long_it_may_take_is_said() -> None:
    text, view = told(JOB.format(n=1) + JOB.format(n=2) + JOB.format(n=3) + END.format(n=1, of=4))
    assert "1 of 4 steps" in text
    assert "left; running: train 2" in text
    assert view.running == {"2": ("train", "tldp_type1"), "3": ("train", "tldp_type1")}


def test_a_terminal_sees_one_line_written_over() -> None:
    text, _ = told(JOB.format(n=1) + END.format(n=1, of=4) + JOB.format(n=2) + END.format(n=2, of=4), live=True)
    assert "\n" not in text
    assert text.count("\r") == 2


def test_errors_and_warnings_are_passed_on_whole() -> None:
    text, _ = told(JOB.format(n=1) + "warning: odd\nError in rule train:\n    jobid: 1\nsomething of the log\n")
    assert text == "warning: odd\nError in rule train:\n    jobid: 1\nsomething of the log\n"


def test_a_study_whose_cells_are_done_is_named_once() -> None:
    out = io.StringIO()
    view = View(out, True, planned=lambda: {"tldp_type1": 2})
    for line in (JOB.format(n=1) + END.format(n=1, of=4) + JOB.format(n=2) + END.format(n=2, of=4)).splitlines():
        view.feed(line)
    assert out.getvalue().count("tldp_type1: all 2 steps of its cells done") == 1


def test_durations() -> None:
    assert [clock(s) for s in (3, 89, 600, 7200)] == ["3 s", "89 s", "10 min", "2.0 h"]


STUB = """#!/bin/sh
trap 'echo "Terminating processes on user request" >&2; exit 1' INT
echo "$@" >> calls
echo "$TENSORLDP_COMMAND" > command
case "$*" in *killed*) kill -9 $$;; esac
case "$*" in *wait*) echo "1 of 2 steps (50%) done" >&2; while :; do sleep 0.05; done;; esac
echo "2 of 2 steps (100%) done" >&2
"""


@pytest.fixture
def runner(tmp_path: Path) -> list[str]:
    """The script's command line with a stand-in for Snakemake beside its interpreter."""
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python"
    python.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -c "import sys, runpy; sys.executable = \'{python}\'; '
        f"sys.argv = sys.argv[1:]; sys.path.insert(0, '{ROOT}/workflow/live'); "
        'runpy.run_path(sys.argv[0], run_name=\'__main__\')" "$@"\n'
    )
    (tmp_path / "bin" / "snakemake").write_text(STUB)
    for name in ("python", "snakemake"):
        (tmp_path / "bin" / name).chmod(0o755)
    return [str(python), str(ROOT / "workflow" / "live" / "run.py")]


def test_a_lock_that_no_run_holds_is_taken_away_first(runner: list[str], tmp_path: Path) -> None:
    (tmp_path / ".snakemake" / "locks").mkdir(parents=True)
    (tmp_path / ".snakemake" / "locks" / "0.output.lock").touch()
    done = subprocess.run(
        [*runner, "--cores", "1"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "calls").read_text().splitlines() == ["--unlock", "--cores 1"]
    assert "unlocking" in done.stdout
    assert "2 of 2 steps" in done.stderr


@pytest.mark.parametrize("option", [["--configfile", "own.yaml"], ["--configfile=own.yaml", "--dry-run"]])
def test_a_config_file_that_is_not_utf_8_is_a_sentence(runner: list[str], tmp_path: Path, option: list[str]) -> None:
    (tmp_path / "own.yaml").write_text("scale: quick  # f\u00fcr\n", encoding="latin-1")
    done = subprocess.run([*runner, *option], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert done.stderr == "error: the config file own.yaml is not UTF-8 text at line 1: save it as UTF-8\n"
    assert not (tmp_path / "calls").exists()


def test_ctrl_c_says_how_to_go_on(runner: list[str], tmp_path: Path) -> None:
    interrupted = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
        "os.execv(sys.argv[1], sys.argv[1:])"
    )  # a shell's background jobs inherit that SIGINT is ignored
    child = subprocess.Popen(
        [sys.executable, "-c", interrupted, *runner, "wait"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert child.stderr is not None
        seen = [child.stderr.readline(), child.stderr.readline()]
        assert "1 of 2 steps" in seen[-1]
        os.killpg(child.pid, signal.SIGINT)
        rest = child.communicate(timeout=60)[1]
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    assert child.returncode == 130
    assert rest.strip() == "Stopped; what is done is kept. To go on: make figures ARGS=wait"


def test_a_run_that_is_killed_says_so_and_how_to_go_on(runner: list[str], tmp_path: Path) -> None:
    arguments = ["--cores", "1", "--config", "killed=$1 a"]
    done = subprocess.run([*runner, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode != 0
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: the run was killed by signal 9, for want of memory unless somebody did it;")
    assert last.endswith("""To go on: make figures ARGS='--config '"'"'killed=$$1 a'"'"''""")


def test_the_command_of_a_run_is_told_to_snakemake(runner: list[str], tmp_path: Path) -> None:
    subprocess.run([*runner, "--cores", "1"], cwd=tmp_path, capture_output=True, check=True, timeout=60)
    assert (tmp_path / "command").read_text().strip() == "make figures"
