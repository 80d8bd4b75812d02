"""Python is the oracle of what a job depends on: whatever a stage imports on a small cell is among its sources."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tensorldp.files import sha256, write_arrays, write_json
from tensorldp_papers.run import code_digest as sources
from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.code_digest import source_files
from tensorldp_papers.run.grid import Plan, make_plan
from tensorldp_papers.run.native import LOOPS, available
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.store import write_batch
from tensorldp_papers.run.study import study_files

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "workflow" / "scripts"
SMALL: dict[str, Any] = {
    "limit": 40,
    "epochs": 1,
    "rounds": 1,
    "steps": 2,
    "every": 1,
    "lot": 16,
    "batch_size": 16,
    "clients": 10,
    "public_records": 100,
    "participants": 10,
    "candidates": 4,
    "draws": 2,
    "pairs": 4,
    "users": 4,
    "members": 10,
    "member_epochs": 1,
}


def plan() -> Plan:
    """The studies as a user's quick run has them, with one seed and little to compute."""
    settings = parse_settings({"studies": sorted(study_files()), "seeds": [0]})
    precision: Any = ("compiled",) if available(LOOPS) else ()
    found = make_plan(settings, precision)
    return replace(found, cells=tuple(small(cell) for cell in found.cells))


def small(cell: AnyCell) -> AnyCell:
    fields = {key: value for key, value in SMALL.items() if key in type(cell.training).model_fields}
    return replace(cell, training=type(cell.training).model_validate({**cell.training.model_dump(), **fields}))


def chosen(cells: tuple[AnyCell, ...]) -> list[AnyCell]:
    """So many cells that each method, mechanism, network and attack is there."""
    found: list[AnyCell] = []
    seen: set[str] = set()
    for cell in sorted(cells, key=lambda cell: not cell.private):  # what perturbs nothing imports little
        factors = cell.factors.named()
        words = {cell.method, cell.mechanism, factors.get("model", ""), factors.get("attack", "")}
        if not words <= seen:
            found.append(cell)
            seen |= words
    return found


def write_data(folder: Path, dataset: str) -> None:
    """A small split of the data set's shape, or representations of one."""
    rng = np.random.default_rng(0)
    y = np.arange(80) % (2 if dataset == "breast_cancer" else 10)
    kinds: dict[str, tuple[NDArray[Any], str, str, str]] = {
        "digits": (rng.integers(0, 17, (80, 8, 8), np.uint8), "image", "0", "16"),
        "breast_cancer": (rng.normal(size=(80, 30)).astype(np.float32), "tabular", "-inf", "inf"),
        "strokes": ((rng.normal(size=(80, 24)) + y[:, None]).astype(np.float16), "features", "-inf", "inf"),
    }
    x, kind, low, high = kinds[dataset]
    described = {"dataset": dataset, "classes": str(y.max() + 1), "low": low, "high": high, "kind": kind}
    for split in ("train", "test"):
        write_arrays(folder / f"{split}.safetensors", {"x": x, "y": y}, described)
    write_json(folder / "digest.json", {split: sha256(folder / f"{split}.safetensors") for split in ("train", "test")})
    if dataset == "strokes":
        public = (rng.normal(size=(120, 24)) + np.arange(120)[:, None] % 10).astype(np.float32)
        fit: dict[str, NDArray[Any]] = {"centre": np.zeros(24), "directions": np.eye(24)[:, :8], "scales": np.ones(8)}
        letters = {key: value.astype(np.float32) for key, value in fit.items()}
        y, source = np.arange(120) % 10, np.arange(120) % 20 // 10
        named: dict[str, NDArray[Any]] = {"named_x": public, "named_y": y, "named_source": source}
        arrays: dict[str, NDArray[Any]] = {"task_x": public, "task_y": y, **letters, **named}
        write_arrays(folder / "public.safetensors", arrays)


class Jobs:
    """Jobs on small cells in a folder, each with what its sources are said to be."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.plan = folder, plan()
        self.commands: list[list[list[str]]] = []
        self.stated: list[set[str]] = []
        for dataset in ("digits", "breast_cancer", "strokes"):
            write_data(folder / dataset, dataset)

    def add(self, cell: AnyCell | None, *commands: list[str]) -> None:
        """A job of scripts with their arguments."""
        paths = [str(SCRIPTS / f"{script}.py") for script, *_ in commands]
        self.commands.append([[path, *words[1:]] for path, words in zip(paths, commands, strict=True)])
        found = source_files(tuple(map(Path, paths)), cell.names() if cell else None)
        self.stated.append({str(path) for path in found if sources._is_own(path)})

    def features(self, backbone: str) -> None:
        """The stage that extracts features."""
        out = ["--out", str(self.folder / backbone)]
        self.add(None, ["extract_features", "--data", str(self.folder / "digits"), "--backbone", backbone, *out])

    def task(self, cell: AnyCell, code: str) -> dict[str, Any]:
        """A cell as its batch has it."""
        backbone = cell.factors.named().get("backbone")
        data = None if cell.dataset == "synthetic" else str(self.folder / (backbone or cell.dataset))
        return {"settings": cell.settings(), "code": code, "data": data}

    def cell(self, cell: AnyCell) -> None:
        """All stages of a cell."""
        task = self.task(cell, "scores")
        results = ["--results", str(self.folder / "results")]
        first: list[list[str]] = []
        if cell.plan.shares_models:
            task["trainer"] = self.task(self.plan.trainer(cell), "models")
            shared = str(write_batch(self.folder, [task["trainer"]]))
            first = [["train_shared", "--batch", shared, "--out", str(self.folder / "models.json"), *results]]
        batch, place = ["--batch", str(write_batch(self.folder, [task]))], self.folder / cell.path
        folders = {"perturb": place / "released", "train": place / "models"}
        given: list[str] = []
        for stage in cell.plan.rules:
            out = ["--out", str(folders.get(stage, place / "scores.json"))]
            if stage != "train_shared":
                first.append([stage, *batch, *given, *out, *results])
            if stage in folders:
                given += ["--released" if stage == "perturb" else "--models", str(folders[stage])]
        self.add(cell, *first)
        self.add(cell, ["privacy", *batch, "--out", str(place / "privacy.json"), *results])

    def run(self) -> list[set[str]]:
        """What each job imported."""
        (self.folder / "jobs.json").write_text(json.dumps(self.commands))
        out = self.folder / "imported"
        out.mkdir()
        program = [
            sys.executable,
            str(Path(__file__).with_name("watched.py")),
            str(self.folder / "jobs.json"),
            str(out),
        ]
        done = subprocess.run(program, capture_output=True, text=True, cwd=self.folder)
        assert done.returncode == 0, done.stderr[-4000:]
        return [set(json.loads((out / f"{i}.json").read_text())) for i in range(len(self.commands))]


@pytest.mark.slow
def test_whatever_a_stage_imports_is_among_its_sources(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)
    cells = chosen(jobs.plan.cells)
    for backbone in ("tanh_cnn", "lenet_tanh"):
        jobs.features(backbone)
    for cell in cells:
        jobs.cell(cell)
    first = tmp_path / cells[0].path
    made = ["--scores", str(first / "scores.json"), "--privacy", str(first / "privacy.json")]
    folders = ["--results", str(tmp_path / "results"), "--out", str(tmp_path / "tables")]
    jobs.add(None, ["collect", *made, *folders, "--scale", "quick"])
    assert {cell.method for cell in cells} == {cell.method for cell in jobs.plan.cells}
    missed = {}
    for commands, stated, imported in zip(jobs.commands, jobs.stated, jobs.run(), strict=True):
        assert len(imported) > 20
        if imported - stated:
            missed[str(commands)] = imported - stated
    assert missed == {}
