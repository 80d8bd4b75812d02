"""What the tests of runs share: a small grid, Snakemake beside them, what it would compute, and what it left."""

from __future__ import annotations

import contextlib
import json
import os
import re
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

from tensorldp_papers.run.stages import privacy_parts
from tensorldp_papers.run.store import Store, Task, read_tasks

TARGET = "results/metrics.parquet"
CELL = "results/metrics/tldp_type2/digits/backbone=tanh_cnn+model=linear/tldp-g/epsilon~1.json"
SMALL: dict[str, Any] = {  # 9 cells in 3 batches, 17 jobs
    "studies": ["tldp_type1", "tldp_type2", "tvg_sgd"],
    "seeds": [0, 1],
    "mechanisms": {"tldp_type1": ["none", "tldp-l", "laplace"], "tldp_type2": ["none", "tldp-g"], "tvg_sgd": ["idn"]},
    "datasets": {"tvg_sgd": ["digits"]},
    "epsilons": {"tldp_type1": [1, 5], "tldp_type2": [1], "tvg_sgd": [10]},
    "training": {"tldp_type1": {"epochs": 1}, "tldp_type2": {"epochs": 1}, "tvg_sgd": {"steps": 20}},
}
TABLES = ("metrics.parquet", "series.parquet", "privacy/guarantees.csv", "privacy/audits.csv", "standing.csv")
OF_THE_MACHINE = ("seconds", "peak_mb", "commit")  # columns that two runs need not have in common
BATCHES = re.compile(r"stage (\w+) --batch (\S+)")


def small(folder: Path, **changes: Any) -> Project:
    """A copy with the small grid."""
    folder.mkdir(parents=True)
    project = make_project(folder)
    project.configure(**SMALL | changes)
    return project


def copy_of(project: Project, folder: Path) -> Project:
    shutil.copytree(project.folder, folder)
    return Project(folder)


def ran(project: Project, *arguments: str) -> str:
    """What Snakemake says of a run that succeeds."""
    done = project.snakemake(*(arguments or (TARGET,)))
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout + done.stderr


def tables(project: Project) -> dict[str, bytes]:
    """All that two runs must have in common, as bytes."""
    found = {}
    for name in TABLES:
        path = project.folder / "results" / name
        table = pd.read_csv(path) if name.endswith(".csv") else pd.read_parquet(path)
        found[name] = table.drop(columns=[*OF_THE_MACHINE], errors="ignore").to_csv(index=False).encode()
    return found


def stored(project: Project) -> dict[str, int]:
    """The results of cells that are kept, and when each was written."""
    folder = project.folder / "results" / "cells"
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in files}


def batches(project: Project, *arguments: str) -> list[tuple[str, Task]]:
    """The cells of the jobs that a dry run lists, each with the stage."""
    done = project.snakemake("--dry-run", "--printshellcmds", *(arguments or (TARGET,)))
    assert done.returncode == 0, done.stdout + done.stderr
    jobs = sorted(set(BATCHES.findall(done.stdout + done.stderr)))
    return [(stage, task) for stage, batch in jobs for task in read_tasks(project.folder / batch)]


def cells(project: Project, stage: str, *arguments: str) -> set[str]:
    """The cells of a stage's jobs that a dry run lists."""
    return {task.cell.path for found, task in batches(project, *arguments) if found == stage}


def result(project: Project, cell: str, part: str) -> dict[str, Any]:
    """What is kept of a cell, of which there is one such result."""
    (path,) = (project.folder / "results" / "cells" / cell).glob(f"{part}.*.json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def pending(project: Project, *arguments: str) -> set[str]:
    """The results that a run would compute, as `cell/part`: what the jobs of a dry run do not find in the store."""
    found: set[str] = set()
    with contextlib.chdir(project.folder):
        store = Store(Path("results"))
        for stage, task in batches(project, *arguments):
            missing = [part for part in parts_of(task, stage) if not there(store, task, part)]
            found.update(f"{task.cell.path}/{part}" for part in missing)
    return found


def parts_of(task: Task, stage: str) -> list[str]:
    """The results that a stage writes of a cell."""
    kind = {"evaluate": "seed", "measure": "seed", "train_shared": "model"}.get(stage)
    if stage == "privacy":
        return list(privacy_parts(task))
    return [f"{kind}~{seed}" for seed in task.cell.seeds] if kind else []


def there(store: Store, task: Task, part: str) -> bool:
    prepared = task.data is None or (task.data / "digest.json").exists()
    return prepared and store.path(task.cell.path, part, task.key).exists()


@contextmanager
def edited(project: Project, texts: dict[str, str]) -> Iterator[None]:
    """Append texts to files of a project, then restore them."""
    paths = {project.folder / name: text for name, text in texts.items()}
    kept = {path: path.read_bytes() for path in paths}
    try:
        for path, text in paths.items():
            path.write_bytes(kept[path] + text.encode())
        yield
    finally:
        for path, content in kept.items():
            path.write_bytes(content)


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
    return [*project.folder.rglob("*.part"), *results.glob("perturbed/*/*/*"), *results.glob("models/*/*/*")]


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
    with (project.folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [str(SNAKEMAKE), "--cores", "2", *arguments],
            cwd=project.folder,
            env=project.environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            # where tests run in the background, the signal of Ctrl-C is ignored, and children inherit that
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
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
    assert until(lambda: process.poll() is not None or output(project).count("Finished jobid") >= count, 240)
    return process.poll() is None


def locks(project: Project) -> list[Path]:
    return list((project.folder / ".snakemake" / "locks").glob("*.lock"))


def sentences(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("error: ")]
