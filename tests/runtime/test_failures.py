"""A run that failed ends with what is kept, how to go on and, alone at the end, why, however quiet Snakemake is."""

from __future__ import annotations

import logging
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tensorldp_papers.run import slurm
from tensorldp_papers.run.failures import Failed, Witness, cause, export_commands, finished, warnings_since

STARTED = time.time() - 60
SENTENCE = "error: own_datasets.mine.range = [0, 16] does not hold 17"
QUIET = "Command 'set -euo pipefail;  stage train --out o > {log} 2>&1' returned non-zero exit status {status}."


@pytest.fixture(autouse=True)
def typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a user typed, and where."""
    for key in ("TENSORLDP_COMMAND", "TENSORLDP_ALONE"):
        monkeypatch.setenv(key, "")  # so that what a test sets goes with it
        monkeypatch.delenv(key)
    monkeypatch.setattr(sys, "argv", ["/some/bin/snakemake", "--cores", "2", "figures", "--", "a file"])
    monkeypatch.chdir(tmp_path)


def job(text: str, name: str = "job.log", folder: str = "logs") -> str:
    """The log of a job."""
    path = Path(folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def report(witness: Witness, event: str, message: str = "", level: int = logging.ERROR, **said: Any) -> None:
    """What Snakemake reports to its handlers."""
    record = logging.makeLogRecord({"msg": message, "levelno": level, "event": event, **said})
    witness.handle(record)


def failed(witness: Witness, *logs: str, number: int = 0, message: str | None = None, **said: Any) -> None:
    """A job fails, as Snakemake reports it."""
    about = {"rule_name": "train", "output": ["results/models/s/d/0"], "log": list(logs), "jobid": number}
    report(witness, "job_error", rule_msg=message, **{"indent": False, **about, **said})


def words(*logs: str, steps: tuple[int, int] | None = (3, 7)) -> str:
    """The last words of a run in which the jobs of these logs failed."""
    witness = Witness()
    if steps:
        report(witness, "progress", level=logging.INFO, done=steps[0], total=steps[1])
    for number, log in enumerate(logs):
        failed(witness, log, number=number)
    return witness.last_words(STARTED)


def ended(log: str, message: str = "", slurms: str = "", rule: str = "train", **resources: Any) -> str:
    """The sentence about a job with this log, what its executor said, and SLURM's log of it."""
    own = job(log) if log else "logs/none.log"
    logs = (Path(own), Path(job(slurms, "9.log", ".snakemake/slurm_logs/rule_train")))
    return cause(Failed(rule, "results/models/s/d/0", message, logs, resources), STARTED, {})


def test_the_sentence_stands_last_and_alone_below_what_is_kept_and_how_to_go_on() -> None:
    kept = "Done and kept: 3 of 7 jobs. To go on, after fixing what is named below: "
    told = words(job(f"dumps\n{SENTENCE}\nExit\n")).splitlines()
    assert told == ["", f"{kept}snakemake --cores 2 figures -- 'a file'", "", SENTENCE]


def test_a_run_of_make_figures_goes_on_by_make_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENSORLDP_COMMAND", "make figures")
    assert words(job(SENTENCE)).splitlines()[1].endswith(": make figures")


def test_an_error_that_no_sentence_tells_is_named_with_its_job_and_log() -> None:
    at = "the job train for results/models/s/d/0 failed"
    told = ended("Traceback (most recent call last):\n  File\nValueError: broken\n\n")
    assert told == f"error: {at} with ValueError: broken (logs/job.log)"
    # a line of progress is no cause
    assert ended("2 of 4: s/d/v/m\n") == f"error: {at} without a message after '2 of 4: s/d/v/m' (logs/job.log)"
    assert ended("") == f"error: {at} without a message (.snakemake/slurm_logs/rule_train/9.log)"


@pytest.mark.parametrize("shell", ["", "environment: line 1: 32237 Killed      python train.py\n"])
def test_a_job_of_this_machine_that_the_system_killed_is_told_with_the_likely_reason(shell: str) -> None:
    witness, log = Witness(), job(f"2 of 4: s/d/v/m\n{shell}")
    failed(witness, log)
    report(witness, "error", QUIET.format(log=log, status=137))
    assert witness.last_words(STARTED).splitlines()[-1] == (
        "error: the job train for results/models/s/d/0 failed without a message after '2 of 4: s/d/v/m'; it was "
        "killed, most likely for lack of memory: run again with fewer --cores (logs/job.log)"
    )


def test_each_cause_is_told_once_and_of_many_the_first() -> None:
    assert words(*(job(SENTENCE, f"{n}.log") for n in range(9))).count("error:") == 1
    assert words(*(job(f"error: {n}", f"{n}.log") for n in range(9))).splitlines()[-3:] == [
        "error: 0",
        "error: 1",
        "error: 7 more causes are in the files under logs",
    ]


def test_an_interrupted_job_and_none_say_only_how_to_go_on() -> None:
    told = words(job("interrupted\n", "new.log"))
    assert told == "\nDone and kept: 3 of 7 jobs. To go on: snakemake --cores 2 figures -- 'a file'\n"
    assert words(steps=None).startswith("\nDone and kept: what was finished. To go on: ")


def test_a_job_that_succeeds_at_a_later_attempt_is_not_told_and_of_two_attempts_the_last_one_is() -> None:
    witness, log = Witness(), job("error: first\n")
    failed(witness, log, number=1)
    failed(witness, job("error: other\n", "other.log"), number=2)
    job("error: second\n")
    failed(witness, log, number=1)
    report(witness, "job_finished", level=logging.INFO, job_id=2)
    assert witness.last_words(STARTED).splitlines()[-2:] == ["", "error: second"]


@pytest.mark.parametrize(
    ("message", "log", "told"),
    [
        (  # by sacct
            "SLURM-job '9' failed, SLURM status is: 'OUT_OF_MEMORY'. Reason: Unknown.For further error details see",
            "",
            "ran out of memory, as SLURM says of job 9: OUT_OF_MEMORY; give it more than 60 MB, as in --set-resources "
            "train:mem_mb=120 or under set-resources in the profile",
        ),
        (  # by squeue, without cgroups
            "SLURM-job '9' failed, SLURM status is: 'FAILED'. Detailed failure reason unavailable (status command is "
            "not 'sacct').For further error details see",
            "slurmstepd-vm: error: StepId=9.batch exceeded memory limit (132710400 > 62914560), being killed\n"
            "slurmstepd-vm: error: *** JOB 9 ON vm CANCELLED AT 2026-11-28T14:01:35 ***\n",
            "ran out of memory, as SLURM says of job 9: StepId=9.batch exceeded memory limit (132710400 > 62914560), "
            "being killed; give it more than 60 MB, as in --set-resources train:mem_mb=120 or under set-resources in "
            "the profile",
        ),
        (  # with cgroups
            "SLURM-job '9' failed, SLURM status is: 'FAILED'. ",
            "slurmstepd: error: Detected 1 oom_kill event in StepId=9.batch. Some of the step tasks have been OOM "
            "Killed.\n",
            "ran out of memory, as SLURM says of job 9: Detected 1 oom_kill event in StepId=9.batch. Some of the step "
            "tasks have been OOM Killed; give it more than 60 MB, as in --set-resources train:mem_mb=120 or under "
            "set-resources in the profile",
        ),
        (
            "SLURM-job '9' failed, SLURM status is: 'TIMEOUT'. ",
            "error: a line of the job's own\nsrun: Job step aborted: Waiting up to 5 seconds for job step to finish.\n",
            "ran out of time, as SLURM says of job 9: TIMEOUT; give it more than 1 minutes, as in --set-resources "
            "train:runtime=2 or under set-resources in the profile",
        ),
        (
            "SLURM-job '9' failed due to a node failure, SLURM status is: 'NODE_FAIL'. ",
            "",
            "lost its node, as SLURM says of job 9: NODE_FAIL; run again",
        ),
        (
            "SLURM-job '9' failed, SLURM status is: 'CANCELLED'. ",
            "",
            "was cancelled in SLURM, where it is job 9; run again",
        ),
        (
            "SLURM sbatch failed. The error message was 'sbatch: error: Memory specification can not be satisfied\n"
            "sbatch: error: Batch job submission failed: Requested node configuration is not available'.\n    sbatch "
            "call:\n        sbatch -D 'x'\n",
            "",
            "was refused by SLURM: Memory specification can not be satisfied; Batch job submission failed: Requested "
            "node configuration is not available (it asks for mem_mb=60, runtime=1); lower that with --set-resources, "
            "as in train:mem_mb=2000, or name a partition that has it",
        ),
        (
            "Job submission failed with exception: The given account 12345 appears to be invalid. Available accounts:\n"
            "a, bFor further error details see the cluster/cloud log",
            "",
            "was refused by SLURM: The given account 12345 appears to be invalid. Available accounts: a, b (it asks "
            "for mem_mb=60, runtime=1); set slurm_account in the profile's default-resources",
        ),
    ],
)
def test_what_slurm_did_to_a_job_is_told_with_its_own_words_and_what_helps(message: str, log: str, told: str) -> None:
    found = ended("1 of 2: s/d/v/m\n", message, log, mem_mb=60, runtime=1)
    assert found == f"error: the job train for results/models/s/d/0 {told}"


def test_a_cells_own_words_count_where_slurm_ended_nothing() -> None:
    message = "SLURM-job '9' failed, SLURM status is: 'FAILED'. "
    out_of_memory = "torch.OutOfMemoryError: CUDA out of memory"
    assert ended(f"{SENTENCE}\n", message, f"{out_of_memory}\n") == SENTENCE
    assert ended("", message, "python: command not found\n") == (
        "error: the job train for results/models/s/d/0 failed, FAILED as job 9 of SLURM without a message of its own; "
        "SLURM's log ends with 'python: command not found' (.snakemake/slurm_logs/rule_train/9.log)"
    )


def test_a_refused_job_is_not_explained_by_the_log_of_an_earlier_run() -> None:
    os.utime(job(SENTENCE), (STARTED - 1, STARTED - 1))
    witness = Witness()
    failed(
        witness, "logs/job.log", message="SLURM sbatch failed. The error message was 'sbatch: error: no'.\n    sbatch"
    )
    assert witness.last_words(STARTED).splitlines()[-1].endswith("was refused by SLURM: no")
    failed(witness, "logs/job.log")
    assert SENTENCE not in witness.last_words(STARTED)


def test_tasks_of_an_array_that_was_refused_tell_the_words_of_sbatch_and_groups_tell_each_job() -> None:
    witness = Witness()
    refused = "SLURM sbatch failed for array job submission (tasks 1-2). The error message was 'Invalid account'.\n"
    report(witness, "", refused)
    failed(witness, message="Part of failed array sbatch submission (tasks 1-2); see log for details.")
    info: dict[str, Any] = {"rule_name": "perturb", "output": ["r"], "log": [job("error: own words\n")], "jobid": 5}
    report(witness, "group_error", job_error_info=[info], aux_logs=[Path("none.log")])
    failed(witness, **{**info, "indent": True})
    assert witness.last_words(STARTED).splitlines()[-2:] == [
        "error: the job train for results/models/s/d/0 was refused by SLURM: Invalid account; set slurm_account in the "
        "profile's default-resources",
        "error: own words",
    ]


@pytest.mark.parametrize(
    ("line", "sent", "right"),
    [
        ("  - slurm_account=012345", "12345", "slurm_account='012345'"),
        ("  - slurm_account=1_234  # the project", "1234", "slurm_account='1_234'"),
        ("    slurm_partition: 01", "1", "slurm_partition: \"'01'\""),
        ('    slurm_account: "012345"', "12345", "slurm_account: \"'012345'\""),
        ("--set-resources train:slurm_account=1e5", "100000", "slurm_account='1e5'"),
    ],
)
def test_an_account_that_snakemake_takes_for_another_number_is_warned_of(line: str, sent: str, right: str) -> None:
    (told,) = slurm.altered(f"{line}\n{line}\n")
    assert f"would send {sent} to SLURM: write {right}, with these quotes" in told


def test_other_accounts_are_not_and_profiles_are_read_with_the_command_line(tmp_path: Path) -> None:
    right = ["- slurm_account='012345'", "slurm_account: \"'012'\"", "- slurm_account=12345", "slurm_account=proj-1"]
    assert slurm.altered("\n".join([*right, "# - slurm_account=012345"])) == []
    (tmp_path / "profile.yaml").write_text("default-resources:\n  - slurm_account=012345\n")
    for given in (["--workflow-profile", str(tmp_path)], [f"--profile={tmp_path}"]):
        assert len(slurm.altered(slurm.typed(["--cores", "1", *given]))) == 1
    assert slurm.altered(slurm.typed(["--cores", "1", "--workflow-profile", "none"])) == []


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
