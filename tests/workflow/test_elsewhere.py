"""The workflow from another working directory, as a module of another workflow, and in folders with any name."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pandas as pd
import pytest
import yaml
from conftest import REDUCED, SNAKEMAKE, make_project

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("elsewhere")]

CONFIG = {
    **REDUCED,
    "studies": ["tldp_type2"],
    "seeds": [0],
    "mechanisms": {"tldp_type2": ["none", "tldp-g"]},
    "epsilons": {"tldp_type2": [1]},
    "training": {"tldp_type2": {"epochs": 1}},
}
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


def snakemake(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [str(SNAKEMAKE), "--cores", "2", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout + done.stderr


def test_it_is_a_module_of_another_workflow_in_folders_with_spaces_and_umlauts(tmp_path: Path) -> None:
    make_project(tmp_path / "über alles" / "the workflow")
    mine = tmp_path / "über alles" / "mine"
    mine.mkdir()
    (mine / "Snakefile").write_text(OUTER)
    (mine / "config.yaml").write_text(yaml.safe_dump({"tensorldp": CONFIG}))
    snakemake(mine, "--configfile", "config.yaml")
    assert set(pd.read_csv(mine / "mine.txt")["mechanism"]) == {"none", "tldp-g"}
    assert len(pd.read_parquet(mine / "results" / "studies" / "tldp_type2" / "metrics.parquet"))
    assert not (tmp_path / "über alles" / "the workflow" / "results").exists()


def test_it_runs_in_another_working_directory(tmp_path: Path) -> None:
    project = make_project(tmp_path / "the workflow")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    arguments = ("-s", str(project.folder / "Snakefile"), "--directory", str(mine), "--", "results/claims.csv")
    snakemake(project.folder, *arguments)
    assert (mine / "results" / "claims.csv").exists()
    assert not (project.folder / "results" / "metrics.parquet").exists()
    assert "Nothing to be done" in snakemake(tmp_path, *arguments)
