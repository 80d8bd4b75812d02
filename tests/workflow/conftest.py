"""Two finished runs: one of everything, and a small one that was not disturbed."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from everything import calmly_in, everything_in
from project import SMALL, Project, calmly, make_project

from tensorldp_papers.run import forked


@pytest.fixture(scope="session", autouse=True)
def forks() -> Iterator[None]:
    """What all Snakemake runs and their stages are forked from here, as it is shared."""
    process = forked.start(f"{forked.LATER} snakemake.cli")
    yield
    if process is not None:
        process.communicate()
        os.environ.pop(forked.SOCKET, None)


def once(factory: pytest.TempPathFactory, worker: str, name: str, make: Callable[[Path], Project]) -> Project:
    """A project that one worker makes for all of them; each has a copy."""
    own = factory.mktemp(name)
    if worker == "master":
        return make(own / "made")
    shared = factory.getbasetemp().parent / name
    with shared.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        told = shared.with_suffix(".json")
        if not told.exists():
            project = make(shared)
            told.write_text(json.dumps([str(path.relative_to(shared)) for path in (project.folder, project.home)]))
    shutil.copytree(shared, own, symlinks=True, dirs_exist_ok=True)
    folder, home = (own / part for part in json.loads(told.read_text()))
    return Project(folder, home)


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Project:
    """A project in which all has run. Tests leave it as it is."""
    return once(tmp_path_factory, worker_id, "everything", everything_in)


@pytest.fixture(scope="session")
def calm_everything(everything: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The results of all studies, computed in one process. Tests leave them as they are."""
    return calmly_in(tmp_path_factory.mktemp("calm everything"), everything)


@pytest.fixture(scope="session")
def calm(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Project:
    """The results of the small grid, computed in one process."""
    return once(tmp_path_factory, worker_id, "calm", _calm_in)


def _calm_in(base: Path) -> Project:
    project = make_project(base / "small")
    project.configure(**SMALL)
    project.ran("results/features/digits/tanh_cnn/digest.json")
    (base / "calm").mkdir()
    return Project(calmly(project, base / "calm").folder, project.home)
