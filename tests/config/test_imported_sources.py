"""Python is the oracle of what a job depends on: whatever a stage calls on a small cell is among its sources."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorldp.files import sha256, write_arrays, write_json
from tensorldp_papers.run import code_digest as sources
from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.code_digest import source_parts
from tensorldp_papers.run.grid import Plan, make_plan
from tensorldp_papers.run.native import LOOPS, available
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.store import write_batch
from tensorldp_papers.run.study import study_files

SCRIPTS = Path(__file__).parents[2] / "workflow" / "scripts"
SMALL: dict[str, int] = {
    **dict.fromkeys(["epochs", "rounds", "every", "member_epochs"], 1),
    **dict.fromkeys(["steps", "draws"], 2),
    **dict.fromkeys(["candidates", "pairs", "users"], 4),
    **dict.fromkeys(["clients", "participants", "members"], 10),
    **dict.fromkeys(["lot", "batch_size"], 16),
    **{"limit": 40, "public_records": 100},
}


def small(cell: AnyCell) -> AnyCell:
    fields = {key: value for key, value in SMALL.items() if key in type(cell.training).model_fields}
    return replace(cell, training=type(cell.training).model_validate({**cell.training.model_dump(), **fields}))


def plan() -> Plan:
    """The studies as a user's quick run has them, with one seed and little to compute."""
    precision: Any = ("compiled",) if available(LOOPS) else ()
    found = make_plan(parse_settings({"studies": sorted(study_files()), "seeds": [0]}), precision)
    return replace(found, cells=tuple(map(small, found.cells)))


def chosen(cells: tuple[AnyCell, ...]) -> list[AnyCell]:
    """So few cells that each method, mechanism, network and attack is there; what perturbs nothing imports little."""
    words = {
        cell: {("method", cell.method), ("mechanism", cell.mechanism)}
        | {(key, value) for key, value in cell.factors.named().items() if key in ("model", "attack")}
        for cell in sorted(cells, key=lambda cell: not cell.private)
    }
    missing, found = set[tuple[str, str]]().union(*words.values()), list[AnyCell]()
    while missing:
        found.append(max(words, key=lambda cell: len(words[cell] & missing)))
        missing -= words[found[-1]]
    return found


def write_data(folder: Path, dataset: str) -> None:
    """A small split of the data set's shape, or representations of one."""
    rng = np.random.default_rng(0)
    y = np.arange(80) % (2 if dataset == "breast_cancer" else 10)
    x, kind, low, high = {
        "digits": (rng.integers(0, 17, (80, 8, 8), np.uint8), "image", "0", "16"),
        "breast_cancer": (rng.normal(size=(80, 30)).astype(np.float32), "tabular", "-inf", "inf"),
        "strokes": ((rng.normal(size=(80, 24)) + y[:, None]).astype(np.float16), "features", "-inf", "inf"),
    }[dataset]
    described = {"dataset": dataset, "classes": str(y.max() + 1), "low": low, "high": high, "kind": kind}
    for split in ("train", "test"):
        write_arrays(folder / f"{split}.safetensors", {"x": x, "y": y}, described)
    write_json(folder / "digest.json", {split: sha256(folder / f"{split}.safetensors") for split in ("train", "test")})
    y = np.arange(120) % 10
    public = (rng.normal(size=(120, 24)) + y[:, None]).astype(np.float32)
    letters = {"centre": np.zeros(24), "directions": np.eye(24)[:, :8], "scales": np.ones(8)}
    arrays: dict[str, Any] = {key: value.astype(np.float32) for key, value in letters.items()}
    arrays |= {
        "task_x": public,
        "task_y": y,
        "named_x": public,
        "named_y": y,
        "named_source": np.arange(120) % 20 // 10,
    }
    write_arrays(folder / "public.safetensors", arrays)


class Jobs:
    """Jobs on small cells in a folder, by what their sources are said to be: those of the same are one."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.plan = folder, plan()
        self.found: dict[tuple[str, ...], list[list[str]]] = {}
        self.parts: dict[tuple[str, ...], dict[Path, list[sources.Part]]] = {}
        self.results = ["--results", str(folder / "results")]
        for dataset in ("digits", "breast_cancer", "strokes"):
            write_data(folder / dataset, dataset)

    def add(self, cell: AnyCell | None, *commands: list[str]) -> None:
        """A job of scripts with their arguments."""
        paths = [SCRIPTS / f"{script}.py" for script, *_ in commands]
        stated = source_parts(tuple(paths), cell.names() if cell else None)
        alone = () if cell else (str(paths[0]),)
        key = (*sorted(str(path) for path in stated if sources._is_own(path)), *alone)
        job = self.found.setdefault(key, [])
        for path, parts in stated.items():
            self.parts.setdefault(key, {}).setdefault(path, []).extend(parts)
        job += [[str(path), *words] for path, (_, *words) in zip(paths, commands, strict=True)]

    def task(self, cell: AnyCell, code: str) -> dict[str, Any]:
        """A cell as its batch has it."""
        backbone = cell.factors.named().get("backbone")
        data = None if cell.dataset == "synthetic" else str(self.folder / (backbone or cell.dataset))
        task = {"settings": cell.settings(), "code": code, "data": data}
        shared = cell.plan.shares_models and code != "models"
        return {**task, "trainer": self.task(self.plan.trainer(cell), "models")} if shared else task

    def batch(self, task: dict[str, Any], out: Path) -> list[str]:
        return ["--batch", str(write_batch(self.folder, [task])), *self.results, "--out", str(out)]

    def scores(self, cell: AnyCell) -> None:
        """All stages of a cell up to its scores."""
        task, place = self.task(cell, "scores"), self.folder / cell.path
        folders = {"perturb": place / "released", "train": place / "models"}
        stages, given = list[list[str]](), list[str]()
        for stage in cell.plan.rules:
            if stage == "train_shared":
                stages.append([stage, *self.batch(task["trainer"], self.folder / "models.json")])
            else:
                stages.append([stage, *self.batch(task, folders.get(stage, place / "scores.json")), *given])
            if stage in folders:
                given += ["--released" if stage == "perturb" else "--models", str(folders[stage])]
        self.add(cell, *stages)

    def privacy(self, cell: AnyCell) -> None:
        self.add(cell, ["privacy", *self.batch(self.task(cell, "scores"), self.folder / cell.path / "privacy.json")])

    def run(self) -> list[set[tuple[str, str]]]:
        """What functions each job called, with their files."""
        jobs, out = self.folder / "jobs.json", self.folder / "imported"
        jobs.write_text(json.dumps([(commands, stated) for stated, commands in self.found.items()]))
        out.mkdir()
        program: list[str | Path] = [sys.executable, Path(__file__).with_name("watched.py"), sources.ROOT, jobs, out]
        done = subprocess.run(program, capture_output=True, text=True, cwd=self.folder)
        assert done.returncode == 0, done.stderr[-4000:]
        return [set(map(tuple, json.loads((out / f"{i}.json").read_text()))) for i in range(len(self.found))]


def missed_by(parts: dict[Path, list[sources.Part]], called: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The functions of the package that were called and are in no part that counts."""
    found = set()
    for file, function in called:
        path = Path(file)
        outer, _, inner = function.split(".<locals>")[0].rpartition(".")
        if sources._is_own(path) and not inner.startswith("<"):  # a comprehension runs with its module or class
            is_method, counted = bool(outer), parts.get(path, [])
            names = {part.name for part in sources._parts(path) if part.method == is_method and part.name != "import"}
            if not counted or (inner in names and inner not in {p.name for p in counted if p.method == is_method}):
                found.add((file, function))
    return found


@pytest.mark.slow
def test_whatever_a_stage_calls_is_among_its_sources(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)
    cells = chosen(jobs.plan.cells)
    for backbone in ("tanh_cnn", "lenet_tanh"):
        data = ["--data", str(tmp_path / "digits"), "--backbone", backbone, "--out", str(tmp_path / backbone)]
        jobs.add(None, ["extract_features", *data])
    for add in (jobs.scores, jobs.privacy):
        for cell in cells:
            add(cell)
    first = tmp_path / cells[0].path
    made = ["--scores", str(first / "scores.json"), "--privacy", str(first / "privacy.json")]
    jobs.add(None, ["collect", *made, *jobs.results, "--out", str(tmp_path / "tables"), "--scale", "quick"])
    missed = {}
    for (stated, commands), called in zip(jobs.found.items(), jobs.run(), strict=True):
        assert len(called) > 100
        if found := missed_by(jobs.parts[stated], called):
            missed[str(commands)] = found
    assert sorted(set().union(*missed.values())) == []
