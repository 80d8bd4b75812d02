"""The stages of a batch of cells: each passes over what is there, and a cell that fails does not stop the others.

What computes imports its libraries itself, so that a batch with nothing to do takes no time.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensorldp.errors import InputError
from tensorldp.files import FullDiskError
from tensorldp_papers.run.provenance import Stopwatch
from tensorldp_papers.run.sealed import read_sealed, read_sealed_arrays, write_sealed, write_sealed_arrays
from tensorldp_papers.run.store import CONTENTS, Manifest, Store, Task, write_manifest

if TYPE_CHECKING:
    from tensorldp_papers.run.method import Trained
    from tensorldp_papers.run.records import Records

AUDITED = [0.0, 1e-5]  # the deltas of audits
MOST_FAILURES = 3  # failures that are reported in full
RELEASE, MODEL = "release", "model"  # kinds of intermediate files


class Failures:
    """Cells that failed in a batch.

    Args:
        folders: the folders of earlier stages, which tell what failed there.
    """

    def __init__(self, *folders: Path | None) -> None:
        self.found: dict[str, list[str]] = {}
        self.folders = [folder for folder in folders if folder]
        for folder in self.folders:
            self.found |= read_sealed(folder / CONTENTS, CONTENTS)["failed"]

    @contextmanager
    def of(self, task: Task, stage: str) -> Iterator[None]:
        """Notes what a cell raises, and goes on; a full disk is not a cell's fault."""
        try:
            yield
        except FullDiskError:
            raise
        except Exception as error:  # whatever a mechanism may raise
            if not isinstance(error, InputError):
                traceback.print_exc()
            told = " ".join(str(error).split()) or "no word"
            self.found[task.cell.path] = [
                stage,
                told if isinstance(error, InputError) else f"{type(error).__name__}: {told}",
            ]

    def left(self, tasks: Sequence[Task], device: str) -> Iterator[Task]:
        """Yields the tasks with something to do that have not failed, with a word on each for the log."""
        left = [task for task in tasks if task.cell.seeds and task.cell.path not in self.found]
        if left:
            from tensorldp_papers.run.device import resolve_device

            resolve_device(device)
        yield from announced(left)

    def close(self, folder: Path) -> None:
        """Says in a folder of releases or models what is in it, and what failed."""
        files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.safetensors"))
        write_sealed(folder / CONTENTS, {"files": files, "failed": self.found}, CONTENTS)

    def stop(self, tasks: Sequence[Task]) -> None:
        """Ends the job if a cell failed; what the stages before have made is removed, so that the next run makes it."""
        if not self.found:
            return
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)
        settings = {task.cell.path: task.settings for task in tasks}
        alone = os.environ.get("TENSORLDP_ALONE", "snakemake --cores 1")
        told = [
            f"{path} failed in {stage}: {error}. Its settings: {json.dumps(settings[path], sort_keys=True)}. "
            f"To repeat it alone: {alone} -- results/metrics/{path}.json"
            for path, (stage, error) in self.found.items()
        ]
        if told[MOST_FAILURES:]:
            print(*told[MOST_FAILURES:], sep="\n", file=sys.stderr)
            told = [*told[:MOST_FAILURES], f"{len(told) - MOST_FAILURES} more are in the log"]
        raise InputError(
            f"{len(self.found)} of {len(tasks)} cells failed, the results of the others are kept: {' '.join(told)}"
        )


def announced(tasks: Sequence[Task]) -> Iterator[Task]:
    """Yields tasks with something to do, with a word on each for the log, which `study_lines` reads."""
    for number, task in enumerate(tasks, 1):
        print(f"{number} of {len(tasks)}: {task.cell.path}", flush=True)
        yield task


def perturb(tasks: Sequence[Task], store: Store, out: Path, device: str) -> None:
    """Releases the records of all cells, for the seeds that have no scores yet.

    Args:
        tasks: cells of methods that release records.
        store: the results that are there.
        out: folder for the releases, a safetensors file for each cell and seed.
        device: where noise is drawn: auto, cpu or cuda.
    """
    failures = Failures()
    for task in failures.left([store.missing(task) for task in tasks], device):
        with failures.of(task, "perturb"):
            for seed in task.cell.seeds:
                write_sealed_arrays(
                    _seed_file(out, task, seed), _released(task, seed, device), _name(RELEASE, task, seed)
                )
    failures.close(out)


def train(tasks: Sequence[Task], store: Store, released: Path | None, out: Path, device: str) -> None:
    """Trains the models of all cells, for the seeds that have no scores yet.

    Args:
        tasks: cells of methods that train.
        store: the results that are there.
        released: folder of `perturb`; None where the mechanism works inside the training.
        out: folder for the models, a safetensors file for each cell and seed.
        device: where models are trained: auto, cpu or cuda.
    """
    failures = Failures(released)
    for task in failures.left([store.missing(task) for task in tasks], device):
        with failures.of(task, "train"):
            for seed, trained, record in _models(task, released, device):
                _write_model(_seed_file(out, task, seed), _name(MODEL, task, seed), task, trained, record, seed)
    failures.close(out)


def train_shared(tasks: Sequence[Task], store: Store, out: Path, device: str) -> None:
    """Trains models that other cells share, and keeps them among the results.

    Args:
        tasks: the cells that they belong to.
        store: where results go.
        out: the manifest to write: which models these are.
        device: where models are trained: auto, cpu or cuda.
    """
    failures = Failures()
    missing = {task.cell.path: [s for s in task.cell.seeds if not store.has(task, f"model~{s}")] for task in tasks}
    for task in announced([task for task in tasks if missing[task.cell.path]]):
        with failures.of(task, "train_shared"):
            for seed in missing[task.cell.path]:
                one = replace(task, cell=replace(task.cell, seeds=(seed,)))
                ((_, trained, record),) = _models(one, None, device)
                path = store.path(task.cell.path, f"model~{seed}", task.key)
                _write_model(path, store.place(path), one, trained, record, seed)
    failures.stop(tasks)
    write_manifest(out, {task.cell.path: {f"model~{seed}": task.key for seed in task.cell.seeds} for task in tasks})


def evaluate(
    tasks: Sequence[Task], store: Store, released: Path | None, models: Path | None, out: Path, device: str
) -> None:
    """Scores the models of all cells on the test records; a seed's scores are kept as soon as they are there.

    Args:
        tasks: cells of methods that train.
        store: where results go.
        released: folder of `perturb`, if there was one.
        models: folder of `train`; None where cells share models.
        out: the manifest to write: which results are the batch's.
        device: where models compute: auto, cpu or cuda.
    """
    failures = Failures(released, models)
    for task in failures.left([store.missing(task) for task in tasks], device):
        with failures.of(task, "evaluate"):
            for seed in task.cell.seeds:
                model = _shared(task.trainer, store, seed) if task.trainer else _own(_given(models), task, seed)
                store.write(task, f"seed~{seed}", _scores(task, model, released, seed, device))
    failures.stop(tasks)
    write_manifest(out, _scored(tasks))


def measure(tasks: Sequence[Task], store: Store, out: Path, device: str) -> None:
    """Computes the metrics of cells that train no model of their own; arguments and errors as of `evaluate`."""
    failures = Failures()
    for task in failures.left([store.missing(task) for task in tasks], device):
        with failures.of(task, "measure"):
            for seed in task.cell.seeds:
                store.write(task, f"seed~{seed}", _measured(task, seed, device))
    failures.stop(tasks)
    write_manifest(out, _scored(tasks))


def privacy(tasks: Sequence[Task], store: Store, out: Path) -> None:
    """Describes the guarantee of every cell and audits its mechanism; arguments and errors as of `evaluate`."""
    failures = Failures()
    missing = {
        task.cell.path: {part: seed for part, seed in privacy_parts(task).items() if not store.has(task, part)}
        for task in tasks
    }
    for task in announced([task for task in tasks if missing[task.cell.path]]):
        with failures.of(task, "privacy"):
            for part, seed in missing[task.cell.path].items():
                one = task if seed is None else replace(task, cell=replace(task.cell, seeds=(seed,)))
                models = [_shared(task.trainer, store, s) for s in one.cell.seeds] if task.trainer else None
                watch = Stopwatch()
                found = _guaranteed(one, models) if part.startswith("guarantee") else _audited(one, models)
                store.write(task, part, {**found, "run": watch.record("cpu")})
    failures.stop(tasks)
    write_manifest(out, {task.cell.path: dict.fromkeys(privacy_parts(task), task.key) for task in tasks})


def privacy_parts(task: Task) -> dict[str, int | None]:
    """Returns the results that `privacy` has of a cell, each with the seed that it depends on.

    Where cells share models, the lowest seed's is audited.
    """
    cell, seeds = task.cell, sorted(task.cell.seeds)
    parts: dict[str, int | None] = {"guarantee": None}
    if cell.plan.guarantee_by_seed:
        parts = {f"guarantee~{seed}": seed for seed in seeds}
    if cell.private:
        parts |= {f"audit~{seeds[0]}": seeds[0]} if cell.plan.shares_models else {"audit": None}
    return parts


def _scored(tasks: Sequence[Task]) -> Manifest:
    return {task.cell.path: {f"seed~{seed}": task.key for seed in task.cell.seeds} for task in tasks}


def _seed_file(folder: Path, task: Task, seed: int) -> Path:
    return folder / task.cell.path / f"seed~{seed}.safetensors"


def _name(kind: str, task: Task, seed: int) -> str:
    """Returns the name under which a release or a model is sealed."""
    return f"{kind} {task.cell.path} {seed} {task.key}"


def _released_by(folder: Path, task: Task, seed: int) -> dict[str, Any]:
    return read_sealed_arrays(_seed_file(folder, task, seed), _name(RELEASE, task, seed))[0]


def _own(folder: Path, task: Task, seed: int) -> Path:
    path = _seed_file(folder, task, seed)
    read_sealed_arrays(path, _name(MODEL, task, seed))
    return path


def _shared(trainer: Task, store: Store, seed: int) -> Path:
    path = store.path(trainer.cell.path, f"model~{seed}", trainer.key)
    read_sealed_arrays(path, store.place(path))
    return path


def _given(folder: Path | None) -> Path:
    if folder is None:
        raise InputError("give the folder of the trained models as --models")
    return folder


@cache
def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)  # of the CPU: sums depend on how many there are


@lru_cache(maxsize=2)
def _split(path: Path) -> Records:
    from tensorldp_papers.run.records import read_records

    return read_records(path)


def _records(task: Task, split: str, first: int | None) -> Records:
    if task.data is None:
        raise InputError(f"cells of the method {task.cell.method} read a data set, and the batch names none")
    return _split(task.data / f"{split}.safetensors").first(first)


def _no_stage(task: Task, stage: str) -> InputError:
    return InputError(f"cells of the method {task.cell.method} have no stage {stage}")


def _released(task: Task, seed: int, device: str) -> dict[str, Any]:
    """Reads what the owners of the training and the test records release."""
    from tensorldp_papers.run.device import resolve_device
    from tensorldp_papers.run.method import ReleaseMethod, method

    _one_thread()
    kind = method(task.cell.method)
    if not isinstance(kind, ReleaseMethod):
        raise _no_stage(task, "perturb")
    found: dict[str, Any] = {}
    for split, first in (("train", task.cell.training.limit), ("test", None)):
        found |= kind.release(task.cell, _records(task, split, first), seed, split, resolve_device(device))
    return found


def _models(task: Task, released: Path | None, wish: str) -> Iterator[tuple[int, Trained, dict[str, Any]]]:
    """Yields the models of a cell's seeds, each with the record of its training."""
    from tensorldp_papers.data.fetch import get_weights_file
    from tensorldp_papers.run.device import describe, resolve_device
    from tensorldp_papers.run.method import MeasureMethod, ReleaseMethod, SharedMethod, method

    _one_thread()
    cell, kind, device, watch = task.cell, method(task.cell.method), resolve_device(wish), Stopwatch()
    if isinstance(kind, MeasureMethod):
        raise _no_stage(task, "train")
    records = _records(task, "train", cell.training.limit)
    weights = get_weights_file(task.weights) if task.weights else None
    if isinstance(kind, ReleaseMethod):
        if released is None:
            raise InputError(f"cells of the method {cell.method} train on releases: give their folder as --released")
        folder = released
        models = kind.train_all(cell, records, lambda seed: _released_by(folder, task, seed), device, weights)
    else:
        models = kind.train_all(cell, records, device, weights)
    for seed, trained, seconds in models:
        if isinstance(kind, SharedMethod):
            trained.arrays |= kind.common(cell, _records(task, "test", cell.training.scored), trained, seed, device)
        yield seed, trained, {**watch.record(describe(device), cell.precision), "seconds": seconds}


def _write_model(path: Path, name: str, task: Task, trained: Trained, record: Mapping[str, Any], seed: int) -> None:
    from tensorldp_papers.run.method import LARGEST_WEIGHT, diverged

    cell = task.cell
    if found := diverged(trained.arrays):
        print(
            f"warning: the training of {cell.study} on {cell.dataset} diverged, {cell.mechanism} at epsilon "
            f"{cell.epsilon}, seed {seed}: {found} has elements that are not finite or above {LARGEST_WEIGHT:g}; "
            "its scores say nothing about the mechanism",
            file=sys.stderr,
        )
    facts = {"facts": json.dumps(trained.facts), "record": json.dumps(record)}
    write_sealed_arrays(path, trained.arrays, name, facts)


def _scores(task: Task, model: Path, released: Path | None, seed: int, wish: str) -> dict[str, Any]:
    from tensorldp_papers.run.device import resolve_device
    from tensorldp_papers.run.method import MeasureMethod, ReleaseMethod, describe_labels, method, read_trained

    _one_thread()
    cell, kind, device = task.cell, method(task.cell.method), resolve_device(wish)
    if isinstance(kind, MeasureMethod):
        raise _no_stage(task, "evaluate")
    test = _records(task, "test", cell.training.scored)
    trained, record = read_trained(model)
    if isinstance(kind, ReleaseMethod):
        if released is None:
            raise InputError(
                f"cells of the method {cell.method} are scored on releases: give their folder as --released"
            )
        rows = kind.evaluate(cell, test, trained, _released_by(released, task, seed), seed, device)
    else:
        rows = kind.evaluate(cell, test, trained, seed, device)
    return {"rows": rows, "run": record, "test_set": describe_labels(test.y)}


def _measured(task: Task, seed: int, wish: str) -> dict[str, Any]:
    from tensorldp_papers.run.device import describe, resolve_device
    from tensorldp_papers.run.method import MeasureMethod, describe_labels, method

    _one_thread()
    kind, device = method(task.cell.method), resolve_device(wish)
    if not isinstance(kind, MeasureMethod):
        raise _no_stage(task, "measure")
    watch = Stopwatch()
    rows = kind.measure(task.cell, task.data, seed, device)
    run = watch.record(describe(device))
    labels = kind.test_labels(task.cell, task.data)
    return {"rows": rows, "run": run, **({} if labels is None else {"test_set": describe_labels(labels)})}


def _guaranteed(task: Task, models: Sequence[Path] | None) -> dict[str, Any]:
    from tensorldp_papers.run.method import guarantee_of

    _one_thread()
    return {"guarantee": guarantee_of(task.cell, task.data, models)}


def _audited(task: Task, models: Sequence[Path] | None) -> dict[str, Any]:
    from tensorldp_papers.run.method import audited_of
    from tensorldp_papers.run.privacy import audit_mechanism

    _one_thread()
    mechanism, note = audited_of(task.cell, task.data, models)
    return {"audit": [] if mechanism is None else audit_mechanism(mechanism, task.cell, AUDITED, note)}
