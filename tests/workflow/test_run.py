"""The reduced default run, end to end, and what makes jobs run again."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from conftest import REDUCED, Project

from tensorldp.studies.table import COLUMNS, KEY

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("finished")]
STUDIES = ["tldp_type1", "tldp_type2", "tldp_type3"]


def metrics(project: Project) -> pd.DataFrame:
    return pd.read_parquet(project.folder / "results" / "metrics.parquet")


def test_the_run_makes_every_figure_the_table_and_an_offline_page(finished: Project) -> None:
    results = finished.folder / "results"
    for study in STUDIES:
        for view in ("", "_guaranteed", "_pure"):
            assert (results / "figures" / f"{study}{view}.png").read_bytes()[:4] == b"\x89PNG"
            assert "<svg" in (results / "figures" / f"{study}{view}.svg").read_text()
        assert len(pd.read_csv(results / "figures" / f"{study}.csv")) > 0
    page = (results / "report.html").read_text()
    assert page.count("<img") == 11
    without_sources = re.sub(r'<a href="https://(doi|arxiv)\.org/', "", page)
    assert not re.search(r"https?://", without_sources)
    table = metrics(finished)
    assert list(table.columns) == COLUMNS
    assert not table.duplicated(KEY).any()
    assert table["value"].between(0, 1).all()
    assert set(table["seed"]) == {0, 1}


def test_no_intermediate_or_half_written_file_is_left(finished: Project) -> None:
    results = finished.folder / "results"
    assert not list(results.glob("perturbed/**/*.safetensors"))
    assert not list(results.glob("models/**/*.safetensors"))
    assert not list(finished.folder.rglob("*.part"))


def test_privacy_is_told_for_the_whole_record(finished: Project) -> None:
    table = metrics(finished)
    tldp = table[(table["mechanism"] == "tldp-l") & (table["study"] == "tldp_type1") & (table["epsilon"] == 1)]
    assert tldp["guarantee_pure_epsilon"].unique().tolist() == pytest.approx([64.0], rel=1e-12)  # 64 pixels at 1 each
    assert (tldp["guarantee_epsilon"] < 64).all()
    laplace = table[(table["mechanism"] == "laplace") & (table["epsilon"] == 5)]
    assert laplace["guarantee_pure_epsilon"].unique().tolist() == pytest.approx([5.0], rel=1e-12)
    assert (table[table["mechanism"] == "none"]["guarantee_epsilon"] == float("inf")).all()
    assert set(table[table["study"] == "tldp_type3"]["guarantee_unit"]) == {"run"}


def test_a_second_run_has_nothing_to_do(finished: Project) -> None:
    assert finished.planned() == []


def test_touching_any_file_reruns_nothing(finished: Project) -> None:
    for name in (
        "resources/datasets/digits/train.safetensors",
        "results/features/digits/tanh_cnn/train.safetensors",
        "src/tensorldp/mechanisms/tldp.py",
        "src/tensorldp/training/classify.py",
        "config.yaml",
        "workflow/studies/tldp_type1.yaml",
        "resources/datasets/digits/digest.json",
        "workflow/scripts/train.py",
    ):
        (finished.folder / name).touch()
    assert finished.planned() == []


def test_one_more_epsilon_runs_only_its_own_cells_and_what_is_downstream(finished: Project) -> None:
    try:
        finished.configure(epsilons={**REDUCED["epsilons"], "tldp_type1": [1, 5, 2]})
        jobs = finished.planned()
    finally:
        finished.configure()
    cells = [
        (rule, f"study=tldp_type1, dataset=digits, variant=model=small_cnn, mechanism={m}, epsilon=2")
        for rule in ("perturb", "train", "evaluate", "guarantee")
        for m in ("tldp-l", "laplace")
    ]
    cells += [("audit", wildcards) for rule, wildcards in cells if rule == "guarantee"]
    downstream = [
        ("all", ""),
        ("claims", ""),
        ("collect", ""),
        ("collect_audits", ""),
        ("collect_study", "study=tldp_type1"),
        ("collect_study_audits", "study=tldp_type1"),
        ("report", ""),
        ("privacy_figure", "figure=accuracy_ceiling"),
        ("figure_tldp_type1", ""),  # the others draw nothing of it
    ]
    assert jobs == sorted(cells + downstream)


def test_a_training_setting_reruns_the_cells_it_touches(finished: Project) -> None:
    try:
        finished.configure(training={**REDUCED["training"], "tldp_type2": {"epochs": 2}})
        jobs = finished.planned()
    finally:
        finished.configure()
    trained = [wildcards for rule, wildcards in jobs if rule == "train"]
    assert len(trained) == 3  # without a mechanism, and TLDP-G by its range and by the printed one
    assert all("study=tldp_type2" in wildcards for wildcards in trained)


def test_one_more_seed_reruns_its_cells_and_keeps_the_values_of_the_others(finished: Project, tmp_path: Path) -> None:
    copy = Project(tmp_path / "copy")
    shutil.copytree(finished.folder, copy.folder)
    cell = "results/metrics/tldp_type1/digits/model=small_cnn/tldp-l/epsilon~1.json"
    copy.configure(
        seeds=[0, 1, 2],
        mechanisms={"tldp_type1": ["tldp-l"]},
        studies=["tldp_type1"],
        epsilons={"tldp_type1": [1]},
        training={"tldp_type1": {"epochs": 1}},
    )
    done = copy.snakemake(cell, "results/metrics.parquet")
    assert done.returncode == 0, done.stdout + done.stderr
    new, old = metrics(copy), metrics(finished)
    old = old[(old["mechanism"] == "tldp-l") & (old["study"] == "tldp_type1") & (old["epsilon"] == 1)]
    merged = old.merge(new, on=KEY, suffixes=("", "_new"))
    assert len(merged) == len(old) > 0
    assert (merged["value"] == merged["value_new"]).all()
    assert set(new["seed"]) == {0, 1, 2}


def test_a_cell_run_alone_equals_the_same_cell_in_the_full_run(finished: Project, project: Project) -> None:
    cells = [
        f"results/metrics/{path}.json"
        for path in (
            "tldp_type1/digits/model=small_cnn/laplace/epsilon~5",
            "tldp_type2/digits/backbone=tanh_cnn+model=linear/tldp-g/epsilon~1",
            "tldp_type3/breast_cancer/model=fcn+where=user/tldp-l/epsilon~100",
        )
    ]
    done = project.snakemake(*cells, env={"TENSORLDP_WARM": "0"})
    assert done.returncode == 0, done.stdout + done.stderr
    import json

    for cell in cells:
        alone, full = (json.loads((p.folder / cell).read_text())["rows"] for p in (project, finished))
        assert alone == full


PLUGIN = """
from tensorldp.mechanisms import Mechanism, register
from tensorldp.privacy.curves.laplace import LaplaceCurve
from tensorldp.randomness import add_laplace

@register
class Half(Mechanism):
    name, domain_kind = "half-laplace", "box"
    @property
    def scale(self):
        return 2 * self.size * self.domain.width / self.epsilon
    def _randomize(self, x, generator):
        return add_laplace(x, self.scale, generator)
    def squared_error(self):
        return 2 * self.size * self.scale**2
    def curve(self):
        return LaplaceCurve(self.domain.width / self.scale, self.size)
    def worst_pair(self):
        return self.domain.constant(self.domain.low), self.domain.constant(self.domain.high)
"""


def test_a_users_mechanism_beside_the_config_appears_in_a_study(project: Project) -> None:
    (project.folder / "my_mechanisms.py").write_text(PLUGIN)
    project.configure(
        plugins=["my_mechanisms"],
        studies=["tldp_type1"],
        epsilons={"tldp_type1": [6]},
        mechanisms={"tldp_type1": ["half-laplace"]},
        training={"tldp_type1": {"epochs": 1}},
    )
    done = project.snakemake("results/metrics.parquet")
    assert done.returncode == 0, done.stdout + done.stderr
    table = metrics(project)
    assert set(table["mechanism"]) == {"half-laplace"}
    assert table["guarantee_pure_epsilon"].unique().tolist() == [pytest.approx(3.0)]
