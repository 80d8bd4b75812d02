"""How tests are collected, and what many share: a process that runs are forked from, and two finished runs."""

from __future__ import annotations

import fcntl
import gc
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tensorldp_papers.run import forked

if TYPE_CHECKING:  # modules of tests/workflow, which are found where its tests are
    from project import Project


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Nothing of what is imported and collected is garbage, and looking for some takes a third of the time."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """What was frozen ends like all else, and libraries do not call it leaked."""
    gc.unfreeze()


@pytest.fixture(scope="session")
def forks() -> Iterator[None]:
    """Snakemake and the stages of runs are forked from a process that has imported what they need."""
    process = forked.start(f"{forked.LATER} snakemake.cli")
    yield
    if process is not None:
        process.communicate()
        os.environ.pop(forked.SOCKET, None)


def once(factory: pytest.TempPathFactory, worker: str, name: str, make: Callable[[Path], Project]) -> Project:
    """A project that one worker makes for all of them; each has a copy."""
    from project import Project

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
def everything(forks: None, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Project:
    """A project in which all has run. Tests leave it as it is."""
    from everything import everything_in

    return once(tmp_path_factory, worker_id, "everything", everything_in)


@pytest.fixture(scope="session")
def calm_everything(everything: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The results of all studies, computed in one process. Tests leave them as they are."""
    from everything import calmly_in

    return calmly_in(tmp_path_factory.mktemp("calm everything"), everything)


@pytest.fixture(scope="session")
def calm(forks: None, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Project:
    """The results of the small grid, computed in one process."""
    return once(tmp_path_factory, worker_id, "calm", _calm_in)


def _calm_in(base: Path) -> Project:
    from project import SMALL, Project, calmly, make_project

    project = make_project(base / "small")
    project.configure(**SMALL)
    project.ran("results/features/digits/tanh_cnn/digest.json")
    (base / "calm").mkdir()
    return Project(calmly(project, base / "calm").folder, project.home)
