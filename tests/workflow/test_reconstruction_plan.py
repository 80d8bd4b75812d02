"""The study `reconstruction` in the workflow: its plan at every scale, and a cell of each kind of data."""

import json

import pytest
from conftest import Project

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("plans")]
TABLE = "results/tables/reconstruction.csv"


@pytest.mark.parametrize("scale", ["quick", "desk", "paper"])
def test_every_scale_measures_each_attack_and_makes_the_table(project: Project, scale: str) -> None:
    project.configure(studies=["reconstruction"], training={}, epsilons={}, mechanisms={}, datasets={}, seeds=[0])
    jobs = project.planned(TABLE, "results/figures/reconstruction.png", "--config", f"scale={scale}")
    measured = [wildcards for rule, wildcards in jobs if rule == "measure"]
    for attack in ("tensor", "sensitivity", "dlg", "idlg", "cosine", "analytic", "likelihood", "membership"):
        assert any(f"attack={attack}" in wildcards for wildcards in measured), attack
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
    tensor = "synthetic/B=4+attack=tensor+d=30+defence=none+m=5000/none/epsilon~inf"
    release = "digits/attack=likelihood/privunit/epsilon~1"
    done = project.snakemake(
        *(
            f"results/{kind}/reconstruction/{cell}.json"
            for cell in (tensor, release)
            for kind in ("metrics", "privacy/guarantees", "privacy/audits")
        )
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((project.folder / f"results/metrics/reconstruction/{tensor}.json").read_text())["rows"]
    assert {row["metric"]: row["value"] for row in rows}["error"] < 0.3
    guarantee = json.loads((project.folder / f"results/privacy/guarantees/reconstruction/{release}.json").read_text())
    assert guarantee["epsilon"] <= 1.0 + 1e-9
