"""Golden cells: scores and guarantee of a `quick` cell for every study and mechanism, a release of every mechanism.

They hold the versions of methods and mechanisms: whoever changes numbers raises the version of what changed, and writes
the values again with `python tests/golden/golden.py`. Kept results count as long as versions are today's.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import platform
import runpy
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from tensorldp.mechanism_table import MECHANISMS, version_of
from tensorldp.mechanisms.jl import JohnsonLindenstrauss
from tensorldp.randomness import generator
from tensorldp_papers.run import stages
from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.grid import Plan, make_plan
from tensorldp_papers.run.method import guarantee_of
from tensorldp_papers.run.precision import instruction_set
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.store import Store, Task, read_manifests
from tensorldp_papers.strict import read_yaml

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FILE = HERE / "golden.csv"
SHOWN = 6  # values in full, by which another processor is told from a change
sys.path.append(str(HERE.parent / "mechanisms"))


@dataclass(frozen=True)
class Golden:
    """The values of a cell, or of a release of a mechanism, and the versions that they belong to.

    Attributes:
        of: the path of a cell, `guarantee` and a path, or `release` and a mechanism.
        method: the method, empty for a release.
        mechanism: the mechanism.
        method_version: 0 for a release.
        mechanism_version: of the mechanism.
        processor: where it was computed.
        digest: of all values, to the last bit.
        values: the first ones in full.
    """

    of: str
    method: str
    mechanism: str
    method_version: int
    mechanism_version: int
    processor: str
    digest: str
    values: tuple[float, ...]


@cache
def processor() -> str:
    """What last bits depend on: the kind of processor, its instructions and the versions of the libraries."""
    name = platform.machine()
    if (info := Path("/proc/cpuinfo")).exists():
        models = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line]
        name = models[0] if models else name
    return f"{name}, {instruction_set() or 'plain'}, torch {torch.__version__}"


@cache
def plan() -> Plan:
    """What config.yaml plans at `quick`."""
    return make_plan(parse_settings({**read_yaml(ROOT / "config.yaml", "the configuration"), "scale": "quick"}))


@cache
def golden_cells() -> tuple[AnyCell, ...]:
    """The first cell and seed of each study and mechanism."""
    found: dict[tuple[str, str], AnyCell] = {}
    for cell in plan().cells:
        found.setdefault((cell.study, cell.mechanism), replace(cell, seeds=(min(cell.seeds),)))
    return tuple(found.values())


class Cells:
    """Computes the cells of studies as a run does, in this process and a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.store = folder, Store(folder / "results")

    def guarantee(self, cell: AnyCell) -> list[float]:
        """What a cell of which `scores` were computed guarantees: epsilon, pure epsilon and the atom."""
        task = self._task(cell)
        models = None
        if task.trainer:
            models = [self.store.path(task.trainer.cell.path, f"model~{seed}", task.trainer.key) for seed in cell.seeds]
        found = guarantee_of(cell, task.data, models)
        return [float(found[name]) for name in ("epsilon", "pure_epsilon", "atom")]

    def scores(self, cell: AnyCell) -> list[float]:
        """All scores of a cell, series last, in the order of their names."""
        task, place = self._task(cell), self.folder / cell.path
        out, rules = place / "scores.json", cell.plan.rules
        released = place / "released" if "perturb" in rules else None
        models = place / "models" if "train" in rules else None
        if released:
            stages.perturb([task], self.store, released, "cpu")
        if models:
            stages.train([task], self.store, released, models, "cpu")
        if task.trainer:
            stages.train_shared([task.trainer], self.store, place / "shared.json", "cpu")
        if cell.plan.trains:
            stages.evaluate([task], self.store, released, models, out, "cpu")
        else:
            stages.measure([task], self.store, out, "cpu")
        ((found,),) = (parts.values() for parts in self.store.read(read_manifests([out])).values())
        rows = sorted(found["rows"], key=lambda row: json.dumps({**row, "value": 0}, sort_keys=True))
        rows.sort(key=lambda row: len(row))  # series last
        return [float(row["value"]) for row in rows]

    def _task(self, cell: AnyCell) -> Task:
        data = self._data(cell)
        trainer = replace(plan().trainer(cell), seeds=cell.seeds) if cell.plan.shares_models else None
        shared = Task(trainer, trainer.settings(), "golden models", data) if trainer else None
        return Task(cell, cell.settings(), "golden", data, trainer=shared)

    def _data(self, cell: AnyCell) -> Path | None:
        if (place := cell.data_folder) is None:
            return None
        records, folder = self.folder / "resources" / "datasets" / cell.dataset, self.folder / place
        if not records.exists():
            _script("prepare", "--dataset", cell.dataset, "--out", records)
        if not folder.exists():
            stage = "extract_features" if "features" in folder.parts else "represent"
            _script(stage, "--data", records, "--backbone", folder.name, "--out", folder)
        return folder


def _script(name: str, *arguments: object) -> None:
    runpy.run_path(str(ROOT / "workflow" / "scripts" / f"{name}.py"))["main"]([str(part) for part in arguments])


def _golden(of: str, cell: AnyCell | None, mechanism: str, values: Sequence[float]) -> Golden:
    digest = hashlib.sha256("\n".join(map(repr, values)).encode()).hexdigest()[:16]
    version = cell.plan.version if cell else 0
    shown = tuple(values[:SHOWN])
    return Golden(
        of, cell.method if cell else "", mechanism, version, version_of(mechanism), processor(), digest, shown
    )


def of_study(study: str, folder: Path) -> list[Golden]:
    """Computes the golden cells of a study."""
    cells = Cells(folder)
    mine = [cell for cell in golden_cells() if cell.study == study]
    scores = [_golden(cell.path, cell, cell.mechanism, cells.scores(cell)) for cell in mine]
    return scores + [_golden(f"guarantee {cell.path}", cell, cell.mechanism, cells.guarantee(cell)) for cell in mine]


def of_releases() -> list[Golden]:
    """Computes a release of every mechanism."""
    from contract import build, records

    found = []
    for name in MECHANISMS.names():
        mechanism, source = build(name, (4, 3)), generator("golden", 0)
        x = records(mechanism, 5, dtype=torch.float64)
        if isinstance(mechanism, JohnsonLindenstrauss):  # its release is of all records
            released = mechanism.covariance(x, source)
        else:
            released = mechanism.privatize(x, source)
        found.append(_golden(f"release {name}", None, name, released.flatten().tolist()))
    return found


def read() -> dict[str, Golden]:
    """The golden values in the repository."""
    with FILE.open(newline="") as file:
        rows = list(csv.DictReader(file))
    made = [
        Golden(
            row["of"],
            row["method"],
            row["mechanism"],
            int(row["method_version"]),
            int(row["mechanism_version"]),
            row["processor"],
            row["digest"],
            _numbers(row["values"]),
        )
        for row in rows
    ]
    return {golden.of: golden for golden in made}


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(map(float, text.split()))


def _changed(old: Golden, new: Golden) -> bool:
    """Whether values differ by more than another processor explains; on the same one they are the same."""
    if old.digest == new.digest:
        return False
    if old.processor == new.processor or len(old.values) != len(new.values):
        return True
    tolerance = EXACT if " " in old.of else SCORES
    pairs = zip(old.values, new.values, strict=True)
    return not all(math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) or a == b for a, b in pairs)


# Another processor rounds differently, and training may make much of it. On AVX2 and on SSE 4, in the place of AVX-512
# with AMX, 55 of 246 values differed: scores by 0.097 at most, what is not trained by 3e-14.
SCORES, EXACT = 0.2, 1e-9


def complaints(kept: Mapping[str, Golden], now: Iterable[Golden]) -> list[str]:
    """Compares golden values, and says what to do about those that changed.

    Args:
        kept: those in the repository.
        now: what today's code computes.

    Returns:
        A sentence for each method and mechanism to blame. A method is blamed if all its cells changed, a mechanism for
        those that remain.
    """
    now = list(now)
    new = [golden.of for golden in now if golden.of not in kept]
    told = [f"{', '.join(new)} has no golden values: run python tests/golden/golden.py"] if new else []
    pairs = [(kept[golden.of], golden) for golden in now if golden.of in kept]
    raised = {
        golden.of
        for old, golden in pairs
        if (old.method_version, old.mechanism_version) != (golden.method_version, golden.mechanism_version)
    }
    if raised:
        told.append(f"versions of {', '.join(sorted(raised))} were raised: run python tests/golden/golden.py")
    changed = [golden for old, golden in pairs if golden.of not in raised and _changed(old, golden)]
    left = {golden.of for golden in changed}
    for method in sorted({golden.method for golden in changed if golden.method}):
        cells = {golden.of for golden in now if golden.method == method}
        if cells <= left and len(cells) > 1:
            told.append(f"all {len(cells)} golden cells of the method {method} changed: raise its version, or mend")
            left -= cells
    for mechanism in sorted({golden.mechanism for golden in changed if golden.of in left}):
        places = [golden.of for golden in changed if golden.of in left and golden.mechanism == mechanism]
        told.append(f"{', '.join(places)} changed: raise the version of the mechanism {mechanism}, or mend")
    return told


def compute(folder: Path) -> Iterator[Golden]:
    """Computes all golden values."""
    yield from of_releases()
    for study in dict.fromkeys(cell.study for cell in golden_cells()):
        yield from of_study(study, folder)


def main() -> None:
    with TemporaryDirectory() as folder:
        rows = [asdict(golden) for golden in compute(Path(folder))]
    kept = read() if FILE.exists() else {}
    for row in rows:
        old = kept.get(row["of"])
        same = old and (old.method_version, old.mechanism_version) == (row["method_version"], row["mechanism_version"])
        if old and same and _changed(old, Golden(**row)) and old.processor == row["processor"]:
            sys.exit(f"error: {row['of']} changed under the same versions: raise the version of what changed first")
        row["values"] = " ".join(map(repr, row["values"]))
    with FILE.open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Golden)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
