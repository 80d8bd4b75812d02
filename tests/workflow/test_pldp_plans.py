"""PLDP-FL's studies in the workflow: plans at every scale, and a small run to their figures."""

import pandas as pd
import pytest
from conftest import Project
from faults import cells, sentences

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("pldp")]
STUDIES = ["pldp_synthetic", "pldp_fl"]


@pytest.mark.parametrize("scale", ["quick", "desk", "paper"])
def test_both_studies_have_a_plan_at_every_scale(project: Project, scale: str) -> None:
    project.configure(studies=STUDIES, scale=scale, seeds=None, mechanisms={}, epsilons={}, training={})
    trained = cells(project, "train")
    for eps in ("e1", "e2", "e3"):
        for tau in ("t1", "t2", "t3"):
            assert any(f"eps={eps}+" in w and f"tau={tau}/" in w and "participation" not in w for w in trained)
    assert not any("pldp_synthetic" in cell for cell in trained)


def test_a_small_run_makes_every_figure(project: Project) -> None:
    project.configure(
        studies=STUDIES,
        seeds=[0],
        training={"pldp_fl": {"rounds": 2, "every": 1, "clients": 10}},
        mechanisms={"pldp_synthetic": ["pdpm"], "pldp_fl": ["none", "pdpm", "privunit"]},
        epsilons={"pldp_synthetic": [1], "pldp_fl": [1]},
    )
    drawn = ("results/figures/pldp_fl.png", "results/figures/pldp_synthetic.png")
    done = project.snakemake(*drawn, "results/metrics.parquet", timeout=900)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    figures = project.folder / "results" / "figures"
    for name in (
        "pldp_synthetic",
        "pldp_synthetic_mechanisms",
        "pldp_fl",
        "pldp_fl_zero",
        "pldp_fl_comparison",
        "pldp_fl_guaranteed",
        "pldp_fl_ledger",
        "pldp_fl_participation",
    ):
        assert (figures / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
        assert "<svg" in (figures / f"{name}.svg").read_text()
    table = pd.read_parquet(project.folder / "results" / "metrics.parquet")
    largest = table[
        (table["study"] == "pldp_fl")
        & (table["mechanism"] == "pdpm")
        & table["variant"].str.fullmatch("centre=(zero|global),eps=e3,model=mlp,tau=t1")
    ]
    assert largest["guarantee_unit"].unique().tolist() == ["run"]
    # the largest client spends 1 on each of 2,410 weights in each of at most two rounds
    assert largest["guarantee_pure_epsilon"].unique().tolist() in ([pytest.approx(4820.0)], [pytest.approx(2410.0)])


def test_a_client_with_no_budget_is_one_sentence(project: Project) -> None:
    project.configure(studies=["pldp_fl"], training={"pldp_fl": {"client_epsilons": [1.0, 0.0]}})
    done = project.snakemake(
        "results/batches/pldp_fl/digits/centre=zero+eps=e1+model=mlp+tau=t1/pdpm/epsilon~0.2/privacy.json"
    )
    text = done.stdout + done.stderr
    assert done.returncode != 0
    assert "Traceback" not in text
    assert sentences(text)
    assert all("epsilon~0.2 failed in privacy: epsilon of client 1 must be" in line for line in sentences(text))
