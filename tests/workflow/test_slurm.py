"""The workflow on a real one-node SLURM (slurm.sh): same values as a local run, and nothing lost on the way.

Needs root and Debian's slurm-wlm, which is installed if missing. TENSORLDP_TEST_SLURM=0 skips these tests.
"""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import pandas as pd
import pytest
from everything import RUN
from project import FORK, METRICS, SMALL, Project, make_project, result

from tensorldp_papers.run.table import KEY

pytestmark = [pytest.mark.workflow, pytest.mark.usefixtures("forks"), pytest.mark.xdist_group("slurm")]
HANGS = 500  # seconds after which a run counts as hanging; a busy machine takes minutes
SCRIPT = Path(__file__).with_name("slurm.sh")
IMPATIENT = str(Path(__file__).with_name("impatient.py"))
STUDY = "tvg_covariance"
CONFIG: dict[str, Any] = {
    **SMALL,
    "studies": ["tldp_type1", "tldp_type3"],
    "mechanisms": {"tldp_type1": ["none", "tldp-l", "laplace"], "tldp_type3": ["none"]},
    "datasets": {"tldp_type3": ["breast_cancer"]},
    "training": {**SMALL["training"], "tldp_type3": {"rounds": 1}},
}
FIRST: dict[str, Any] = {  # a study of one stage, as few jobs as there are; weekly tests train on the cluster
    key: {STUDY: value[STUDY]} if isinstance(value := RUN[key], dict) else value
    for key in ("datasets", "mechanisms", "epsilons", "seeds")
} | {"studies": [STUDY]}
IMAGES = "tldp_type1/digits/model=small_cnn/laplace/epsilon~{}"
CLIENTS = "tldp_type3/breast_cancer/model=fcn+where=user/{}/epsilon~{}"
OPTIONS = (
    "--workflow-profile",
    "profiles/slurm",
    "--slurm-status-command",
    "squeue",
    "--slurm-init-seconds-before-status-checks",
    "1",
    "--latency-wait",
    "5",
)


def slurm(*command: str | Path, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, *command], capture_output=True, text=True, timeout=timeout, check=False)


def wait_for(lock: IO[str], seconds: float = 600) -> None:
    """Hold the lock: a machine has room for one cluster, and another worker's tests of it end in minutes."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > deadline:
                pytest.fail("another test run has had a SLURM cluster on this machine for ten minutes")
        time.sleep(0.5)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Path]:
    """The folder of a running cluster."""
    if os.environ.get("TENSORLDP_TEST_SLURM") == "0":
        pytest.skip("TENSORLDP_TEST_SLURM=0")
    folder = Path(tempfile.gettempdir()) / "tensorldp-slurm"
    with folder.with_suffix(".lock").open("w") as lock:
        wait_for(lock)
        try:
            for command in (["install"], ["start", folder]):
                done = slurm(*command, timeout=240)
                if done.returncode:
                    pytest.skip(f"no SLURM on this machine: {done.stderr.strip() or done.returncode}")
            yield folder
        finally:
            slurm("stop", folder)
            assert not any(path.is_symlink() for path in Path("/etc/slurm").glob("*.conf"))


def start(project: Project, *arguments: str, options: Sequence[str] = OPTIONS) -> subprocess.Popen[str]:
    """Snakemake in the background; it ends by itself, whatever happens to this process."""
    command = ["timeout", "--signal=INT", "--kill-after=10", str(HANGS), *FORK, IMPATIENT, *options, *arguments]
    return subprocess.Popen(
        command,
        cwd=project.folder,
        env=project.environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def queue(columns: str) -> list[list[str]]:
    """The given columns of every job, the newest first."""
    done = subprocess.run(
        ["squeue", "--noheader", "--states=all", "--sort=-i", f"--Format={columns}"],
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    return [line.split() for line in done.stdout.splitlines()]


def node_state() -> str:
    """What SLURM says of the one node: idle, allocated, completing, down, ..."""
    done = subprocess.run(
        ["sinfo", "--noheader", "--Format=statelong"], capture_output=True, text=True, timeout=20, check=True
    )
    return done.stdout.strip()


def running(run: subprocess.Popen[str]) -> str:
    """Wait for a running job; its id."""
    deadline = time.monotonic() + HANGS
    while run.poll() is None and time.monotonic() < deadline:
        for job, state in queue("jobid,state"):
            if state == "RUNNING":
                return job
        time.sleep(0.3)
    raise AssertionError("no job ran: " + "".join(run.communicate()[:1]))


def scores(*cells: str) -> list[str]:
    """The targets that are the scores of cells by their names."""
    return [f"results/batches/{cell}/scores.json" for cell in cells]


@pytest.fixture(scope="module")
def submitted(cluster: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str, str]:
    """A project whose first study has run on the cluster, the job that was cancelled on the way, and what it said."""
    project = make_project(tmp_path_factory.mktemp("slurm"))
    project.configure(**FIRST)
    run = start(project, "--set-resources", "measure:gpu=1", "--", METRICS)
    cancelled = running(run)
    subprocess.run(["scancel", cancelled], timeout=20, check=True)
    text = run.communicate(timeout=HANGS + 30)[0]
    assert run.returncode == 0, text[-6000:]
    project.configure(**CONFIG)
    return project, cancelled, text


def test_a_study_on_a_cluster_has_the_values_of_a_local_run(
    submitted: tuple[Project, str, str], everything: Project
) -> None:
    project = submitted[0]
    ours, theirs = project.metrics(), everything.metrics().query("study == @STUDY").reset_index(drop=True)
    assert set(ours["mechanism"]) == {"idn", "udn"}
    values = [*KEY, "value", "guarantee_epsilon"]
    pd.testing.assert_frame_equal(ours[values], theirs[values], check_exact=True)
    assert not project.leftovers()


def test_a_cancelled_job_runs_again_and_jobs_get_the_gpu_they_ask_for(submitted: tuple[Project, str, str]) -> None:
    _, cancelled, text = submitted
    assert text.count("has been submitted") == 1 + 2 + 1  # a data set, a batch and what was cancelled
    jobs = {job: (state, gpus, rule) for job, state, gpus, rule in queue("jobid,state,tres-per-job,comment:100")}
    assert jobs[cancelled][0] == "CANCELLED"
    found = [gpus for state, gpus, rule in jobs.values() if state == "COMPLETED" and rule.startswith("rule_measure_")]
    assert found == ["gres:gpu:1"], jobs


@pytest.mark.weekly
def test_batches_that_are_ready_together_are_tasks_of_one_array(submitted: tuple[Project, str, str]) -> None:
    project = submitted[0]
    changes = {"mechanisms": {"tldp_type3": ["tldp-l"]}, "epsilons": {"tldp_type3": [50, 100]}, "cells_per_job": 1}
    project.configure(**CONFIG | changes)
    cells = [CLIENTS.format("tldp-l", epsilon) for epsilon in (50, 100)]
    options = ["profiles/slurm-arrays" if option == "profiles/slurm" else option for option in OPTIONS]
    run = start(project, "--", *scores(*cells), options=options)
    text = run.communicate(timeout=HANGS + 30)[0]
    assert run.returncode == 0, text[-6000:]
    columns = queue("arrayjobid,arraytaskid,comment:100")
    tasks = [found[:2] for found in columns if "rule_train" in found[-1] and found[1] != "N/A"]
    assert len({array for array, _ in tasks}) == 1, tasks
    assert {task for _, task in tasks} == {"1", "2"}
    assert all(result(project, cell, "seed~0")["rows"] for cell in cells)


@pytest.mark.weekly
def test_a_node_that_goes_down_and_returns_loses_nothing(submitted: tuple[Project, str, str]) -> None:
    project = submitted[0]
    project.configure(**CONFIG)
    cell = CLIENTS.format("none", "inf")
    run = start(project, "--", *scores(cell))
    job = running(run)
    node = subprocess.run(["sinfo", "--noheader", "--format=%n"], capture_output=True, text=True, check=True).stdout
    # down, and up again at once by itself: the daemon of the node still answers, and ReturnToService is 2
    subprocess.run(
        ["scontrol", "update", f"nodename={node.strip()}", "state=down", "reason=test"], timeout=20, check=True
    )
    # waiting in the queue, and the node free of what it ran: a job started on it earlier fails, and the node drains
    deadline = time.monotonic() + 60
    while [job, "PENDING"] not in queue("jobid,state") or node_state() != "idle":
        assert time.monotonic() < deadline, node_state()
        time.sleep(0.3)
    # SLURM lets a node rest for two minutes; who operates it need not
    subprocess.run(["scontrol", "update", f"jobid={job}", "starttime=now"], timeout=20, check=True)
    text = run.communicate(timeout=HANGS + 30)[0]
    assert run.returncode == 0, text[-6000:]
    assert result(project, cell, "seed~0")["rows"]


@pytest.mark.weekly
def test_jobs_survive_the_death_of_the_node_daemon(submitted: tuple[Project, str, str], cluster: Path) -> None:
    project = submitted[0]
    project.configure(**CONFIG)
    target = f"results/batches/{IMAGES.format(1)}/privacy.json"
    run = start(project, "--", target)
    job = running(run)
    os.kill(int((cluster / "slurmd.pid").read_text()), signal.SIGKILL)
    time.sleep(3)
    assert slurm("slurmd", cluster).returncode == 0
    text = run.communicate(timeout=HANGS + 30)[0]
    assert run.returncode == 0, text[-6000:]
    assert text.count("has been submitted") == 1
    assert queue("jobid,state")[0] == [job, "COMPLETED"]
    assert (project.folder / target).exists()


@pytest.mark.parametrize(
    ("memory", "told"),
    [
        (
            60,
            r"ran out of memory, as SLURM says of job \d+: .*exceeded memory limit.*; give it more than 60 MB, as in "
            r"--set-resources prepare:mem_mb=120 or under set-resources in the profile$",
        ),
        (
            6_000_000,
            r"was refused by SLURM: .*Requested node configuration is not available \(it asks for mem_mb=6000000, "
            r"runtime=60\); lower that with --set-resources",
        ),
    ],
)
def test_what_slurm_ends_or_refuses_is_the_last_word_of_a_quiet_run(
    cluster: Path, memory: int, told: str, tmp_path: Path
) -> None:
    project, target = make_project(tmp_path / "project"), "resources/datasets/digits/digest.json"
    project.configure(**FIRST)
    asked = ("--retries", "0", "--quiet", "rules", "--set-resources", f"prepare:mem_mb={memory}")
    run = start(project, *asked, "--", target)
    text = run.communicate(timeout=HANGS + 30)[0]
    assert run.returncode == 1, text[-6000:]
    last = [line for line in text.splitlines() if line][-1]
    assert re.match(rf"error: the job prepare for resources/datasets/digits/train\.safetensors {told}", last), text[
        -6000:
    ]
