"""What a run of the workflow costs beside its own computing, in a temporary copy of the project.

    python benchmarks/workflow.py                                  the default quick run
    python benchmarks/workflow.py --target figures
    python benchmarks/workflow.py --config scale=desk "studies=['tldp_type2']" --more tldp_type2=2
    python benchmarks/workflow.py --beside ca751fc8 --turns 3      another commit and this tree, in turns

Compute is the time inside the stages' scripts, from the call of `main` to its end, without starting processes or
importing torch. It is their CPU time where several threads make that more. Everything else, the figures' notebooks too,
counts as overhead. The processor time is that of all processes (on Linux). `--more` then asks for one more epsilon of a
study and compares the second run with the compute of its new cells.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from tensorldp_papers.run.study import load_study, study_files

ROOT = Path(__file__).parents[1]


def copy_workflow(folder: Path, commit: str = "") -> None:
    """The project in `folder`, without results: as it lies here, or as a commit has it."""
    if commit:
        folder.mkdir()
        kept = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
        subprocess.run(["tar", "x"], cwd=folder, input=kept, check=True)
        return
    for name in ("workflow", "notebooks", "profiles", "envs", "src"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Snakefile", "config.yaml"):
        shutil.copy(ROOT / name, folder)


def adopt_orphans() -> None:
    """Make this process the parent of those whose own has ended, so that their time is counted."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER


def processor_seconds() -> float:
    """Processor time of all processes that this one has started; waits for those that still end."""
    while True:
        try:
            os.wait()
        except ChildProcessError:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            return used.ru_utime + used.ru_stime


def run(folder: Path, target: str, cores: int, config: list[str]) -> dict[str, Any]:
    """Run Snakemake.

    Returns:
        Seconds: `wall`, `cpu` of all processes, `first` until a study's figure is there; the number of `jobs`, the
        times of all `scripts`, and `snakemake_mb`, the peak memory of the main process.
    """
    times = folder / "times.jsonl"
    times.unlink(missing_ok=True)
    times.touch()
    command = [
        str(Path(sys.executable).with_name("snakemake")),
        target,
        "--cores",
        str(cores),
        *(["--config", *config] if config else []),
    ]
    environment = {**os.environ, "TENSORLDP_TIMES": str(times), "PYTHONPATH": str(folder / "src")}
    with (folder / "log").open("w+") as log:
        start, used = time.perf_counter(), processor_seconds()
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
        first, figures = math.nan, [folder / f"results/figures/{study}.svg" for study in study_files()]
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            time.sleep(0.1)
            if math.isnan(first) and any(figure.exists() for figure in figures):
                first = time.perf_counter() - start
        _, status, usage = ended
        wall = time.perf_counter() - start
        cpu = processor_seconds() - used
        log.seek(0)
        text = log.read()
    if status:
        sys.exit("\n".join(line[:300] for line in text.splitlines()[-30:]))
    jobs = re.findall(r"^total +(\d+)$", text, re.MULTILINE)
    scripts = (
        pd.read_json(times, lines=True)
        if times.stat().st_size
        else pd.DataFrame(columns=["script", "seconds", "cpu", "peak_mb"])
    )
    scripts["seconds"] = scripts[["seconds", "cpu"]].max(axis=1)
    return {
        "wall": wall,
        "cpu": cpu,
        "first": first,
        "jobs": int(jobs[-1]) if jobs else 0,
        "scripts": scripts,
        "snakemake_mb": usage.ru_maxrss / 1024,
    }


def report(title: str, found: dict[str, Any], cores: int) -> float:
    """Print a run; returns the sum of compute in seconds."""
    scripts = found["scripts"]
    compute = float(scripts["seconds"].sum())
    ideal = compute / cores
    print(f"\n{title}\n{'stage':<20}{'jobs':>7}{'seconds':>10}{'median':>10}{'peak MB':>10}")
    for name, part in scripts.groupby("script"):
        print(
            f"{name:<20}{len(part):>7}{part['seconds'].sum():>10.1f}{part['seconds'].median():>10.3f}"
            f"{part['peak_mb'].max():>10.0f}"
        )
    print(
        f"jobs {found['jobs']}, wall {found['wall']:.1f} s on {cores} cores, processor {found['cpu']:.1f} s, "
        f"first study's figure after {found['first']:.1f} s, compute {compute:.1f} s = {ideal:.1f} s "
        f"a core, overhead {1 - ideal / found['wall']:.1%} of the wall time, "
        f"Snakemake's own peak {found['snakemake_mb']:.0f} MB",
        flush=True,
    )
    return compute


def with_more(config: list[str], study: str, epsilon: float) -> list[str]:
    """The config with one more epsilon than the study's own grid at the run's scale."""
    chosen: dict[str, Any] = dict(yaml.safe_load(item.replace("=", ": ", 1)).popitem() for item in config)
    scale = chosen.get("scale", "quick")
    own = load_study(study_files()[study]).scales[scale].epsilons
    return [*config, f"epsilons={json.dumps({study: sorted([*own, epsilon])})}"]


def compare(commit: str, turns: int, target: str, cores: int, config: list[str]) -> None:
    """Run both workflows in turns; print each turn, and the medians and ranges of the ratios."""
    seen = []
    for turn in range(turns):
        here: dict[str, dict[str, Any]] = {}
        for name in (commit, ""):
            with tempfile.TemporaryDirectory() as place:
                copy_workflow(Path(place) / "project", name)
                here[name] = run(Path(place) / "project", target, cores, config)
            report(f"turn {turn + 1}: {name or 'this tree'}", here[name], cores)
        seen.append({key: here[""][key] / here[commit][key] for key in ("wall", "cpu", "first")})
    ratios = pd.DataFrame(seen)
    print(f"\nthis tree over {commit}:\n{ratios.agg(['median', 'min', 'max']).round(3).to_string()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="all", help="all, metrics or figures")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--config", nargs="*", default=[], help="as Snakemake's")
    parser.add_argument("--more", metavar="STUDY=EPSILON", help="then run again with one more epsilon")
    parser.add_argument("--beside", metavar="COMMIT", help="run this commit's workflow, too")
    parser.add_argument("--turns", type=int, default=1, help="of both commits")
    args = parser.parse_args()
    adopt_orphans()
    if args.beside:
        compare(args.beside, args.turns, args.target, args.cores, args.config)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_workflow(folder)
        config = list(args.config)
        if args.more:  # both runs name the grid, so that arms with a grid of their own do not change
            study, epsilon = args.more.split("=")
            wider = with_more(config, study, float(epsilon))
            grid = load_study(study_files()[study])
            scale = next((c.split("=")[1] for c in config if c.startswith("scale=")), "quick")
            config.append(f"epsilons={json.dumps({study: grid.scales[scale].epsilons})}")  # type: ignore[index]
        report(f"first run ({args.target})", run(folder, args.target, args.cores, config), args.cores)
        if args.more:
            again = run(folder, args.target, args.cores, wider)
            compute = report(f"one more epsilon of {study}: {epsilon}", again, args.cores)
            downstream = again["scripts"]["script"].isin(["collect", "join", "claims", "report"])
            cells = again["scripts"][~downstream]
            own = float(cells["seconds"].sum()) / args.cores
            print(
                f"wall time over the compute of its own cells: {again['wall']:.1f} / {own:.1f} s = "
                f"{again['wall'] / own:.2f} ({compute / args.cores - own:.1f} s of compute are downstream)"
            )


if __name__ == "__main__":
    main()
