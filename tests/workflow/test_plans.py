"""Lint, dry runs of every scale, and mistakes of a user."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import REDUCED, ROOT, SNAKEMAKE, Project

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("plans")]


def test_snakemake_lint_is_clean(project: Project) -> None:
    done = project.snakemake("--lint")
    assert done.returncode == 0, done.stdout + done.stderr


JOBS = 120  # of the default run


@pytest.mark.parametrize("scale", ["quick", "desk", "paper"])
def test_the_default_config_has_a_plan_at_every_scale(project: Project, scale: str) -> None:
    shutil.copy(ROOT / "config.yaml", project.folder)
    studies = yaml.safe_load((ROOT / "config.yaml").read_text())["studies"]
    jobs = project.planned("--config", f"scale={scale}")
    of_study = {
        rule: {study_of(wildcards) for job, wildcards in jobs if job == rule} for rule in ("privacy", "collect_study")
    }
    assert of_study == {"privacy": set(studies), "collect_study": set(studies)}
    assert {f"figure_{study}" for study in studies} <= {rule for rule, _ in jobs}
    assert ("report", "") in jobs
    if scale == "quick":
        assert len(jobs) <= JOBS


def study_of(wildcards: str) -> str:
    found = re.search(r"\bstudy=(\w+)", wildcards)
    return found[1] if found else ""


@pytest.mark.parametrize(
    ("figure", "study"), [*((study, study) for study in REDUCED["studies"]), ("accuracy_ceiling", "tldp_type1")]
)
def test_a_figure_waits_for_no_study_that_it_does_not_draw(project: Project, figure: str, study: str) -> None:
    jobs = project.planned(f"results/figures/{figure}.png")
    assert {study_of(wildcards) for _, wildcards in jobs} - {""} == {study}
    assert "collect" not in {rule for rule, _ in jobs}


def test_the_frontier_waits_for_the_papers_studies_only_where_no_results_are_kept(project: Project) -> None:
    project.configure(studies=["frontier", "tvg_covariance"], mechanisms={}, epsilons={}, training={})
    figure = "results/figures/frontier.png"
    assert "tvg_covariance" in {study_of(wildcards) for _, wildcards in project.planned(figure)}
    kept = project.folder / "results" / "reference" / "metrics.parquet"
    kept.parent.mkdir(parents=True)
    kept.touch()
    assert "tvg_covariance" not in {study_of(wildcards) for _, wildcards in project.planned(figure)}


SECONDS, MEGABYTES = 30, 300  # on a machine that has other work; 6 s on one that has none
LARGE = {
    "studies": ["tvg_covariance"],
    "seeds": [0],
    "mechanisms": {"tvg_covariance": ["idn", "udn"]},
    "epsilons": {"tvg_covariance": [1 + i / 1000 for i in range(5000)]},
    "training": {},
    "cells_per_job": 100,
}


def test_a_grid_of_ten_thousand_cells_is_planned_in_seconds(project: Project) -> None:
    project.configure(**LARGE)
    start = time.monotonic()
    with (project.folder / "said").open("w") as said:
        process = subprocess.Popen(
            [str(SNAKEMAKE), "--cores", "2", "--", "resources/datasets/breast_cancer/digest.json", "metrics"],
            cwd=project.folder,
            env=project.environment(),
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        try:
            text = ""
            while "Execute 1 jobs" not in text and process.poll() is None and time.monotonic() < start + 2 * SECONDS:
                time.sleep(0.05)
                text = (project.folder / "said").read_text()
            seconds = time.monotonic() - start
            # what `wait4` tells counts the memory of this process too, from which that one was forked
            status = Path(f"/proc/{process.pid}/status").read_text()
        finally:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert re.search(r"^measure +100$", text, re.MULTILINE), text[-3000:]
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) / 1024
    assert seconds < SECONDS, f"the first job was there after {seconds:.1f} s"
    assert peak < MEGABYTES, f"Snakemake took {peak:.0f} MB"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"studies": ["tldp_typ1"]}, ["unknown study 'tldp_typ1'", "did you mean 'tldp_type1'"]),
        ({"datasets": {"tldp_type1": ["mnst"]}}, ["unknown dataset 'mnst'", "did you mean 'mnist'"]),
        ({"mechanisms": {"tldp_type1": ["tldp-k"]}}, ["unknown mechanism 'tldp-k'", "did you mean 'tldp-"]),
        ({"epsilons": {"tldp_type1": [0]}}, ["epsilons.tldp_type1.0", "[1e-12, 1e+12]", "got 0"]),
        ({"epsilons": {"tldp_type1": [-2]}}, ["[1e-12, 1e+12]", "got -2"]),
        ({"epsilons": {"tldp_type1": ["one"]}}, ["[1e-12, 1e+12]", "'one'"]),
        ({"epsilon": {"tldp_type1": [1]}}, ["unknown key in config 'epsilon'", "did you mean 'epsilons'"]),
        ({"mirror": "/no/such/folder"}, ["mirror folder /no/such/folder does not exist"]),
    ],
)
def test_a_mistake_in_the_config_is_one_sentence(project: Project, changes: dict[str, Any], words: list[str]) -> None:
    project.configure(**changes)
    done = project.snakemake()
    text = done.stdout + done.stderr
    assert done.returncode != 0
    assert "Traceback" not in text
    errors = [line for line in text.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert all(word in errors[0] for word in words), errors


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("model=small_cnn/none/epsilon~1", "model=small_cnn/none/epsilon~inf"),
        ("model=small_cnn/laplace/epsilon~7", "model=small_cnn/laplace/epsilon~1"),
        ("model=smal_cnn/laplace/epsilon~1", "model=small_cnn/laplace/epsilon~1"),
    ],
)
def test_a_cell_that_the_config_does_not_ask_for_is_one_sentence(project: Project, asked: str, near: str) -> None:
    project.configure(studies=["tldp_type1"], epsilons={"tldp_type1": [1]})
    for _ in range(2):  # the folder is not left locked
        done = project.snakemake(f"results/metrics/tldp_type1/digits/{asked}.json")
        lines = (done.stdout + done.stderr).splitlines()
        assert done.returncode != 0
        errors = [line for line in lines if "rror" in line]
        assert len(errors) == 1, lines
        assert errors[0].startswith(f"error: the config asks for no cell tldp_type1/digits/{asked}; of those"), errors
        assert f"tldp_type1/digits/{near}" in errors[0]


def test_a_gpu_that_is_not_there_is_one_sentence(project: Project) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    project.configure(device="cuda", studies=["tldp_type1"])
    done = project.snakemake("results/metrics/tldp_type1/digits/model=small_cnn/none/epsilon~inf.json")
    text = done.stdout + done.stderr
    assert done.returncode != 0
    assert "error: device is 'cuda' but no CUDA GPU is available here" in text
    assert "Traceback" not in text


def test_a_data_set_without_mirror_or_network_is_one_sentence(project: Project) -> None:
    project.configure(studies=["tldp_type1"], datasets={"tldp_type1": ["mnist"]})
    done = project.snakemake(
        "resources/datasets/mnist/digest.json",
        env={"https_proxy": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"},
    )
    text = done.stdout + done.stderr
    assert done.returncode != 0
    assert "error: " in text
    assert "mnist" in text
    assert "mirror" in text
    assert "Traceback" not in text


def test_a_corrupted_file_is_named_and_nothing_is_lost(project: Project, tmp_path: Path) -> None:
    mirror = tmp_path / "mirror" / "mnist"
    mirror.mkdir(parents=True)
    for name in (
        "train-images-idx3-ubyte.gz",
        "train-labels-idx1-ubyte.gz",
        "t10k-images-idx3-ubyte.gz",
        "t10k-labels-idx1-ubyte.gz",
    ):
        (mirror / name).write_bytes(b"not the real file")
    project.configure(studies=["tldp_type1"], datasets={"tldp_type1": ["mnist"]}, mirror=str(mirror.parent))
    done = project.snakemake("resources/datasets/mnist/digest.json")
    text = done.stdout + done.stderr
    assert done.returncode != 0
    assert "Traceback" not in text
    assert any("error: " in line and "idx" in line and "SHA-256" in line for line in text.splitlines()), text
    assert (mirror / "train-images-idx3-ubyte.gz").exists()


DRY_RUN = """
import sys
from snakemake.cli import main
try:
    main(["--dry-run", "--quiet", "all", "--cores", "1"])
except SystemExit as end:
    print("exit", end.code)
print("heavy", sorted({"torch", "torchvision", "sklearn", "scipy"} & set(sys.modules)))
"""


def test_a_whole_dry_run_imports_no_torch(project: Project) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DRY_RUN],
        cwd=project.folder,
        env=project.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "exit 0" in done.stdout, done.stderr
    assert "heavy []" in done.stdout
