"""What a change computes: a batch is how many cells a job has, and the store says which of them are there."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import Project, make_project
from faults import copy_of, edited, leftovers, pending, ran, sentences, stored, tables

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("batches")]

# linear heads that train together, shared models, guarantees that differ by seed, series, and a study that measures
GRID: dict[str, Any] = {
    "studies": ["tldp_type2", "tvg_testing", "pldp_fl", "tvg_covariance"],
    "seeds": [0, 1],
    "datasets": {"tldp_type2": ["digits"], "tvg_covariance": ["breast_cancer"]},
    "mechanisms": {
        "tldp_type2": ["tldp-g"],
        "tvg_testing": ["udn"],
        "pldp_fl": ["plu-fedoa"],
        "tvg_covariance": ["idn", "udn"],
    },
    "epsilons": {"tldp_type2": [1], "tvg_testing": [1], "pldp_fl": [1], "tvg_covariance": [1]},
    "training": {
        "tldp_type2": {"epochs": 1},
        "tvg_testing": {"epochs": 1},
        "pldp_fl": {"rounds": 2, "clients": 10},
    },
}
TARGETS = ("results/metrics.parquet", "results/standing.csv")
LINEAR = "tldp_type2/digits/backbone=tanh_cnn+model=linear/tldp-g/epsilon~1"
COVARIANCE = "tvg_covariance/breast_cancer/base/{}/epsilon~{}"


def changed(**changes: Any) -> dict[str, Any]:
    """The grid with entries of its keys replaced."""
    grid = copy.deepcopy(GRID)
    for key, value in changes.items():
        grid[key] = grid[key] | value if isinstance(value, dict) else value
    return grid


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project whose grid has run, with as many cells in a job as a study has. Tests copy it."""
    project = make_project(tmp_path_factory.mktemp("batches"))
    project.configure(**GRID)
    ran(project, *TARGETS)
    assert not leftovers(project)
    assert project.planned(*TARGETS) == []
    return project


@pytest.fixture
def project(done: Project, tmp_path: Path) -> Project:
    return copy_of(done, tmp_path / "copy")


@pytest.mark.parametrize("cells", [1, pytest.param(3, marks=pytest.mark.weekly)])
def test_values_do_not_depend_on_the_cells_of_a_job(done: Project, tmp_path: Path, cells: int) -> None:
    other = make_project(tmp_path)
    other.configure(**GRID, cells_per_job=cells)
    text = ran(other, *TARGETS)
    assert ("/1/scores.json" in text) == (cells == 1)
    assert tables(other) == tables(done)
    assert stored(other).keys() == stored(done).keys()  # their names have the keys
    assert not leftovers(other)


def test_other_batches_of_the_same_cells_and_forced_jobs_compute_nothing(project: Project) -> None:
    before, values = stored(project), tables(project)
    project.configure(**GRID, cells_per_job=1)
    assert pending(project, *TARGETS) == set()
    ran(project, *TARGETS, "--forcerun", "measure", "privacy")
    assert stored(project) == before
    assert tables(project) == values


def more(cells: str, *parts: str) -> set[str]:
    return {f"{cells}/{part}" for part in parts}


@pytest.mark.parametrize(
    ("changes", "computed"),
    [
        (
            {"epsilons": {"tvg_covariance": [1, 2]}},
            {
                result
                for mechanism in ("idn", "udn")
                for result in more(COVARIANCE.format(mechanism, 2), "seed~0", "seed~1", "guarantee", "audit")
            },
        ),
        (
            {"mechanisms": {"tvg_covariance": ["idn", "udn", "mvg"]}},
            more(COVARIANCE.format("mvg", 1), "seed~0", "seed~1", "guarantee", "audit"),
        ),
        (
            {"datasets": {"tldp_type2": ["digits", "breast_cancer"]}},
            None,  # all of the other data set
        ),
    ],
    ids=["epsilon", "mechanism", "data set"],
)
def test_what_is_added_to_the_grid_is_computed_alone(
    project: Project, changes: dict[str, Any], computed: set[str] | None
) -> None:
    project.configure(**changed(**changes))
    found = pending(project, *TARGETS)
    if computed is None:
        assert found
        assert all(result.startswith("tldp_type2/breast_cancer/") for result in found)
    else:
        assert found == computed


def test_a_further_seed_is_computed_alone(project: Project) -> None:
    before, values = stored(project), pd.read_parquet(project.folder / TARGETS[0])
    project.configure(**changed(seeds=[0, 1, 2]))
    assert {result.rpartition("/")[2] for result in pending(project, *TARGETS)} == {"seed~2", "model~2", "guarantee~2"}
    ran(project, *TARGETS)
    after = stored(project)
    assert {name: after[name] for name in before} == before
    assert {name.rpartition("/")[2].split(".")[0] for name in after.keys() - before.keys()} == {
        "seed~2",
        "model~2",
        "guarantee~2",
    }
    table = pd.read_parquet(project.folder / TARGETS[0])
    assert set(table["seed"]) == {0, 1, 2}
    kept = ["value", "seconds", "peak_mb"]  # what its own training took, too
    earlier = table[table["seed"] < 2].reset_index(drop=True)
    pd.testing.assert_frame_equal(earlier[kept], values[kept], check_exact=True)
    assert not leftovers(project)


def test_what_is_taken_out_of_the_grid_and_put_back_computes_nothing(project: Project) -> None:
    before, values = stored(project), tables(project)
    # of models that cells share the lowest seed's are audited, so that this one stays
    project.configure(
        **changed(seeds=[0], studies=["tvg_testing", "tvg_covariance"], mechanisms={"tvg_covariance": ["idn"]})
    )
    planned = {rule for rule, _ in project.planned("results/report.html")}
    assert {"collect_study", "collect", "claims", "report", "figure_tvg_covariance"} <= planned
    assert pending(project, *TARGETS) == set()
    ran(project, *TARGETS)
    table = pd.read_parquet(project.folder / TARGETS[0])
    assert set(table["seed"]) == {0}
    assert set(table["study"]) == {"tvg_testing", "tvg_covariance"}
    assert "udn" not in set(table[table["study"] == "tvg_covariance"]["mechanism"])
    project.configure(**GRID)
    assert pending(project, *TARGETS) == set()
    ran(project, *TARGETS)
    assert stored(project) == before
    assert tables(project) == values


def test_a_setting_and_back_computes_its_cells_and_then_nothing(project: Project) -> None:
    target = "results/studies/tldp_type2/metrics.parquet"
    before, values = stored(project), (project.folder / target).read_bytes()
    project.configure(**changed(training={"tldp_type2": {"epochs": 2}}))
    assert {result.split("/")[0] for result in pending(project, *TARGETS)} == {"tldp_type2"}
    ran(project, target)
    assert (project.folder / target).read_bytes() != values
    computed = {name.split(".")[0] for name in stored(project).keys() - before.keys()}
    assert computed >= more(LINEAR, "seed~0", "seed~1")
    assert {name.split("/")[0] for name in computed} == {"tldp_type2"}
    project.configure(**GRID)
    assert pending(project, *TARGETS) == set()
    ran(project, target)
    assert (project.folder / target).read_bytes() == values


def test_an_edit_computes_the_cells_that_depend_on_it_and_an_edit_taken_back_finds_their_old_results(
    project: Project,
) -> None:
    target = "results/studies/tvg_covariance/metrics.parquet"
    before, values = stored(project), pd.read_parquet(project.folder / target)
    with edited(project, {"src/tensorldp_papers/papers/tvg/covariance.py": "\n_edited = 1\n"}):
        found = pending(project, *TARGETS)
        assert {result.split("/")[0] for result in found} == {"tvg_covariance"}
        ran(project, target)
        after = stored(project)
        assert {name.split(".")[0] for name in after.keys() - before.keys()} == found
        assert {name: after[name] for name in before} == before
        again = pd.read_parquet(project.folder / target)
        pd.testing.assert_series_equal(again["value"], values["value"], check_exact=True)
    assert pending(project, *TARGETS) == set()
    ran(project, target)
    assert stored(project) == after


def test_a_deleted_result_is_computed_again_and_nothing_else(project: Project) -> None:
    before, values = stored(project), tables(project)
    gone = [name for name in before if name.startswith((f"{LINEAR}/seed~1", f"{COVARIANCE.format('idn', 1)}/audit"))]
    gone += [name for name in before if "/model~0" in name]
    assert len(gone) == 3
    for name in gone:
        (project.folder / "results" / "cells" / name).unlink()
    ran(project, *TARGETS)
    after = stored(project)
    assert {name for name in after if after[name] != before.get(name)} == set(gone)
    assert tables(project) == values
    assert not leftovers(project)


def test_a_damaged_result_is_named_in_one_sentence(project: Project) -> None:
    name = next(name for name in stored(project) if name.startswith(f"{LINEAR}/seed~0"))
    path = project.folder / "results" / "cells" / name
    path.write_text(path.read_text()[:100])
    target = "results/studies/tldp_type2/metrics.parquet"
    failed = project.snakemake(target, "--forcerun", "collect_study")
    assert failed.returncode != 0
    assert "Traceback" not in failed.stdout + failed.stderr
    assert set(sentences(failed.stderr)) == {
        f"error: the file results/cells/{name} is not valid JSON: delete it and run again"
    }
    path.unlink()
    ran(project, target)


def test_a_cell_by_its_name_is_that_of_the_whole_run(project: Project, tmp_path: Path) -> None:
    before = stored(project)
    target = f"results/metrics/{LINEAR}.json"
    ran(project, target)
    assert stored(project) == before
    alone = make_project(tmp_path / "alone")
    alone.configure(**GRID)
    ran(alone, target)
    assert {name.split(".")[0] for name in stored(alone)} == more(LINEAR, "seed~0", "seed~1")
    of_run, of_cell = (json.loads((place.folder / target).read_text()) for place in (project, alone))
    assert of_cell["rows"] == of_run["rows"]


def peaks(project: Project, cells: int) -> dict[str, float]:
    """Megabytes that the stages of a batch of so many cells take at most."""
    project.configure(
        studies=["tldp_type1"],
        seeds=[0],
        own_datasets={"large": {"path": "large.parquet", "label": "label", "range": [0, 1], "test": 0.9, "seed": 1}},
        datasets={"tldp_type1": ["large"]},
        factors={"tldp_type1": {"model": ["mlp"]}},
        mechanisms={"tldp_type1": ["laplace"]},
        epsilons={"tldp_type1": list(range(1, 1 + cells))},
        training={"tldp_type1": {"epochs": 1}},
    )
    noted = project.folder / f"times of {cells}"
    done = project.snakemake("results/batches/tldp_type1/large/0/scores.json", env={"TENSORLDP_TIMES": str(noted)})
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    assert len({name.rpartition("/")[0] for name in stored(project)}) == cells
    assert not leftovers(project)  # the releases and the models are gone
    found = map(json.loads, noted.read_text().splitlines())
    return {note["script"]: note["peak_mb"] for note in found if note["script"] in ("perturb", "train", "evaluate")}


def test_the_memory_of_a_job_does_not_grow_with_its_cells(tmp_path: Path) -> None:
    few, many = make_project(tmp_path / "few"), make_project(tmp_path / "many")
    table = pd.DataFrame(np.random.default_rng(0).random((3000, 784), dtype=np.float32)).assign(
        label=np.arange(3000) % 2
    )
    table.columns = table.columns.map(str)  # a release takes 9 MB
    for project in (few, many):
        table.to_parquet(project.folder / "large.parquet")
    of_few, of_many = peaks(few, 3), peaks(many, 30)
    assert of_few.keys() == {"perturb", "train", "evaluate"}
    for stage, peak in of_few.items():
        assert of_many[stage] < 1.1 * peak, f"{stage}: {peak:.0f} MB for 3 cells, {of_many[stage]:.0f} MB for 30"
