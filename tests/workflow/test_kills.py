"""Runs that are killed, interrupted, or doubled."""

from __future__ import annotations

import functools
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Project
from faults import (
    TARGET,
    after_jobs,
    alive,
    copy_of,
    leftovers,
    locks,
    output,
    ran,
    small,
    started,
    stored,
    tables,
    until,
)

from tensorldp.files import read_arrays, write_arrays

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.xdist_group("faults"),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc"),
]


def kill_once(project: Project, chance: random.Random) -> str:
    """Kill a run at a random moment: `early`, `working` (a job was running), or `finished` before it."""
    with started(project, TARGET) as process:
        if chance.random() < 0.2:
            time.sleep(chance.uniform(0.1, 2.0))
        elif not after_jobs(project, process, chance.choice([0, 1, 1, 2, 3, 5])):
            assert process.returncode == 0, output(project)[-4000:]
            return "finished"
        time.sleep(chance.uniform(0.0, 0.7))
        if process.poll() is not None:
            assert process.returncode == 0, output(project)[-4000:]
            return "finished"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)
        text = output(project)
    assert until(lambda: not alive(project.folder), 10), alive(project.folder)
    assert "Traceback" not in text
    return "working" if "\nExecute " in text else "early"


def unlock_as_make_does(project: Project) -> None:
    command = [sys.executable, "-m", "tensorldp_papers.run.at_work"]
    subprocess.run(command, cwd=project.folder, env=project.environment(), check=True, timeout=120)


def dead(folder: Path) -> bool:
    return not alive(folder)


@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.weekly)])
def test_a_run_that_is_killed_again_and_again_ends_with_the_same_numbers(
    calm: Project, tmp_path: Path, kills: int
) -> None:
    ends: list[str] = []
    chance, unlocked, copies = random.Random(20), 0, 0
    while sum(end != "finished" for end in ends) < kills:
        copies += 1
        project = small(tmp_path / f"copy{copies}", cells_per_job=chance.choice([1, 2, 100]))
        kept: dict[str, int] = {}
        while sum(end != "finished" for end in ends) < kills:
            ends.append(kill_once(project, chance))
            after = stored(project)
            assert {name: after.get(name) for name in kept} == kept  # what was finished is not computed again
            kept = after
            if ends[-1] == "finished":
                break
            if locks(project) and unlocked < 2:
                # what a user sees and types: the message names the option
                refused = project.snakemake(TARGET, timeout=60)
                assert refused.returncode != 0
                assert "cannot be locked" in refused.stdout + refused.stderr
                assert "--unlock" in refused.stdout + refused.stderr
                assert project.snakemake("--unlock", timeout=60).returncode == 0
                assert not locks(project)
                unlocked += 1
            unlock_as_make_does(project)
            assert not locks(project)
        text = ran(project)
        assert "IncompleteFilesException" not in text
        assert tables(project) == tables(calm)
        assert stored(project).keys() == stored(calm).keys()
        assert not leftovers(project)
        assert project.planned(TARGET) == []
        assert until(functools.partial(dead, project.folder), 30), alive(project.folder)
    assert ends.count("working") >= kills // 2, ends
    assert unlocked


def test_a_folder_that_was_half_deleted_at_a_kill_is_not_used(calm: Project, tmp_path: Path) -> None:
    project = copy_of(calm, tmp_path / "copy")
    for kind in ("perturbed", "models"):  # newer than what was computed from it
        (project.folder / "results" / kind / "tldp_type2" / "digits" / "0").mkdir(parents=True)
    assert project.planned(TARGET) == []
    assert not leftovers(project)


def test_temporary_folders_that_outlived_their_last_reader_at_a_kill_are_deleted_in_the_end(
    calm: Project, tmp_path: Path
) -> None:
    """The state between the end of the scoring job and the deletion of the release and the models that it read."""
    project = copy_of(calm, tmp_path / "copy")
    before = stored(project)
    scores = "results/batches/tldp_type2/digits/0/scores.json"
    for name in before:
        if name.startswith("tldp_type2") and "/seed~" in name:
            (project.folder / "results" / "cells" / name).unlink()
    ran(project, scores, "--notemp")
    assert {path.relative_to(project.folder).parts[1] for path in leftovers(project)} == {"perturbed", "models"}
    models = "results/models/tldp_type2/digits/0"
    ran(project, TARGET, models, "--forcerun", "collect")
    assert {path.relative_to(project.folder).parts[1] for path in leftovers(project)} == {"models"}  # asked for
    ran(project, TARGET, "--forcerun", "collect")
    assert not leftovers(project)
    assert stored(project).keys() == before.keys()
    assert tables(project) == tables(calm)


def test_a_file_that_was_half_written_at_a_kill_is_cleared_by_the_next_writer(tmp_path: Path) -> None:
    import numpy as np

    target = tmp_path / "x.safetensors"
    child = os.fork()
    if child == 0:
        from tensorldp.files import replacing

        with replacing(target) as temporary:
            temporary.write_bytes(b"half")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert len(list(tmp_path.glob(".*.part"))) == 1
    write_arrays(target, {"x": np.zeros(3)})
    assert read_arrays(target)[0]["x"].tolist() == [0.0, 0.0, 0.0]
    assert [path.name for path in tmp_path.iterdir()] == ["x.safetensors"]


def test_a_figure_killed_in_its_notebook_leaves_no_kernel_and_is_made_by_the_next_run(
    calm: Project, tmp_path: Path
) -> None:
    project = copy_of(calm, tmp_path / "copy")
    figure = "results/figures/tldp_type1.png"
    with started(project, figure) as process:
        assert until(lambda: any("ipykernel_launcher" in line for line in alive(project.folder)), 60), output(project)
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)
    # a kernel is a session of its own, so the kill does not reach it: it looks for its parent each second
    assert until(lambda: not alive(project.folder), 20), alive(project.folder)
    assert not (project.folder / figure).exists() or locks(project)
    assert project.snakemake("--unlock", timeout=60).returncode == 0
    done = project.snakemake(figure, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (project.folder / figure).read_bytes()[:4] == b"\x89PNG"
    assert not leftovers(project)


def test_ctrl_c_ends_cleanly_and_the_next_run_goes_on(calm: Project, tmp_path: Path) -> None:
    project = small(tmp_path / "copy")
    jobs = len(project.planned(TARGET))
    with started(project, TARGET) as process:
        assert after_jobs(project, process, 4), output(project)
        os.killpg(process.pid, signal.SIGINT)  # what a terminal sends
        assert process.wait(60) in (1, 130, -signal.SIGINT)
    assert not locks(project)
    assert not list(project.folder.rglob("*.part"))
    assert until(lambda: not alive(project.folder), 30), alive(project.folder)
    kept = stored(project)
    text = ran(project)
    after = stored(project)
    assert {name: after[name] for name in kept} == kept
    assert "Nothing to be done" not in text
    assert text.count("Finished jobid") <= jobs - 4  # what was finished is not repeated
    assert tables(project) == tables(calm)
    assert not leftovers(project)


def test_a_second_run_in_the_same_folder_is_refused_and_harms_nothing(calm: Project, tmp_path: Path) -> None:
    project = small(tmp_path / "copy")
    with started(project, TARGET) as process:
        assert until(lambda: locks(project) or process.poll() is not None, 60)
        os.killpg(process.pid, signal.SIGSTOP)  # holds its locks for as long as the second one needs
        assert process.poll() is None, "the first run ended before the second began"
        second = project.snakemake(TARGET, timeout=120)
        unlock_as_make_does(project)
        assert locks(project)
        os.killpg(process.pid, signal.SIGCONT)
        text = second.stdout + second.stderr
        assert second.returncode != 0
        assert "cannot be locked" in text
        assert "no other Snakemake process" in text
        assert "Traceback" not in text
        assert process.wait(240) == 0, output(project)[-4000:]
    assert tables(project) == tables(calm)
    assert not leftovers(project)
    assert not locks(project)
