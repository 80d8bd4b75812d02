"""What large grids cost beside their computing, each in a temporary folder.

    python benchmarks/scale.py plan 100 10000 100000 [-- SNAKEMAKE ARGUMENTS]
    python benchmarks/scale.py store --results 1000000
    python benchmarks/scale.py metrics --rows 10000000
    python benchmarks/scale.py slurm --cells 1000 --per-job 50

`plan`: the default targets of a grid of one study with many epsilons, in batches of 100: a run until it has planned and
would start its first job, when it is stopped, and a dry run, which prints every job. `store`: made-up results of such a
grid, three files a cell; the study's tables, and, once the results of one more epsilon are there, what a run does with
them before it plans, how many batches changed, and the tables again. `metrics`: the kept table with more seeds, split
and joined as a run's studies are; then the claims and one study's figure from it. `slurm`: short cells on a
SLURM that this machine may use, as `tests/workflow/slurm.sh start
FOLDER` makes one; a cell's overhead is the run's time on all processors without the seconds inside the stages' scripts.
The processor time and the peak memory are those of the process that is named and what it waits for.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.grid import make_plan
from tensorldp_papers.run.sealed import SEAL, _seal_of_json, seal_file
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.store import Store, Task, write_manifest

ROOT = Path(__file__).parents[1]
STUDY = "tldp_type1"
BATCH = 100
STARTS = "Select jobs to execute"  # what Snakemake says when it has planned
MECHANISMS = ["laplace", "gaussian-analytic", "tldp-l", "tldp-g"]


def config_of(cells: int, study: str = STUDY, mechanisms: list[str] = MECHANISMS, **more: Any) -> dict[str, Any]:
    """A config of so many cells."""
    epsilons = [round(0.01 * (i + 1), 2) for i in range(-(-cells // len(mechanisms)))]
    return {
        "scale": "quick",
        "studies": [study],
        "mechanisms": {study: mechanisms},
        "epsilons": {study: epsilons},
        "cells_per_job": BATCH,
        "device": "cpu",
        **more,
    }


def copy_workflow(folder: Path, config: dict[str, Any]) -> None:
    """The workflow in `folder`, with a config."""
    for name in ("workflow", "notebooks", "profiles", "envs", "src"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Snakefile", folder)
    (folder / "config.yaml").write_text(json.dumps(config))  # JSON is YAML


def say(what: str, process: subprocess.Popen[bytes], start: float, note: str = "") -> int:
    """Waits for a process, prints what it has cost, and returns its status."""
    _, status, usage = os.wait4(process.pid, 0)
    seconds, cpu = time.perf_counter() - start, usage.ru_utime + usage.ru_stime
    print(f"{what:<42} {seconds:8.1f} {cpu:8.1f} {usage.ru_maxrss / 1024:8.0f}  {note}", flush=True)
    return os.waitstatus_to_exitcode(status)


def cost(what: str, *command: str | Path, folder: Path = ROOT) -> None:
    """Runs Python with these words in a folder, and prints what it has cost."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *map(str, command)], cwd=folder, env=environment)
    if say(what, process, start):
        sys.exit(f"{what} failed")


def aside(work: Callable[..., None], *arguments: object) -> None:
    """Does something in another process, as the peak memory of what this one starts counts its own."""
    process = multiprocessing.get_context("fork").Process(target=work, args=arguments)
    process.start()
    process.join()
    if process.exitcode:
        sys.exit(process.exitcode)


def plan(cells: list[int], words: list[str]) -> None:
    """Prints what planning costs."""
    for count in cells:
        for dry in (False, True):
            with tempfile.TemporaryDirectory() as name:
                copy_workflow(Path(name), config_of(count))
                planned(Path(name), f"{count} cells, {'dry run' if dry else 'until it starts'}", words, dry=dry)


def planned(folder: Path, what: str, words: list[str], *, dry: bool) -> None:
    """Prints what a dry run in a folder costs, or a run until it has planned; then it is stopped."""
    command = [str(Path(sys.executable).with_name("snakemake")), "--cores", "1", *(["--dry-run"] if dry else [])]
    with (folder / "log").open("w+") as log:
        start = time.perf_counter()
        process = subprocess.Popen(
            [*command, *words], cwd=folder, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        while not dry and not _has_planned(folder) and not _is_zombie(process.pid):
            time.sleep(0.05)
        has_planned = _has_planned(folder)
        if not dry:
            os.killpg(process.pid, signal.SIGKILL)
        status = say(what, process, start)
    text = (folder / "log").read_text()
    if status and not has_planned:
        sys.exit(text[-3000:])
    print(f"{'':42} {re.findall(r'^total +([0-9]+)$', text, re.MULTILINE)[-1]} jobs", flush=True)


def _has_planned(folder: Path) -> bool:
    """Whether Snakemake's own log, which has more than it prints, says that it now chooses jobs."""
    return any(STARTS in log.read_text() for log in folder.glob(".snakemake/log/*.log"))


def _is_zombie(process: int) -> bool:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


RUN = {"seconds": 0.1, "peak_mb": 600.0, "device": "cpu", "isa": "", "precision": "float32", "commit": "made up"}
GUARANTEE = {"unit": "record", "epsilon": 1.0, "delta": 1e-5, "pure_epsilon": 1.0, "atom": 0.0, "exact": True}
AUDIT = {"kind": "likelihood", "epsilon_lower": 0.5, "delta": 0.0, "confidence": 0.95, "samples": 1000}
AUDIT |= {"unit": "record", "note": "", "claimed": 1.0, "refuted": False, "event": "made up"}


def made_up(cell: AnyCell) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Lists of a batch, parts and results, of which every value is made up."""
    test_set = {"records": 100, "shares": [0.5, 0.5], "largest_class": 0.5}
    yield (
        "scores",
        "seed~0",
        {"rows": [{"metric": "accuracy", "value": cell.nominal_epsilon % 1}], "run": RUN, "test_set": test_set},
    )
    yield "privacy", "guarantee", {"guarantee": GUARANTEE, "run": RUN}
    yield "privacy", "audit", {"audit": [AUDIT], "run": RUN}


def fill(store: Store, count: int, *, more: bool = False) -> None:
    """Writes those made-up results of so many cells, or of one more epsilon, that are not there, and their lists."""
    config = config_of(count, cells_per_job=1000)
    batches = make_plan(parse_settings(config)).batches()
    if more:
        before, config["epsilons"][STUDY] = {*map(tuple, batches.values())}, [*config["epsilons"][STUDY], 0.005]
        batches = make_plan(parse_settings(config)).batches()
        changed = {*map(tuple, batches.values())} - before
        print(f"with one more epsilon {len(changed)} of {len(batches)} batches are others", flush=True)
    for key, cells in batches.items():
        lists: dict[str, dict[str, dict[str, str]]] = {"scores": {}, "privacy": {}}
        for cell in cells:
            task = Task(cell, cell.settings(), "made up")
            folder = store.results / "cells" / cell.path
            is_new = not folder.exists()
            folder.mkdir(parents=True, exist_ok=True)
            for kind, part, content in made_up(cell):
                path, full = store.path(cell.path, part, task.key), {**task.made(), **content}
                if is_new:
                    path.write_text(json.dumps({**full, SEAL: _seal_of_json(full, store.place(path))}))
                lists[kind].setdefault(cell.path, {})[part] = task.key
        for kind, listed in lists.items():
            write_manifest(store.results / "batches" / "/".join(key) / f"{kind}.json", listed)


LOOK = "import os; [os.stat(os.path.join(place, name)) for place, _, names in os.walk('cells') for name in names]"


def store(results: int) -> None:
    """Prints what a store of so many results costs."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "results"
        aside(fill, Store(place), results // 3)
        cost("the floor: a look at every file", "-c", LOOK, folder=place)
        collect_again("its study's tables, from nothing", Path(name))
        aside(partial(fill, more=True), Store(place), results // 3)
        tidy = "from pathlib import Path; from tensorldp_papers.run.store import Store; Store(Path('results')).tidy()"
        cost("opening it, before a run plans", "-c", tidy, folder=Path(name))
        collect_again("the tables with one more epsilon", Path(name))


def collect_again(what: str, folder: Path) -> None:
    """Prints what collecting the tables of the study in a folder costs."""
    place = folder / "results"
    scores, privacy = (sorted(place.glob(f"batches/**/{kind}.json")) for kind in ("scores", "privacy"))
    words: list[str | Path] = ["--scores", *scores, "--privacy", *privacy, "--results", place, "--scale", "quick"]
    cost(what, ROOT / "workflow" / "scripts" / "collect.py", *words, "--code", "made up", "--out", folder / "out")


def enlarge(reference: Path, rows: int) -> None:
    """Gives the kept metrics in a folder so many rows, by more seeds; each study's lie in a table of their own, too."""
    path = reference / "metrics.parquet"
    table = pq.read_table(path)
    first, place = pc.max(table["seed"]).as_py() + 1, table.schema.get_field_index("seed")
    with pq.ParquetWriter(path, table.schema) as writer:
        for study in pc.unique(table["study"]).to_pylist():
            part = table.filter(pc.equal(table["study"], study))
            seeds = [pc.add(part["seed"], first * k) for k in range(-(-rows // len(table)))]
            more = pa.concat_tables([part.set_column(place, "seed", found) for found in seeds])
            keys = ("dataset", "variant", "mechanism", "epsilon", "seed", "metric")
            more = more.sort_by([(key, "ascending") for key in keys]).cast(table.schema)
            writer.write_table(more)
            own = reference / "studies" / study / "metrics.parquet"
            own.parent.mkdir(parents=True)
            pq.write_table(more, own)
            seal_file(own)


def metrics(rows: int) -> None:
    """Prints what a table of so many rows costs."""
    with tempfile.TemporaryDirectory() as name:
        reference, scripts = Path(name) / "reference", ROOT / "workflow" / "scripts"
        shutil.copytree(ROOT / "results" / "reference", reference)
        aside(enlarge, reference, rows)
        path, folders = reference / "metrics.parquet", sorted((reference / "studies").iterdir())
        cost("joining the studies' tables", scripts / "join.py", "--folders", *folders, "--out", path)
        decide = "import sys; from pathlib import Path; from tensorldp_papers.kept.decide import decide_again; "
        cost("all claims", "-c", f"{decide}decide_again(Path(sys.argv[1]))", reference)
        drawn = ROOT / "notebooks" / f"{STUDY}.ipynb", Path(name) / "drawn.ipynb"
        given = "-p", "metrics", path, "-p", "folder", Path(name) / "figures"
        cost("the figures of one study", scripts / "notebook.py", *drawn, *given)


def slurm(cells: int, per_job: int, words: list[str]) -> None:
    """Prints what a cell of a SLURM run costs beside its computing."""
    config = config_of(cells, "tvg_covariance", ["idn", "udn"], cells_per_job=per_job, seeds=[0])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_workflow(folder, config)
        times, snakemake = folder / "times", Path(sys.executable).with_name("snakemake")
        environment = {**os.environ, "TENSORLDP_TIMES": str(times), "PYTHONPATH": str(folder / "src")}
        start = time.perf_counter()
        with (folder / "log").open("w") as log:
            command = [str(snakemake), "--workflow-profile", "profiles/slurm-arrays", *words, "results/metrics.parquet"]
            process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
            status = say(f"{cells} cells, {per_job} a job", process, start)
        if status:
            sys.exit((folder / "log").read_text()[-3000:])
        wall, found = time.perf_counter() - start, [json.loads(line) for line in times.read_text().splitlines()]
        own, cores = sum(note["seconds"] for note in found), os.cpu_count() or 1
        jobs = len([note for note in found if note["script"] in ("measure", "privacy")])
        print(f"{jobs} jobs of batches; {(wall * cores - own) / cells:.2f} s of overhead a cell", flush=True)


def main(words: list[str]) -> None:
    split = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    kinds.add_parser("plan").add_argument("cells", type=int, nargs="*", default=[100, 1000, 10000])
    kinds.add_parser("store").add_argument("--results", type=int, default=1_000_000)
    kinds.add_parser("metrics").add_argument("--rows", type=int, default=10_000_000)
    arrays = kinds.add_parser("slurm")
    arrays.add_argument("--cells", type=int, default=1000)
    arrays.add_argument("--per-job", type=int, default=50)
    args = parser.parse_args(words[:split])
    print(f"{'':<42} {'seconds':>8} {'cpu s':>8} {'peak MB':>8}", flush=True)
    if args.kind == "plan":
        plan(args.cells, words[split + 1 :])
    elif args.kind == "store":
        store(args.results)
    elif args.kind == "metrics":
        metrics(args.rows)
    else:
        slurm(args.cells, args.per_job, words[split + 1 :])


if __name__ == "__main__":
    main(sys.argv[1:])
