"""A copy of the workflow in a temporary folder, and Snakemake in it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SNAKEMAKE = Path(sys.executable).with_name("snakemake")
CUT_OFF = (sys.executable, str(Path(__file__).with_name("offline.py")))

REDUCED: dict[str, Any] = {
    "scale": "quick",
    "studies": ["tldp_type1", "tldp_type2", "tldp_type3"],
    "seeds": [0, 1],
    "mechanisms": {
        "tldp_type1": ["none", "tldp-l", "laplace"],
        "tldp_type2": ["none", "tldp-g"],
        "tldp_type3": ["none", "tldp-l"],
    },
    "epsilons": {"tldp_type1": [1, 5], "tldp_type2": [1], "tldp_type3": [100]},
    "training": {"tldp_type1": {"epochs": 1}, "tldp_type2": {"epochs": 1}, "tldp_type3": {"rounds": 2}},
    "device": "cpu",
}


@dataclass
class Project:
    """A folder with a copy of the workflow."""

    folder: Path
    cut_off: bool = False  # whether its runs have no network

    def configure(self, **changes: Any) -> None:
        """Write config.yaml: the reduced grid with changes."""
        (self.folder / "config.yaml").write_text(yaml.safe_dump({**REDUCED, **changes}))

    def snakemake(
        self, *arguments: str, cores: int = 2, env: dict[str, str] | None = None, timeout: float = 600
    ) -> subprocess.CompletedProcess[str]:
        """Run Snakemake here, on this copy's own sources; the result has stdout and stderr as text."""
        return subprocess.run(
            [*(CUT_OFF if self.cut_off else ()), str(SNAKEMAKE), "--cores", str(cores), *arguments],
            cwd=self.folder,
            env=self.environment() | (env or {}),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def environment(self) -> dict[str, str]:
        """For a process that runs here: no mirror of data, and the sources of this copy."""
        kept = {key: value for key, value in os.environ.items() if key != "TENSORLDP_MIRROR"}
        return kept | {"PYTHONPATH": str(self.folder / "src")}

    def planned(self, *arguments: str) -> list[tuple[str, str]]:
        """(rule, wildcards) of every job that a dry run would execute."""
        done = self.snakemake("--dry-run", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        text = done.stdout + done.stderr
        jobs = []
        for block in re.split(r"\n(?=\[|(?:local)?rule )", text):
            rule = re.search(r"^(?:local)?rule (\w+):", block, re.MULTILINE)
            if rule:
                wildcards = re.search(r"^    wildcards: (.*)$", block, re.MULTILINE)
                jobs.append((rule.group(1), wildcards.group(1) if wildcards else ""))
        return sorted(jobs)


def make_project(folder: Path) -> Project:
    """Copy the workflow into `folder` with the reduced config."""
    for name in ("workflow", "notebooks", "profiles", "envs", "src"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.egg-info"))
    shutil.copy(ROOT / "Snakefile", folder)
    project = Project(folder)
    project.configure()
    return project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A fresh copy, nothing run."""
    return make_project(tmp_path)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy in which the reduced default run has finished, without a network where it can be cut off.

    Tests must leave it as they found it.
    """
    project = make_project(tmp_path_factory.mktemp("finished"))
    project.cut_off = subprocess.run([*CUT_OFF, "true"], capture_output=True, check=False).returncode == 0
    done = project.snakemake()
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return project


@pytest.fixture(scope="session")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """An undisturbed run of the small grid. Tests copy it."""
    from faults import leftovers, ran, small  # which import this module

    project = small(tmp_path_factory.mktemp("faults") / "calm")
    ran(project)
    assert not leftovers(project)
    return project
