"""Lint, dry runs of every scale, and mistakes of a user."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import ROOT, Project

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("plans")]


def test_snakemake_lint_is_clean(project: Project) -> None:
    done = project.snakemake("--lint")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("scale", ["quick", "desk", "paper"])
def test_the_default_config_has_a_plan_at_every_scale(project: Project, scale: str) -> None:
    """Of every study, arm and data set; above `quick` at two of its epsilons, as plans of all take minutes."""
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    if scale != "quick":
        config["epsilons"] = {study: [1, 100] for study in config["studies"]}
    (project.folder / "config.yaml").write_text(yaml.safe_dump(config))
    jobs = project.planned("--config", f"scale={scale}")
    assert sum(rule == "evaluate" for rule, _ in jobs) > 90
    assert {f"figure_{study}" for study in config["studies"]} <= {rule for rule, _ in jobs}
    assert ("report", "") in jobs


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
        [sys.executable, "-c", DRY_RUN], cwd=project.folder, capture_output=True, text=True, check=False
    )
    assert "exit 0" in done.stdout, done.stderr
    assert "heavy []" in done.stdout
