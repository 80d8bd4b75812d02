"""All studies on small data: five of them run in spite of everything, and all are computed by one process."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from outside import OWN, write_outside
from project import (
    CUT_OFF,
    METRICS,
    Project,
    alive,
    calmly,
    make_project,
    nobody_works_in,
    started,
    unlock_as_make_does,
)

TYPE1 = "tldp_type1"
EVERYTHING: dict[str, Any] = {
    "seeds": [0, 1],
    "plugins": ["my_code"],
    "own_datasets": OWN,
    "studies": [
        *("tldp_type1", "tldp_type2", "tldp_type3"),
        *("tvg_sgd", "tvg_features", "tvg_testing", "tvg_covariance"),
        *("pldp_synthetic", "pldp_fl", "latent", "reconstruction", "frontier"),
    ],
    "datasets": {
        "tldp_type1": ["my_digits"],
        "tldp_type2": ["digits"],
        "tldp_type3": ["digits"],
        "pldp_fl": ["people"],
        "tvg_sgd": ["digits"],
        "tvg_covariance": ["digits"],
    },
    "factors": {
        "tldp_type3": {"where": ["user"]},
        "pldp_fl": {"model": ["two_layers"], "eps": ["e3"], "tau": ["t1"]},
        "pldp_synthetic": {"eps": ["same"], "tau": ["t1"]},
        "reconstruction": {"attack": ["tensor", "likelihood"], "m": [5000]},
        "frontier": {"private": ["record"]},
    },
    "mechanisms": {
        "tldp_type1": ["none", "tldp-l", "laplace", "half-laplace"],
        "tldp_type2": ["none", "tldp-g", "half-laplace"],
        "tldp_type3": ["none", "tldp-l", "half-laplace"],
        "tvg_sgd": ["none", "idn"],
        "tvg_features": ["none", "idn"],
        "tvg_testing": ["none", "udn", "half-laplace"],
        "tvg_covariance": ["idn", "udn"],
        "pldp_synthetic": ["pdpm"],
        "pldp_fl": ["none", "pdpm", "half-laplace"],
        "reconstruction": ["none", "laplace", "tldp-l"],
        "frontier": ["none", "privunit"],
    },
    "epsilons": {
        "tldp_type1": [1, 5],
        "tldp_type2": [1],
        "tldp_type3": [100],
        "latent": [0.5],
        "pldp_fl": [1],
        **{study: [1] for study in ("tvg_sgd", "tvg_features", "tvg_testing", "tvg_covariance")},
        "pldp_synthetic": [1],
        "reconstruction": [1],
        "frontier": [1],
    },
    "training": {
        "tldp_type1": {"epochs": 1, "limit": 200},
        "tldp_type2": {"epochs": 1, "limit": 200},
        "tldp_type3": {"rounds": 1, "limit": 200},
        "tvg_sgd": {"steps": 10},
        "tvg_features": {"epochs": 1, "limit": 200},
        "tvg_testing": {"epochs": 1, "limit": 100, "test_limit": 50},
        "pldp_fl": {"rounds": 2, "every": 1, "clients": 4, "limit": 100},
        "latent": {"epochs": 1, "limit": 400},
        "reconstruction": {"draws": 1, "epochs": 1, "victims": 2},
    },
}
RUN: dict[str, Any] = {  # what Snakemake runs of it: a study of each kind
    **EVERYTHING,
    "studies": ["tldp_type1", "tldp_type2", "tldp_type3", "tvg_testing", "tvg_covariance"],
}
MADE = (METRICS, "results/series.parquet", "results/standing.csv", "results/figures/tldp_type1.svg")
STAGES = {"rule perturb:", "rule train:", "rule evaluate:"}
KILLED = ("Building DAG of jobs", "rule train:")  # weekly tests kill at any time


def everything_in(base: Path) -> Project:
    """What `RUN` asks for, in a folder beside that of the workflow, by a run that was disturbed on its way."""
    project = make_project(base / "it's über alles", base / "the workflow")
    write_outside(project.folder)
    project.configure(**RUN)
    if Path("/proc/self/stat").exists():
        disturb(project)
    cut_off = subprocess.run([*CUT_OFF, "true"], capture_output=True, check=False).returncode == 0
    code, text = project.snakemake("--", *MADE, before=CUT_OFF if cut_off else ())
    assert code == 0, text[-6000:]
    assert "IncompleteFilesException" not in text
    assert f"Finished in {project.folder}." in text
    assert re.search(r"^[\w ,]+: (\d+) of \1 cells; \d+ new, \d+ kept$", text, re.MULTILINE), text[-6000:]
    assert not STAGES & {*text.splitlines()}
    return project


def disturb(project: Project) -> None:
    """Kill a run while it plans and while it works, start a second one beside it, and press Ctrl-C."""
    kept: dict[str, int] = {}
    for phase in KILLED:
        with started(project, METRICS) as run:
            run.reaches(phase)
            time.sleep(0.5)
            run.send(signal.SIGKILL)
            run.end()
            assert "Traceback" not in run.output
        assert nobody_works_in(project.folder, 10), alive(project.folder)
        kept = as_before(project, kept)
        if phase == KILLED[-1]:  # what a user sees: the message names the option that is typed then
            code, text = project.snakemake(METRICS)
            assert code != 0
            assert "cannot be locked" in text
            assert "--unlock" in text
        if project.locks():
            project.ran("--unlock")
        assert not project.locks()
    with started(project, METRICS) as run:
        assert run.reaches("Job stats:")
        run.send(signal.SIGSTOP)  # holds its locks for as long as the second one needs
        code, text = project.snakemake(METRICS)
        unlock_as_make_does(project)
        assert project.locks()
        run.send(signal.SIGCONT)
        assert code != 0
        assert "no other Snakemake process" in text
        assert "Traceback" not in text
        assert run.reaches("Finished jobid")
        assert run.reaches("rule evaluate:")
        time.sleep(0.3)  # what is interrupted as it starts may be finished without a record of Snakemake
        run.send(signal.SIGINT)  # what a terminal sends
        assert run.end() in (1, 130, -signal.SIGINT)
    assert not project.locks()
    assert not list(project.folder.rglob("*.part"))
    assert nobody_works_in(project.folder), alive(project.folder)
    assert as_before(project, kept)


def as_before(project: Project, kept: dict[str, int]) -> dict[str, int]:
    """The results that are there: what was finished is not computed again."""
    after = project.stored()
    assert {name: after[name] for name in kept} == kept
    return after


def calmly_in(folder: Path, project: Project) -> Project:
    """The results of all studies, computed from a project's data by one process."""
    project.configure(**EVERYTHING)
    code, text = project.snakemake("--dry-run", "--printshellcmds", "--", METRICS)
    assert code == 0, text
    data = sorted(set(re.findall(r"(?:resources/datasets|results/(?:features|representations))/\S+/digest.json", text)))
    project.ran("--", *data)
    calm = calmly(project, folder, "my_code.py")
    project.configure(**RUN)
    return calm
