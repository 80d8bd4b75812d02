"""The study `reconstruction` in the workflow: its plan at every scale, and a cell of each kind of data."""

import pytest
from conftest import Project
from faults import cells, ran, result

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("plans")]
TABLE = "results/tables/reconstruction.csv"


@pytest.mark.parametrize("scale", ["quick", "desk", "paper"])
def test_every_scale_measures_each_attack_and_makes_the_table(project: Project, scale: str) -> None:
    project.configure(studies=["reconstruction"], training={}, epsilons={}, mechanisms={}, datasets={}, seeds=[0])
    jobs = project.planned(TABLE, "results/figures/reconstruction.png", "--config", f"scale={scale}")
    measured = cells(project, "measure", TABLE, "--config", f"scale={scale}")
    for attack in ("tensor", "sensitivity", "dlg", "idlg", "cosine", "analytic", "likelihood", "membership"):
        assert any(f"attack={attack}" in cell for cell in measured), attack
    assert ("attack_table", "") in jobs
    assert any(rule == "figure_reconstruction" for rule, _ in jobs)


def test_cells_with_and_without_data_run(project: Project) -> None:
    project.configure(
        studies=["reconstruction"],
        training={"reconstruction": {"draws": 1, "epochs": 1, "victims": 2}},
        epsilons={},
        mechanisms={},
        datasets={},
        seeds=[0],
    )
    tensor = "reconstruction/synthetic/B=4+attack=tensor+d=30+defence=none+m=5000/none/epsilon~inf"
    release = "reconstruction/digits/attack=likelihood/privunit/epsilon~1"
    ran(
        project,
        *(f"results/batches/{cell}/{kind}.json" for cell in (tensor, release) for kind in ("scores", "privacy")),
    )
    rows = result(project, tensor, "seed~0")["rows"]
    assert {row["metric"]: row["value"] for row in rows}["error"] < 0.3
    assert result(project, release, "guarantee")["guarantee"]["epsilon"] <= 1.0 + 1e-9
    assert result(project, release, "audit")["audit"]
