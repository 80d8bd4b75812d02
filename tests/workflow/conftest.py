"""Two finished runs: one of everything, and a small one that was not disturbed."""

from __future__ import annotations

import pytest
from everything import calmly_in, everything_in
from project import SMALL, Project, calmly, make_project


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project in which all has run. Tests leave it as it is."""
    return everything_in(tmp_path_factory.mktemp("everything"))


@pytest.fixture(scope="session")
def calm_everything(everything: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The results of all studies, computed in one process. Tests leave them as they are."""
    return calmly_in(tmp_path_factory.mktemp("calm everything"), everything)


@pytest.fixture(scope="session")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The results of the small grid, computed in one process."""
    project = make_project(tmp_path_factory.mktemp("small"))
    project.configure(**SMALL)
    project.ran("results/features/digits/tanh_cnn/digest.json")
    return calmly(project, tmp_path_factory.mktemp("calm"))
