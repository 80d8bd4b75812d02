"""TVG's studies in the workflow: models that cells share, and what runs again."""

import os
import time
from pathlib import Path

import pytest
from conftest import Project

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("tvg")]

TESTING = {
    "studies": ["tvg_testing"],
    "seeds": [0],
    "mechanisms": {"tvg_testing": ["udn"]},
    "training": {"tvg_testing": {"epochs": 1}},
    "device": "cpu",
}


def metrics(project: Project) -> list[Path]:
    return sorted((project.folder / "results" / "metrics").rglob("*.json"))


def reverse_times(folder: Path) -> None:
    """Times as a copy may have them, whose files lie in the order of copying: what was made last is oldest."""
    made = [path for name in ("resources", "results") for path in [folder / name, *(folder / name).rglob("*")]]
    now = time.time()
    for place, path in enumerate(sorted(made, key=lambda path: path.stat().st_mtime)):
        os.utime(path, (now - place, now - place))


def test_a_shared_model_is_trained_once_and_a_new_epsilon_runs_its_own_cells(project: Project) -> None:
    project.configure(**TESTING, epsilons={"tvg_testing": [1]})
    jobs = project.planned("results/metrics.parquet")
    assert [rule for rule, _ in jobs].count("train_shared") == 1
    assert "perturb" not in {rule for rule, _ in jobs}
    # as if the run were killed after the training and one of three evaluations
    done = project.snakemake("results/metrics/tvg_testing/digits/model=lenet_tanh+unit=batch/udn/epsilon~1.json")
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    first = metrics(project)
    left = project.planned("results/metrics.parquet")
    assert "train_shared" not in {rule for rule, _ in left}
    assert [rule for rule, _ in left].count("evaluate") == 2
    done = project.snakemake("results/metrics.parquet", "results/standing.csv")
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert len(metrics(project)) == 3
    assert first[0].exists()
    reverse_times(project.folder)
    assert project.planned("results/metrics.parquet", "results/standing.csv") == []
    project.configure(**TESTING, epsilons={"tvg_testing": [1, 100]})
    planned = project.planned("results/metrics.parquet")
    added = [(rule, cell) for rule, cell in planned if not rule.startswith("collect")]
    assert sorted(rule for rule, _ in added) == ["evaluate", "evaluate", "guarantee", "guarantee"]
    assert all("epsilon=100" in cell for _, cell in added)
