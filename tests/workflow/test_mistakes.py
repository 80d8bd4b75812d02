"""What a user types wrong, has not, or may not write ends in one sentence.

Each mistake in config.yaml is tested on the functions that read it, in tests/config.
"""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import torch
import yaml
from outside import OWN
from project import ROOT, SMALL, Project, make_project, plan_of

from tensorldp.errors import InputError
from tensorldp_papers.run.device import resolve_device
from tensorldp_papers.run.study import load_study, study_files

pytestmark = [pytest.mark.workflow, pytest.mark.usefixtures("forks"), pytest.mark.xdist_group("mistakes")]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy in which nothing has run. Tests configure it, and leave the rest as it is."""
    return make_project(tmp_path_factory.mktemp("plans"))


def test_snakemake_lint_is_clean(project: Project) -> None:
    project.configure(**SMALL)
    project.ran("--lint")


DRY_RUN = """
import sys
from snakemake.cli import main
try:
    main(["--dry-run", "--cores", "1"])
except SystemExit as end:
    print("exit", end.code)
print("heavy", sorted({"torch", "torchvision", "sklearn", "scipy"} & set(sys.modules)))
"""
JOBS = 120  # of the default run


def test_the_default_run_has_few_jobs_for_each_study_and_its_plan_imports_no_torch(project: Project) -> None:
    shutil.copy(ROOT / "config.yaml", project.folder)
    done = subprocess.run(
        [sys.executable, "-c", DRY_RUN],
        cwd=project.folder,
        env=project.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    text = done.stdout + done.stderr
    assert "exit 0" in text
    assert "heavy []" in text
    studies = set(yaml.safe_load((ROOT / "config.yaml").read_text())["studies"])
    for rule in ("privacy", "collect_study"):
        found = re.findall(
            rf"^(?:local)?rule {rule}:\n(?: {{4}}.*\n)*? {{4}}wildcards: .*study=(\w+)", text, re.MULTILINE
        )
        assert set(found) == studies, rule
    assert {f"figure_{study}" for study in studies} | {"report"} <= set(
        re.findall(r"^(?:local)?rule (\w+):", text, re.M)
    )
    assert 50 < int(re.findall(r"^total +(\d+)", text, re.MULTILINE)[0]) <= JOBS
    # what getting-started.md lists is asked for itself: Snakemake makes no deleted file again that only others need
    listed = set(
        re.findall(r"^\| `([a-z/]+\.(?:parquet|csv))` \|", (ROOT / "docs/getting-started.md").read_text(), re.M)
    )
    (asked,) = re.findall(r"^(?:local)?rule all:\n {4}input: (.*)", text, re.MULTILINE)
    assert {"metrics.parquet", "claims.csv"} <= listed
    assert {f"results/{name}" for name in listed} <= set(asked.split(", "))
    for name in studies | {"privacy_profiles", "accuracy_ceiling"}:
        assert {f"results/figures/{name}.csv", f"results/notebooks/{name}.html"} <= set(asked.split(", ")), name


def test_the_frontier_waits_for_the_papers_studies_only_where_no_results_are_kept(project: Project) -> None:
    project.configure(studies=["frontier", "tvg_covariance"], seeds=[0])
    figure = "results/figures/frontier.png"
    assert any("study=tvg_covariance" in wildcards for _, wildcards in plan_of(project, figure).jobs)
    kept = project.folder / "results" / "reference" / "metrics.parquet"
    kept.parent.mkdir(parents=True)
    kept.touch()
    try:
        assert not any("study=tvg_covariance" in wildcards for _, wildcards in plan_of(project, figure).jobs)
    finally:
        shutil.rmtree(kept.parent)


def test_figures_of_the_kept_results_need_no_run(project: Project) -> None:
    project.configure(**SMALL)
    reference = project.folder / "results" / "reference"
    reference.parent.mkdir(exist_ok=True)
    reference.symlink_to(ROOT / "results" / "reference")
    try:
        planned = plan_of(project, "reference_figures")
    finally:
        reference.unlink()
    kept = set(pd.read_csv(ROOT / "results" / "reference" / "pieces.csv")["study"])
    drawn = {name for name in kept if load_study(study_files()[name]).views}
    assert len(drawn) > 10
    assert {f"reference_{study}" for study in drawn} <= planned.rules
    assert all(rule.startswith("reference_") for rule in planned.rules)


def test_a_mistake_in_the_config_ends_the_plan_with_a_sentence(project: Project) -> None:
    project.configure(**SMALL | {"epsilons": {"tldp_type1": [-2]}})
    errors, _ = project.failed()
    assert len(errors) == 1
    assert all(word in errors[0] for word in ("epsilons.tldp_type1.0", "[1e-12, 1e+12]", "got -2"))


def test_a_config_file_is_named_where_a_key_occurs_twice_or_none_is_there(project: Project) -> None:
    project.configure(**SMALL)
    (project.folder / "more.json").write_text('{"seeds": [1], "seeds": [2]}')
    errors, _ = project.failed("--dry-run", "--configfile", "more.json")
    path = project.folder / "more.json"
    assert errors == [f"error: the config file {path} is not valid YAML at line 1: seeds occurs twice"]
    (project.folder / "config.yaml").write_text("# all is commented out\n")
    errors, _ = project.failed("--dry-run")
    assert errors == ["error: the config file config.yaml must have keys with values, such as studies, found nothing"]


def test_a_file_of_ones_own_that_is_not_there_ends_the_plan_with_a_sentence(project: Project) -> None:
    project.configure(**SMALL, own_datasets={"mine": OWN["people"]})
    errors, _ = project.failed("--dry-run")
    assert len(errors) == 1
    assert errors[0].startswith("error: own_datasets.mine.path = 'people.parquet': there is no such file or folder")


def test_a_study_without_a_notebook_ends_in_one_sentence_and_one_beside_the_config_is_found(
    project: Project, tmp_path: Path
) -> None:
    project.configure(**SMALL)
    elsewhere = Project(tmp_path, project.home)
    elsewhere.configure(**SMALL)
    notebook = project.home / "notebooks" / "tldp_type2.ipynb"
    content = notebook.read_bytes()
    notebook.unlink()
    try:
        errors, _ = project.failed("--dry-run")
        (tmp_path / "notebooks").mkdir()
        (tmp_path / "notebooks" / notebook.name).write_bytes(content)
        elsewhere.ran("--dry-run")
    finally:
        notebook.write_bytes(content)
    assert errors == [
        "error: the study tldp_type2 has no notebook: add notebooks/tldp_type2.ipynb, which draws its figure"
    ]


# stands in for a folder without the right to write, which root has everywhere
DENIED = "import os\nallowed = os.access\nos.access = lambda path, mode: path != '.' and allowed(path, mode)\n"


def test_a_folder_that_cannot_be_written_is_named_in_a_sentence(project: Project, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(DENIED)
    project.configure(**SMALL)
    code, text = project.snakemake(
        "--dry-run", before=(sys.executable,), PYTHONPATH=f"{tmp_path}:{project.home / 'src'}"
    )
    assert code != 0
    assert f"error: {project.folder} is no folder that can be written: make it one" in text
    assert "Traceback" not in text


@pytest.mark.parametrize("name", ["results", "logs", "resources"])
def test_a_link_to_a_folder_that_is_gone_ends_the_plan_with_a_sentence(
    project: Project, tmp_path: Path, name: str
) -> None:
    elsewhere = Project(tmp_path, project.home)
    elsewhere.configure(**SMALL)
    (tmp_path / name).symlink_to("nowhere")
    errors, text = elsewhere.failed("--dry-run")
    told = f"error: {tmp_path / name} is no folder that can be written: make it one, or name another place with"
    assert errors == [f"{told} --directory"], text


def test_the_last_line_names_what_was_made_where_it_is(project: Project) -> None:
    project.configure(**SMALL)
    text = project.ran("--", "resources/datasets/digits/digest.json")
    assert f"Finished in {project.folder}." in text
    assert "report.html" not in text  # nobody asked for one
    shutil.rmtree(project.folder / "resources")


def test_a_mirror_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    main = runpy.run_path(str(ROOT / "workflow" / "scripts" / "download.py"))["main"]
    with pytest.raises(InputError, match=f"the mirror folder {tmp_path}/none does not exist"):
        main(["--dataset", "mnist", "--out", str(tmp_path / "out"), "--mirror", str(tmp_path / "none")])


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(InputError, match="device is 'cuda' but no CUDA GPU is available here"):
        resolve_device("cuda")


OUTER = """
module tensorldp:
    snakefile:
        "../the workflow/Snakefile"
    config:
        config["tensorldp"]


use rule * from tensorldp as tensorldp_*


rule all:
    default_target: True
    input:
        "results/figures/tldp_type2.png",
    output:
        "mine.txt",
    shell:
        "cp results/figures/tldp_type2.csv {output}"
"""


@pytest.mark.parametrize("options", [["--dry-run"], pytest.param([], marks=pytest.mark.weekly)])
def test_it_is_a_module_of_another_workflow_in_folders_with_spaces_and_umlauts(
    options: list[str], tmp_path: Path
) -> None:
    mine = make_project(tmp_path / "über alles" / "mine", tmp_path / "über alles" / "the workflow")
    (mine.folder / "Snakefile").write_text(OUTER)
    (mine.folder / "config.yaml").write_text(yaml.safe_dump({"tensorldp": {**SMALL, "device": "cpu"}}))
    outer = Project(mine.folder, mine.folder)
    code, text = outer.snakemake("--configfile", "config.yaml", *options, PYTHONPATH=mine.environment["PYTHONPATH"])
    assert code == 0, text[-4000:]
    assert "rule tensorldp_figure_tldp_type2" in text
    assert (mine.folder / "mine.txt").exists() == (not options)
    assert not (mine.home / "results").exists()
