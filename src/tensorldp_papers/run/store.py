"""Results by key: of every cell one file for each seed, one for its guarantee and one for its audit.

A key is a digest of the settings, the code and the data that a result was made with, and is part of the file's name:
what has the right key is not computed again, whatever job it came from.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tensorldp.errors import InputError
from tensorldp.files import read_json, write_json, write_text
from tensorldp_papers.run.cell import AnyCell, parse_cell
from tensorldp_papers.run.sealed import file_fits, fits, read_sealed, write_sealed

LOST = ".lost"  # beside the list of a batch's results: when one of them was found missing
CONTENTS = "contents.json"  # of a folder of releases or models: what is in it; written last
ROOT_TABLES = ("metrics.parquet", "series.parquet", "standing.csv", "claims.csv")
TABLES = (*ROOT_TABLES, "privacy/*.csv", "tables/*.csv", "studies/*/*.*", "pictures/*.safetensors")
Manifest = dict[str, dict[str, str]]  # of a batch: cell: part: key


def digest(*texts: str) -> str:
    """Returns a short text that changes with any of these."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def content_of(data: Path) -> str:
    """Returns a text that changes with the records in a folder."""
    return json.dumps(read_json(data / "digest.json"), sort_keys=True)


def _code_file(results: Path, code: str) -> Path:
    return results / "code" / f"{code}.json"


def note_code(results: Path, code: str, listing: Callable[[], Mapping[str, str]]) -> None:
    """Notes of which files a digest of code is made, each with its own digest, once."""
    path = _code_file(results, code)
    if not path.exists():
        write_json(path, dict(listing()))


def code_list(results: Path, code: str) -> dict[str, str] | None:
    """Returns what `note_code` noted, or None where it is gone."""
    path = _code_file(results, code)
    return dict(read_json(path)) if path.exists() else None


@dataclass(frozen=True)
class Task:
    """A cell as a job computes it.

    Attributes:
        cell: with the seeds that the run wants.
        settings: the same as JSON.
        code: the digest of the code that computes it.
        data: the folder of its records, if it reads some.
        weights: the folder of pretrained weights, if it starts from them.
        trainer: the cell whose models it is scored with, where cells share them.
    """

    cell: AnyCell
    settings: dict[str, Any]
    code: str
    data: Path | None = None
    weights: Path | None = None
    trainer: Task | None = None

    @cached_property
    def content(self) -> str:
        """Returns the digest of its records."""
        return content_of(self.data) if self.data else ""

    @cached_property
    def key(self) -> str:
        """Returns the key of its results, which settings, code and data change; its seeds do not."""
        settings = {key: value for key, value in self.settings.items() if key != "seeds"}
        shared = self.trainer.key if self.trainer else ""
        return digest(json.dumps(settings, sort_keys=True), self.code, self.content, shared)

    def made(self) -> dict[str, Any]:
        """Returns what a result says about how it was made."""
        made = {"cell": self.settings, "key": self.key, "code": self.code, "data": digest(self.content)}
        return {**made, **self.cell.versions}


def read_tasks(path: Path) -> list[Task]:
    """Reads the cells of a batch, as the plan has written them.

    Raises:
        InputError: if the file is missing or damaged, or is not the one of its name.
    """
    content = read_json(path)
    if digest(json.dumps(content, sort_keys=True)) != path.stem:
        raise InputError(f"the file {path} is not the batch that its name says: delete it and run again")
    return [_task(raw) for raw in content["cells"]]


def _task(raw: Mapping[str, Any]) -> Task:
    data, weights = (Path(raw[name]) if raw.get(name) else None for name in ("data", "weights"))
    trainer = _task({**raw["trainer"], "data": raw["data"]}) if raw.get("trainer") else None
    return Task(parse_cell(raw["settings"]), raw["settings"], raw["code"], data, weights, trainer)


def write_batch(folder: Path, cells: Sequence[Mapping[str, Any]], made: Sequence[str] = (), lost: str = "") -> Path:
    """Writes the cells of a batch for its jobs, in a file whose name changes with what it says.

    Args:
        folder: for such files.
        cells: as `read_tasks` reads them.
        made: digests of what makes their data.
        lost: when a result of the batch was found missing, if one ever was (`Store.lost`).
    """
    content = {"cells": cells, "made": [*made]} | ({"lost": lost} if lost else {})
    text = json.dumps(content, sort_keys=True)
    name = digest(text)
    path = folder / name[:2] / f"{name}.json"  # thousands of files in one folder would be slow to write
    if not path.exists():
        write_text(path, f"{text}\n")
    return path


class Store:
    """The results in a folder.

    Args:
        results: the folder of a run; cells/ in it holds the results.
    """

    def __init__(self, results: Path) -> None:
        self.results = results
        self._folder = f"{results}/"  # a million paths are made of texts in a fifth of the time

    def path(self, cell: str, part: str, key: str) -> Path:
        """Returns the file of a result: a cell's path, a part such as `seed~0`, `audit` or `model~0`, and its key."""
        return Path(f"{self._folder}{_name(cell, part, key)}")

    def place(self, path: Path) -> str:
        """Returns the name under which a file of the folder is sealed: where it lies, with its cell, part and key."""
        return path.relative_to(self.results).as_posix()

    def has(self, task: Task, part: str) -> bool:
        """Returns whether a result of a task is there as it was written."""
        path = self.path(task.cell.path, part, task.key)
        return fits(path, self.place(path))

    def missing(self, task: Task) -> Task:
        """Returns the task with those of its seeds that have no scores yet."""
        left = [seed for seed in task.cell.seeds if not self.has(task, f"seed~{seed}")]
        return replace(task, cell=replace(task.cell, seeds=tuple(left)))

    def write(self, task: Task, part: str, content: Mapping[str, Any]) -> None:
        """Keeps a result of a task."""
        path = self.path(task.cell.path, part, task.key)
        write_sealed(path, {**task.made(), **content}, self.place(path))

    def read(self, manifest: Manifest) -> dict[str, dict[str, Any]]:
        """Returns what the results of a manifest say, by cell and part.

        Raises:
            InputError: if one is missing, or not what was computed for its cell, part and key.
        """
        return {
            cell: {part: read_sealed(self.path(cell, part, key), _name(cell, part, key)) for part, key in parts.items()}
            for cell, parts in manifest.items()
        }

    def written(self, cell: str, part: str, key: str) -> str:
        """Returns a text that changes whenever a result is written or changed in any way; empty if there is none."""
        try:
            found = self.path(cell, part, key).stat()
        except OSError:
            return ""
        return f"{found.st_ctime_ns} {found.st_size}"

    def holds(self, manifest: Manifest, since: float = 0.0) -> bool:
        """Returns whether all results of a manifest are there as they were written.

        Args:
            manifest: which results.
            since: of those that nothing has touched since then, it is enough that they are there: of a grid of 100,000
                cells, reading all takes half a minute.
        """
        paths = (self.path(cell, part, key) for cell, parts in manifest.items() for part, key in parts.items())
        return all(_touched(path) < since or fits(path, self.place(path)) for path in paths)

    def lost(self, batch: str, kind: str) -> str:
        """Returns when a result of a batch was last found missing by `tidy`; empty if never."""
        path = (self.results / "batches" / batch / kind).with_suffix(LOST)
        return path.read_text() if path.exists() else ""

    def tidy(self) -> None:
        """Removes what a killed run, a deletion or a change left incomplete or untrue, for Snakemake to make again.

        These are lists with a missing result, folders of releases or models with a missing file, tables, verdicts of
        checks and cards, and any of these that do not fit. A list that is gone would not be enough: Snakemake makes no
        file again from which it needs nothing, so it is noted for the batch's file, which Snakemake compares.
        """
        for path in self.results.glob("batches/**/*.json"):
            if not _is_whole(path, lambda listed: self.holds(read_manifests([listed]), listed.stat().st_mtime)):
                path.unlink()
                write_text(path.with_suffix(LOST), f"{time.time()}\n")
        for path in (path for pattern in TABLES for path in self.results.glob(pattern)):
            if path.is_file() and not path.name.startswith(".") and not file_fits(path):
                path.unlink()
        checks = [(path, path.parent.name) for path in self.results.glob("checks/*/verdict.json")]
        for path, name in (*checks, *((path, path.stem) for path in self.results.glob("cards/*.json"))):
            if not fits(path, name):
                path.unlink()
        for folder in self._intermediate():
            if not _is_whole(folder, _has_its_files):
                shutil.rmtree(folder)

    def clear_spent(self, asked: Collection[str] = ()) -> None:
        """Removes releases and models of a killed run that are older than the scores computed from them.

        Args:
            asked: folders that stay, as the user wants them.
        """
        for folder in self._intermediate():
            batch = folder.relative_to(self.results).as_posix().partition("/")[2]
            scores = self.results / "batches" / batch / "scores.json"
            if scores.exists() and folder.stat().st_mtime < scores.stat().st_mtime and str(folder) not in asked:
                shutil.rmtree(folder)

    def _intermediate(self) -> list[Path]:
        """Returns the folders of releases and models, of batches by number and of cells by name."""
        names = [f"{kind}/*/*/{batch}" for kind in ("perturbed", "models") for batch in ("[0-9]*", "*/*/epsilon~*")]
        return [folder for name in names for folder in self.results.glob(name) if folder.is_dir()]


def _name(cell: str, part: str, key: str) -> str:
    """Returns the place of a result in the folder of a run."""
    return f"cells/{cell}/{part}.{key}{'.safetensors' if part.startswith('model~') else '.json'}"


def _touched(path: Path) -> float:
    """Returns when a file was last changed in any way; infinite if there is none."""
    try:
        return path.stat().st_ctime
    except OSError:
        return math.inf


def _is_whole(path: Path, holds: Callable[[Path], bool]) -> bool:
    """Returns whether all is there that a file names; not if it is missing, or damaged in whatever way."""
    try:
        return holds(path)
    except (InputError, AttributeError, KeyError, TypeError):
        return False


def _has_its_files(folder: Path) -> bool:
    """Returns whether all is there and no cell failed: what failed in an earlier run may not fail in this one."""
    contents = read_sealed(folder / CONTENTS, CONTENTS)
    return not contents["failed"] and all((folder / name).exists() for name in contents["files"])


def read_manifests(paths: Iterable[Path]) -> Manifest:
    """Reads the manifests of batches as one.

    Raises:
        InputError: if one is missing, or not what was written for its batch and kind.
    """
    found: Manifest = {}
    for path in paths:
        for cell, parts in read_sealed(path, _batch_of(path)).items():
            found.setdefault(cell, {}).update(parts)
    return found


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Writes which results are a batch's, for `read_manifests`."""
    write_sealed(path, manifest, _batch_of(path))


def _batch_of(path: Path) -> str:
    """Returns a manifest's place below `batches`, whatever the folder above is called."""
    _, found, place = path.as_posix().rpartition("/batches/")
    return place if found else path.name


def scores_of(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the scores of a cell's seeds together: {cell, rows, runs, test_set}."""
    seeds = {int(part.removeprefix("seed~")): found for part, found in parts.items() if part.startswith("seed~")}
    if not seeds:
        raise InputError("a cell has no scores: run again")
    first = next(iter(seeds.values()))
    scored = {"test_set": first["test_set"]} if "test_set" in first else {}
    return {
        "cell": {**first["cell"], "seeds": sorted(seeds)},
        "rows": [{"seed": seed, **row} for seed in sorted(seeds) for row in seeds[seed]["rows"]],
        "runs": {str(seed): seeds[seed]["run"] for seed in sorted(seeds)},
        **scored,
    }


def guarantee_of(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what a cell guarantees: over its seeds the weakest, where it depends on the seed."""
    seeds = {int(part.partition("~")[2] or 0): found for part, found in parts.items() if part.startswith("guarantee")}
    return dict(max((seeds[seed]["guarantee"] for seed in sorted(seeds)), key=lambda found: float(found["epsilon"])))


def audit_of(parts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the audits of a cell; none where nothing is perturbed."""
    return [row for part in sorted(parts) if part.split("~")[0] == "audit" for row in parts[part]["audit"]]
