"""TVG's studies in the workflow: models that cells share, and what runs again."""

import os
import time
from pathlib import Path

import pytest
from conftest import Project
from faults import pending, ran, stored

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("tvg")]

TARGETS = ("results/metrics.parquet", "results/standing.csv")
TESTING = {
    "studies": ["tvg_testing"],
    "seeds": [0],
    "mechanisms": {"tvg_testing": ["udn"]},
    "training": {"tvg_testing": {"epochs": 1}},
    "device": "cpu",
}


def reverse_times(folder: Path) -> None:
    """Times as a copy may have them, whose files lie in the order of copying: what was made last is oldest."""
    made = [path for name in ("resources", "results") for path in [folder / name, *(folder / name).rglob("*")]]
    now = time.time()
    for place, path in enumerate(sorted(made, key=lambda path: path.stat().st_mtime)):
        os.utime(path, (now - place, now - place))


def test_a_shared_model_is_trained_once_and_a_new_epsilon_runs_its_own_cells(project: Project) -> None:
    project.configure(**TESTING, epsilons={"tvg_testing": [1]})
    jobs = project.planned(*TARGETS)
    assert [rule for rule, _ in jobs].count("train_shared") == 1
    assert "perturb" not in {rule for rule, _ in jobs}
    # as if the run were killed after the training and one of three evaluations
    ran(project, "results/metrics/tvg_testing/digits/model=lenet_tanh+unit=batch/udn/epsilon~1.json")
    first = stored(project)
    assert {name.rpartition("/")[2].split(".")[0] for name in first} == {"model~0", "seed~0"}
    assert "train_shared" not in {rule for rule, _ in project.planned(*TARGETS)}
    assert sum("/seed~" in name for name in pending(project, *TARGETS)) == 2
    ran(project, *TARGETS)
    after = stored(project)
    assert {name: after[name] for name in first} == first
    assert sum("/seed~" in name for name in after) == 3
    reverse_times(project.folder)
    assert project.planned(*TARGETS) == []
    project.configure(**TESTING, epsilons={"tvg_testing": [1, 100]})
    assert "train_shared" not in {rule for rule, _ in project.planned(*TARGETS)}
    found = pending(project, *TARGETS)
    assert len(found) == 6  # scores, guarantee and audit of two cells
    assert all("/epsilon~100/" in name for name in found)
