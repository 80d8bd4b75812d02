"""A study's figures wait for that study alone, and come as soon as its cells are done."""

from __future__ import annotations

import re

import pytest
from conftest import REDUCED, Project

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("order")]


@pytest.mark.parametrize(
    ("figure", "study"), [*((study, study) for study in REDUCED["studies"]), ("accuracy_ceiling", "tldp_type1")]
)
def test_a_figure_waits_for_no_study_that_it_does_not_draw(project: Project, figure: str, study: str) -> None:
    jobs = project.planned(f"results/figures/{figure}.png")
    named = {found.group(1) for _, wildcards in jobs if (found := re.search(r"\bstudy=(\w+)", wildcards))}
    assert named == {study}
    assert "collect" not in {rule for rule, _ in jobs}


def test_the_frontier_waits_for_the_papers_studies_only_where_no_results_are_kept(project: Project) -> None:
    project.configure(studies=["frontier", "tvg_covariance"], mechanisms={}, epsilons={}, training={})
    figure = "results/figures/frontier.png"
    assert any("study=tvg_covariance" in wildcards for _, wildcards in project.planned(figure))
    kept = project.folder / "results" / "reference" / "metrics.parquet"
    kept.parent.mkdir(parents=True)
    kept.touch()
    assert not any("study=tvg_covariance" in wildcards for _, wildcards in project.planned(figure))


def test_figures_of_the_first_study_are_there_before_the_last_training_of_the_second(project: Project) -> None:
    project.configure(
        studies=["tldp_type1", "tldp_type2"],  # the second waits for features, and therefore comes last
        seeds=[0],
        mechanisms={"tldp_type1": ["none", "laplace"], "tldp_type2": ["none"]},
        epsilons={"tldp_type1": [1]},
        training={"tldp_type1": {"epochs": 2}, "tldp_type2": {"epochs": 1}},
    )
    done = project.snakemake("results/figures/tldp_type1.png", "results/figures/tldp_type2.png", cores=1)
    text = done.stdout + done.stderr
    assert done.returncode == 0, text[-4000:]
    trainings = [match.start() for match in re.finditer(r"^(?:local)?rule train:", text, re.MULTILINE)]
    assert len(trainings) == 3
    assert text.index("(Rule: figure_tldp_type1)") < trainings[2]
