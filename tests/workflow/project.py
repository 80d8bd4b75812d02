"""A copy of the workflow in a temporary folder, Snakemake in it, what it would compute, and what it left."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from tensorldp_papers.run import forked
from tensorldp_papers.run.stages import privacy_parts
from tensorldp_papers.run.store import Store, Task, read_tasks

ROOT = Path(__file__).parents[2]
SNAKEMAKE = Path(sys.executable).with_name("snakemake")
FORK = (sys.executable, "-IS", forked.__file__)  # of a process that has imported what takes seconds
CUT_OFF = (sys.executable, str(Path(__file__).with_name("offline.py")))
METRICS = "results/metrics.parquet"
TABLES = ("metrics.parquet", "series.parquet", "privacy/guarantees.csv", "privacy/audits.csv", "standing.csv")
OF_THE_MACHINE = ("seconds", "peak_mb", "commit")  # columns that two runs need not have in common
BATCHES = re.compile(r"stage (\w+) --batch (\S+)")
JOB = re.compile(r"^(?:local)?rule (\w+):\n((?: {4}.*\n)*)", re.MULTILINE)
SMALL: dict[str, Any] = {  # 7 cells in 2 batches, 13 jobs
    "studies": ["tldp_type1", "tldp_type2"],
    "seeds": [0, 1],
    "mechanisms": {"tldp_type1": ["none", "tldp-l", "laplace"], "tldp_type2": ["none", "tldp-g"]},
    "epsilons": {"tldp_type1": [1, 5], "tldp_type2": [1]},
    "training": {"tldp_type1": {"epochs": 1, "limit": 400}, "tldp_type2": {"epochs": 1, "limit": 400}},
}


@dataclass(frozen=True)
class Project:
    """A working folder with a config.yaml, and the folder of the workflow, which may be another one."""

    folder: Path
    home: Path

    def configure(self, **settings: Any) -> None:
        (self.folder / "config.yaml").write_text(yaml.safe_dump({"scale": "quick", "device": "cpu", **settings}))

    @property
    def environment(self) -> dict[str, str]:
        """For a process that runs here: no mirror of data, and the sources of this copy."""
        kept = {key: value for key, value in os.environ.items() if key != "TENSORLDP_MIRROR"}
        return kept | {"PYTHONPATH": str(self.home / "src")}

    @property
    def command(self) -> list[str]:
        snakefile = [] if self.home == self.folder else ["-s", os.path.relpath(self.home / "Snakefile", self.folder)]
        return [str(SNAKEMAKE), "--cores", "2", *snakefile]

    def snakemake(self, *arguments: str, before: tuple[str, ...] = (), **environment: str) -> tuple[int, str]:
        """The exit code of Snakemake here, and all that it says; `before` is a command that starts it."""
        started = self.environment | environment
        if before:
            started.pop(forked.SOCKET, None)
        done = subprocess.run(
            [*(before or FORK), *self.command, *arguments],
            cwd=self.folder,
            env=started,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        return done.returncode, done.stdout

    def ran(self, *arguments: str) -> str:
        """What Snakemake says of a run that succeeds."""
        code, text = self.snakemake(*(arguments or (METRICS,)))
        assert code == 0, text[-6000:]
        return text

    def failed(self, *arguments: str) -> tuple[list[str], str]:
        """The sentences about errors of a run that fails without a traceback, and all that it says."""
        code, text = self.snakemake(*arguments)
        assert code == 1, text[-6000:]
        assert "Traceback" not in text, text[-6000:]
        return [line for line in text.splitlines() if line.startswith("error: ")], text

    def table(self, name: str) -> pd.DataFrame:
        """A table of the results without what two runs need not have in common."""
        path = self.folder / "results" / name
        table = pd.read_csv(path) if name.endswith(".csv") else pd.read_parquet(path)
        return table.drop(columns=[*OF_THE_MACHINE], errors="ignore")

    def tables(self) -> dict[str, bytes]:
        """All that two runs must have in common, as bytes."""
        return {name: self.table(name).to_csv(index=False).encode() for name in TABLES}

    def metrics(self) -> pd.DataFrame:
        return pd.read_parquet(self.folder / METRICS)

    def stored(self) -> dict[str, int]:
        """The results of cells that are kept, and when each was written."""
        folder = self.folder / "results" / "cells"
        files = (path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in files}

    def leftovers(self) -> list[Path]:
        """Half-written files, and intermediate ones that a finished run does not keep."""
        results = self.folder / "results"
        return [*self.folder.rglob("*.part"), *results.glob("perturbed/*/*/*"), *results.glob("models/*/*/*")]

    def locks(self) -> list[Path]:
        return list((self.folder / ".snakemake" / "locks").glob("*.lock"))


def make_project(folder: Path, home: Path | None = None) -> Project:
    """A folder with a copy of the workflow, there or in `home`."""
    home = home or folder
    for name in ("workflow", "notebooks", "profiles", "envs", "src"):
        shutil.copytree(ROOT / name, home / name, ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    shutil.copy(ROOT / "Snakefile", home)
    folder.mkdir(parents=True, exist_ok=True)
    return Project(folder, home)


def copy_of(project: Project, folder: Path) -> Project:
    """A copy of a project's working folder."""
    shutil.copytree(project.folder, folder)
    return Project(folder, folder if project.home == project.folder else project.home)


def unlock_as_make_does(project: Project) -> None:
    command = [sys.executable, "-m", "tensorldp_papers.run.at_work"]
    subprocess.run(command, cwd=project.folder, env=project.environment, check=True, timeout=120)


@dataclass(frozen=True)
class Planned:
    """What a dry run lists: the rules of its jobs, the cells of each stage, and the results that are not there yet."""

    rules: set[str]
    jobs: dict[tuple[str, str], str]  # rule and wildcards: why Snakemake would run it
    cells: dict[str, set[str]]
    pending: set[str]  # cell/part


def plan_of(project: Project, *arguments: str) -> Planned:
    code, text = project.snakemake("--dry-run", "--printshellcmds", *arguments)
    assert code == 0, text
    jobs = {(rule, _said(lines, "wildcards")): _said(lines, "reason") for rule, lines in JOB.findall(text)}
    cells: dict[str, set[str]] = {}
    pending: set[str] = set()
    with contextlib.chdir(project.folder):
        store = Store(Path("results"))
        for stage, batch in sorted(set(BATCHES.findall(text))):
            for task in read_tasks(Path(batch)):
                cells.setdefault(stage, set()).add(task.cell.path)
                missing = [part for part in _parts(task, stage) if not _there(store, task, part)]
                pending |= {f"{task.cell.path}/{part}" for part in missing}
    return Planned({rule for rule, _ in jobs}, jobs, cells, pending)


def _said(lines: str, name: str) -> str:
    """What Snakemake says of a job under a name."""
    found = re.search(rf"^    {name}: (.*)$", lines, re.MULTILINE)
    return found[1] if found else ""


def _parts(task: Task, stage: str) -> list[str]:
    """The results that a stage writes of a cell."""
    kind = {"evaluate": "seed", "measure": "seed", "train_shared": "model"}.get(stage)
    if stage == "privacy":
        return list(privacy_parts(task))
    return [f"{kind}~{seed}" for seed in task.cell.seeds] if kind else []


def _there(store: Store, task: Task, part: str) -> bool:
    prepared = task.data is None or (task.data / "digest.json").exists()
    return prepared and store.path(task.cell.path, part, task.key).exists()


def calmly(project: Project, folder: Path, *beside: str) -> Project:
    """The results of a project's config, computed from its data by one process that nothing disturbs.

    Args:
        project: whose data sets and features are there.
        folder: for the results.
        beside: files beside config.yaml that are needed, such as plug-ins.
    """
    targets = (METRICS, "results/standing.csv")
    code, text = project.snakemake("--dry-run", "--printshellcmds", "--forceall", "--", *targets)
    assert code == 0, text
    data = ("resources", ".snakemake/batches", "results/features", "results/representations")
    for name in (*data, *beside):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(project.folder / name)
    plugins = ",".join(name.removesuffix(".py") for name in beside)
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("calmly.py")), str(project.home / "workflow" / "scripts")],
        input=text,
        cwd=folder,
        env=project.environment | {"TENSORLDP_PLUGINS": plugins, "TENSORLDP_DEVICE": "cpu", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return Project(folder, project.home)


@contextmanager
def edited(project: Project, texts: dict[str, str]) -> Iterator[None]:
    """Append texts to files of a project's workflow, then restore them."""
    paths = {project.home / name: text for name, text in texts.items()}
    kept = {path: path.read_bytes() for path in paths}
    try:
        for path, text in paths.items():
            path.write_bytes(kept[path] + text.encode())
        yield
    finally:
        for path, content in kept.items():
            path.write_bytes(content)


def result(project: Project, cell: str, part: str) -> dict[str, Any]:
    """What is kept of a cell, of which there is one such result."""
    (path,) = (project.folder / "results" / "cells" / cell).glob(f"{part}.*.json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


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


def until(condition: Callable[[], Any], seconds: float = 60.0, step: float = 0.02) -> bool:
    """Wait for a condition; whether it came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(step)
    return True


def nobody_works_in(folder: Path, seconds: float = 30) -> bool:
    """Whether all processes that work in a folder are gone in time."""
    return until(lambda: not alive(folder), seconds)


class Run:
    """Snakemake beside the tests, in a process group of its own."""

    def __init__(self, project: Project, *arguments: str) -> None:
        self.project = project
        self.said = project.folder / "said"
        self.earlier = self._logs()
        with self.said.open("wb") as output:
            self.process = subprocess.Popen(
                [*project.command, *arguments],
                cwd=project.folder,
                env=project.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                # where tests run in the background, the signal of Ctrl-C is ignored, and children inherit that
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )

    def _logs(self) -> set[Path]:
        return set(self.project.folder.glob(".snakemake/log/*.log"))

    @property
    def output(self) -> str:
        """What it says, and what only Snakemake's log says: a word on every job."""
        return "".join(path.read_text(errors="replace") for path in (self.said, *self._logs() - self.earlier))

    def reaches(self, *texts: str) -> str:
        """Wait until it says one of these before it ends; which one."""

        def said() -> list[str]:
            output = self.output
            return [text for text in texts if text in output]

        assert until(lambda: said() or self.process.poll() is not None, 240), self.output[-3000:]
        assert self.process.poll() is None, self.output[-3000:]
        return said()[0]

    def finishes(self, jobs: int) -> bool:
        """Wait until so many jobs have ended; False if the run ended first."""
        ended = until(lambda: self.process.poll() is not None or self.output.count("Finished jobid") >= jobs, 240)
        assert ended, self.output[-3000:]
        return self.process.poll() is None

    def send(self, number: int) -> None:
        os.killpg(self.process.pid, number)

    def end(self, seconds: float = 60) -> int:
        return self.process.wait(seconds)


@contextmanager
def started(project: Project, *arguments: str) -> Iterator[Run]:
    """A run that is gone at the end, whatever happens."""
    run = Run(project, *arguments)
    try:
        yield run
    finally:
        if run.process.poll() is None:
            run.send(signal.SIGKILL)
            run.end()
