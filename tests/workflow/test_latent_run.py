"""The study latent through the real workflow, on digits."""

import json
from typing import Any

import pandas as pd
import pytest
from conftest import Project
from faults import cells

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("latent")]

SMALL = {"studies": ["latent"], "seeds": [0], "mechanisms": {}, "epsilons": {"latent": [0.5]}, "training": {}}


def test_every_figure_and_the_table_come_out_of_a_run(project: Project) -> None:
    project.configure(**SMALL)
    done = project.snakemake("results/figures/latent.png", "results/privacy/audits.csv", "results/metrics.parquet")
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    results = project.folder / "results"
    for view in ("", "_guaranteed", "_epochs", "_probability"):
        assert (results / f"figures/latent{view}.png").stat().st_size > 10_000
    table = pd.read_csv(results / "tables/latent_table2.csv").set_index(["method", "epsilon"])
    rows: Any = table.loc  # the stubs know no tuple of labels
    b = rows[("LATENT, reading B", 0.5)]
    assert b["test_released"] > 0.3  # no classifier gets there at a true epsilon of 0.5
    assert b["guarantee_pure_epsilon"] > 2800
    metrics = pd.read_parquet(results / "metrics.parquet")
    assert (metrics["peak_mb"] > 0).all()
    audits = pd.read_csv(results / "privacy/audits.csv")
    beyond = audits[(audits["epsilon_lower"] > audits["guarantee_pure_epsilon"] + 1e-9)]
    assert beyond.empty
    over = audits[(audits["mechanism"] == "latent") & (audits["epsilon_lower"] > audits["epsilon"])]
    assert set(over["variant"]) == {"model=ann,reading=B"}  # refuted as a mechanism of its nominal epsilon


def test_bits_lie_packed_on_the_disk(project: Project) -> None:
    project.configure(**SMALL)
    cell = "latent/digits/model=ann+reading=B/latent/epsilon~0.5"
    done = project.snakemake(f"results/metrics/{cell}.json", "--notemp")
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    size = (project.folder / "results/perturbed" / cell / cell / "seed~0.safetensors").stat().st_size
    assert 0 <= size - (1437 + 360) * 2560 // 8 < 1000
    rows = json.loads((project.folder / f"results/metrics/{cell}.json").read_text())["rows"]
    assert {"accuracy", "accuracy_perturbed_test", "train_accuracy"} <= {row["metric"] for row in rows}


@pytest.mark.parametrize("scale", ["quick", "desk", "paper"])
def test_there_is_a_plan_at_every_scale(project: Project, scale: str) -> None:
    project.configure(studies=["latent"], scale=scale, seeds=[0], mechanisms={}, epsilons={}, training={})
    assert len(cells(project, "perturb", "results/figures/latent.png")) >= 14
