"""A further seed runs alone, one less runs nothing, and neither changes a value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import Project, make_project
from test_stale import edited

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("seeds")]

# linear heads that train together, models that cells share, and guarantees that differ by seed; 7 cells
GRID: dict[str, Any] = {
    "studies": ["tldp_type2", "tvg_testing", "pldp_fl"],
    "mechanisms": {"tldp_type2": ["tldp-g"], "tvg_testing": ["udn"], "pldp_fl": ["plu-fedoa"]},
    "epsilons": {"tldp_type2": [1], "tvg_testing": [1], "pldp_fl": [1]},
    "training": {
        "tldp_type2": {"epochs": 1},
        "tvg_testing": {"epochs": 1},
        "pldp_fl": {"rounds": 2, "clients": 10},
    },
}
OF_SEEDS = {"perturb", "train", "train_shared", "evaluate", "measure"}
OF_CELLS = OF_SEEDS | {"guarantee", "audit"}
TARGETS = ("results/metrics.parquet", "results/standing.csv")
LINEAR = "tldp_type2/digits/backbone=tanh_cnn+model=linear/tldp-g/epsilon~1"


def ran(project: Project, *arguments: str) -> None:
    done = project.snakemake(*(arguments or TARGETS))
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


def values(project: Project) -> pd.DataFrame:
    table = pd.read_parquet(project.folder / "results" / "metrics.parquet")
    return table.drop(columns=["seconds", "peak_mb", "commit"])


def cells(project: Project) -> dict[str, dict[str, Any]]:
    """What is stored of each cell."""
    folder = project.folder / "results" / "metrics"
    return {str(path.relative_to(folder)): json.loads(path.read_text()) for path in sorted(folder.rglob("*.json"))}


def audits(project: Project) -> str:
    """Those from samples: of an accuracy, there is one for each seed."""
    table = pd.read_csv(project.folder / "results" / "privacy" / "audits.csv")
    return str(table[table["kind"] != "accuracy"].to_csv(index=False))


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, dict[str, dict[str, Any]], str]:
    """A project that ran two seeds and then a third, with what it held and had audited before that."""
    project = make_project(tmp_path_factory.mktemp("grown"))
    project.configure(**GRID, seeds=[0, 1])
    ran(project)
    before, audited = cells(project), audits(project)
    project.configure(**GRID, seeds=[0, 1, 2])
    planned = project.planned(*TARGETS)
    assert {rule for rule, _ in planned} & OF_CELLS == OF_CELLS - {"measure"}
    # a folder of shared models gets one more, so that what reads it runs; it keeps what it found
    assert {cell.split(",")[0] for rule, cell in planned if rule == "audit"} == {"study=tvg_testing"}
    ran(project)
    assert project.planned(*TARGETS) == []
    return project, before, audited


def test_a_further_seed_runs_alone(grown: tuple[Project, dict[str, dict[str, Any]], str]) -> None:
    project, before, audited = grown
    after = cells(project)
    assert set(after) == set(before)
    for name, cell in after.items():
        assert set(cell["runs"]) == {"0", "1", "2"}
        # with the seconds and the peak memory that its own training took
        assert {seed: cell["runs"][seed] for seed in ("0", "1")} == before[name]["runs"]
        assert [row for row in cell["rows"] if row["seed"] < 2] == before[name]["rows"]
    assert audits(project) == audited
    assert not list((project.folder / "results").glob("perturbed/**/*.safetensors"))


def test_seeds_one_after_the_other_are_those_of_one_run(
    grown: tuple[Project, dict[str, dict[str, Any]], str], tmp_path: Path
) -> None:
    project, _, audited = grown
    at_once = make_project(tmp_path)
    at_once.configure(**GRID, seeds=[0, 1, 2])
    ran(at_once)
    pd.testing.assert_frame_equal(values(at_once), values(project), check_exact=True)
    assert audits(at_once) == audited


def test_one_seed_less_runs_tables_and_figures_alone(
    grown: tuple[Project, dict[str, dict[str, Any]], str],
) -> None:
    project, _, _ = grown
    try:
        project.configure(**GRID, seeds=[0, 2])
        planned = {rule for rule, _ in project.planned()}
        assert not planned & OF_CELLS
        assert {"collect_study", "collect", "collect_audits", "claims", "report", "figure_tldp_type2"} <= planned
        ran(project)
        assert set(values(project)["seed"]) == {0, 2}
    finally:
        project.configure(**GRID, seeds=[0, 1, 2])
    ran(project)  # and it comes back without a computation
    assert set(values(project)["seed"]) == {0, 1, 2}


@pytest.mark.parametrize("seeds", [[0, 1, 2], [0, 1, 2, 3], [1]])
def test_an_edited_file_or_setting_runs_all_seeds(
    grown: tuple[Project, dict[str, dict[str, Any]], str], seeds: list[int]
) -> None:
    project, _, _ = grown
    try:
        project.configure(**GRID, seeds=seeds)
        with edited(project, {"src/tensorldp/training/linear_heads.py": "\n_edited = 1\n"}):
            planned = project.planned(*TARGETS)
            text = commands(project, f"results/metrics/{LINEAR}.json")
        assert {rule for rule, cell in planned if "tldp_type2" in cell} >= {"perturb", "train", "evaluate"}
        wanted = f"--seeds {' '.join(map(str, seeds))} "
        assert text.count(wanted) == 3
    finally:
        project.configure(**GRID, seeds=[0, 1, 2])


def commands(project: Project, target: str) -> str:
    """The commands that would run."""
    done = project.snakemake("-n", "-p", target, env={"PYTHONPATH": str(project.folder / "src")})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_another_setting_and_force_compute_every_seed_again(
    grown: tuple[Project, dict[str, dict[str, Any]], str],
) -> None:
    project, _, _ = grown
    path = project.folder / "results" / "metrics" / f"{LINEAR}.json"
    held = json.loads(path.read_text())
    try:
        training = {**GRID["training"], "tldp_type2": {"epochs": 2}}
        project.configure(**{**GRID, "training": training}, seeds=[0, 1, 2])
        ran(project, f"results/metrics/{LINEAR}.json")
        other = json.loads(path.read_text())
        for seed in (0, 1, 2):
            rows, old = ([row for row in cell["rows"] if row["seed"] == seed] for cell in (other, held))
            assert rows != old
    finally:
        project.configure(**GRID, seeds=[0, 1, 2])
    ran(project, f"results/metrics/{LINEAR}.json")
    assert json.loads(path.read_text())["rows"] == held["rows"]
    kept = json.loads(path.read_text())
    kept["rows"][0]["value"] = -1.0  # no run computes this
    path.write_text(json.dumps(kept))
    project.configure(**GRID, seeds=[0, 1, 2, 3])
    ran(project, f"results/metrics/{LINEAR}.json", "--forcerun", "evaluate")
    assert [row for row in json.loads(path.read_text())["rows"] if row["seed"] < 3] == held["rows"]
