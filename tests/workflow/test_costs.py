"""What large runs cost: seconds and memory of a plan, memory of a job."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from project import Project, make_project

pytestmark = [pytest.mark.workflow, pytest.mark.usefixtures("forks"), pytest.mark.weekly]

SECONDS, MEGABYTES = 30, 300  # on a machine that has other work; 6 s on one that has none


def test_a_grid_of_ten_thousand_cells_is_planned_in_seconds(tmp_path: Path) -> None:
    project = make_project(tmp_path / "large")
    project.configure(
        studies=["tvg_covariance"],
        seeds=[0],
        mechanisms={"tvg_covariance": ["idn", "udn"]},
        epsilons={"tvg_covariance": [1 + i / 1000 for i in range(5000)]},
        cells_per_job=100,
    )
    start, said = time.monotonic(), project.folder / "said"

    def has_begun() -> bool:
        return any("Execute 1 jobs" in log.read_text() for log in project.folder.glob(".snakemake/log/*.log"))

    with said.open("w") as output:
        process = subprocess.Popen(
            [*project.command, "--", "resources/datasets/breast_cancer/digest.json", "metrics"],
            cwd=project.folder,
            env=project.environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            while not has_begun() and process.poll() is None:
                assert time.monotonic() < start + 2 * SECONDS
                time.sleep(0.05)
            seconds = time.monotonic() - start
            # what `wait4` tells counts the memory of this process too, from which that one was forked
            status = Path(f"/proc/{process.pid}/status").read_text()
        finally:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert re.search(r"^measure +100$", said.read_text(), re.MULTILINE)
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) / 1024
    assert seconds < SECONDS, f"the first job was there after {seconds:.1f} s"
    assert peak < MEGABYTES, f"Snakemake took {peak:.0f} MB"


def peaks(project: Project, cells: int) -> dict[str, float]:
    """Megabytes that the stages of a batch of so many cells take at most."""
    project.configure(
        studies=["tldp_type1"],
        seeds=[0],
        own_datasets={"large": {"path": "large.parquet", "label": "label", "range": [0, 1], "test": 0.9, "seed": 1}},
        datasets={"tldp_type1": ["large"]},
        factors={"tldp_type1": {"model": ["mlp"]}},
        mechanisms={"tldp_type1": ["laplace"]},
        epsilons={"tldp_type1": list(range(1, 1 + cells))},
        training={"tldp_type1": {"epochs": 1}},
    )
    noted = project.folder / f"times of {cells}"
    code, text = project.snakemake("results/batches/tldp_type1/large/0/scores.json", TENSORLDP_TIMES=str(noted))
    assert code == 0, text[-4000:]
    assert len({name.rpartition("/")[0] for name in project.stored()}) == cells
    assert not project.leftovers()  # the releases and the models are gone
    found = map(json.loads, noted.read_text().splitlines())
    return {note["script"]: note["peak_mb"] for note in found if note["script"] in ("perturb", "train", "evaluate")}


def test_the_memory_of_a_job_does_not_grow_with_its_cells(tmp_path: Path) -> None:
    few, many = make_project(tmp_path / "few"), make_project(tmp_path / "many")
    table = pd.DataFrame(np.random.default_rng(0).random((3000, 784), dtype=np.float32)).assign(
        label=np.arange(3000) % 2
    )
    table.columns = table.columns.map(str)  # a release takes 9 MB
    for project in (few, many):
        table.to_parquet(project.folder / "large.parquet")
    of_few, of_many = peaks(few, 3), peaks(many, 30)
    assert of_few.keys() == {"perturb", "train", "evaluate"}
    for stage, peak in of_few.items():
        assert of_many[stage] < 1.1 * peak, f"{stage}: {peak:.0f} MB for 3 cells, {of_many[stage]:.0f} MB for 30"
