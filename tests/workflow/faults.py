"""What the tests of faults share: a small project, Snakemake beside them, and what a run left."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
from conftest import SNAKEMAKE, Project, make_project

TARGET = "results/metrics.parquet"
CELL = "results/metrics/tldp_type2/digits/backbone=tanh_cnn+model=linear/tldp-g/epsilon~1.json"
SMALL: dict[str, Any] = {  # 8 cells, 34 jobs, 15 s
    "studies": ["tldp_type1", "tldp_type2", "tvg_sgd"],
    "seeds": [0, 1],
    "mechanisms": {"tldp_type1": ["none", "tldp-l", "laplace"], "tldp_type2": ["none", "tldp-g"], "tvg_sgd": ["idn"]},
    "datasets": {"tvg_sgd": ["digits"]},
    "epsilons": {"tldp_type1": [1, 5], "tldp_type2": [1], "tvg_sgd": [10]},
    "training": {"tldp_type1": {"epochs": 1}, "tldp_type2": {"epochs": 1}, "tvg_sgd": {"steps": 20}},
}
WARM = {"TENSORLDP_WARM": "1"}


def small(folder: Path) -> Project:
    """A copy with the small grid, whose warm process ends soon after its work."""
    folder.mkdir(parents=True)
    project = make_project(folder)
    project.configure(**SMALL)
    warm = folder / "workflow" / "warm" / "server.py"
    warm.write_text(warm.read_text().replace("IDLE_SECONDS = 20.0", "IDLE_SECONDS = 1.0"))
    return project


def copy_of(project: Project, folder: Path) -> Project:
    shutil.copytree(project.folder, folder)
    return Project(folder)


def rows(project: Project) -> bytes:
    """All that two runs must have in common, as bytes."""
    table = pd.read_parquet(project.folder / TARGET)
    return table.drop(columns=["seconds", "peak_mb", "commit"]).to_csv(index=False).encode()


def cell_rows(project: Project) -> Any:
    return json.loads((project.folder / CELL).read_text())["rows"]


def alive(folder: Path) -> list[str]:
    """Command lines of living processes that work in a folder or name it."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            where = os.readlink(entry / "cwd")  # noqa: PTH115
        except OSError:
            continue
        if int(entry.name) != os.getpid() and state not in "ZX" and (str(folder) in line or str(folder) in where):
            found.append(f"{entry.name} {line[:600]}")
    return found


def leftovers(project: Project) -> list[Path]:
    """Half-written files, and intermediate ones that a finished run does not keep."""
    results = project.folder / "results"
    return [
        *project.folder.rglob("*.part"),
        *results.glob("perturbed/**/*.safetensors"),
        *results.glob("models/**/*.safetensors"),
    ]


def until(condition: Callable[[], Any], seconds: float = 60.0, step: float = 0.02) -> bool:
    """Wait for a condition; whether it came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(step)
    return True


@contextmanager
def started(project: Project, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Snakemake in a process group of its own, which is gone at the end; `output` has what it says."""
    environment = {key: value for key, value in os.environ.items() if key != "TENSORLDP_MIRROR"} | WARM
    with (project.folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [str(SNAKEMAKE), "--cores", "2", *arguments],
            cwd=project.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)


def output(project: Project) -> str:
    return (project.folder / "output").read_text(errors="replace")


def after_jobs(project: Project, process: subprocess.Popen[bytes], count: int) -> bool:
    """Wait until so many jobs have finished; False if the run ended first."""
    assert until(lambda: process.poll() is not None or output(project).count("Finished jobid") >= count, 120)
    return process.poll() is None


def locks(project: Project) -> list[Path]:
    return list((project.folder / ".snakemake" / "locks").glob("*.lock"))


def finish(project: Project, *arguments: str) -> str:
    done = project.snakemake(TARGET, *arguments, env=WARM, timeout=240)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout + done.stderr


def sentences(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("error: ")]
