"""What Snakemake itself costs on large grids: python benchmarks/scale.py [CELLS ...] [-- SNAKEMAKE ARGUMENTS]

Plans the default targets of a grid of so many cells, of one study with many epsilons, in a temporary copy of the
workflow, and prints the jobs, the wall-clock and processor seconds, and the peak memory of Snakemake: of a run until it
has planned and would start its first job, when it is stopped, and of a dry run, which also prints every job.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).parents[1]
STUDY = "tldp_type1"
MECHANISMS = ["laplace", "gaussian-analytic", "tldp-l", "tldp-g"]


def copy_workflow(folder: Path, cells: int) -> None:
    """The workflow in `folder`, with a config of `cells` cells."""
    for name in ("workflow", "notebooks", "profiles", "envs", "src"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Snakefile", folder)
    epsilons = [round(0.01 * (i + 1), 2) for i in range(-(-cells // len(MECHANISMS)))]
    config = {
        "scale": "quick",
        "studies": [STUDY],
        "mechanisms": {STUDY: MECHANISMS},
        "epsilons": {STUDY: epsilons},
        "device": "cpu",
    }
    (folder / "config.yaml").write_text(json.dumps(config))  # JSON is YAML


def plan(folder: Path, arguments: list[str]) -> dict[str, float]:
    """What a dry run in a folder costs."""
    with (folder / "log").open("w+") as log:
        start = time.perf_counter()
        process = started(folder, ["--dry-run", *arguments], log)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        log.seek(0)
        text = log.read()
        if status:
            sys.exit(text[-3000:])
        jobs = re.findall(r"^total +(\d+)$", text, re.MULTILINE)
        cpu = usage.ru_utime + usage.ru_stime
        return {"jobs": int(jobs[-1]), "seconds": seconds, "cpu": cpu, "peak_mb": usage.ru_maxrss / 1024}


def until_planned(folder: Path, arguments: list[str]) -> dict[str, float]:
    """What a run in a folder costs until it has planned; then it is stopped."""
    planned = folder / "planned.json"
    with (folder / "log").open("w+") as log:
        start = time.perf_counter()
        process = started(folder, ["--cores", "1", *arguments], log, TENSORLDP_PLANNED=str(planned))
        while not planned.exists():
            if process.poll() is not None:
                log.seek(0)
                sys.exit(log.read()[-3000:])
            time.sleep(0.05)
        seconds = time.perf_counter() - start
        os.killpg(process.pid, signal.SIGKILL)
        _, _, usage = os.wait4(process.pid, 0)
        jobs = sum(json.loads(planned.read_text()).values())
        cpu = usage.ru_utime + usage.ru_stime
        return {"jobs": jobs, "seconds": seconds, "cpu": cpu, "peak_mb": usage.ru_maxrss / 1024}


def started(folder: Path, arguments: list[str], log: TextIO, **environment: str) -> subprocess.Popen[bytes]:
    """Snakemake in a folder, in a process group of its own."""
    command = [str(Path(sys.executable).with_name("snakemake")), "--quiet", "rules", *arguments]
    variables = {**os.environ, **environment}
    return subprocess.Popen(
        command, cwd=folder, env=variables, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
    )


def main(words: list[str]) -> None:
    if {"-h", "--help"} & set(words):
        sys.exit(print(__doc__))
    split = words.index("--") if "--" in words else len(words)
    print(f"{'cells':>8} {'what':<15} {'jobs':>8} {'seconds':>8} {'cpu s':>8} {'peak MB':>8}")
    for cells in words[:split] or ["100", "1000", "10000"]:
        for what, measured in (("until it starts", until_planned), ("dry run", plan)):
            with tempfile.TemporaryDirectory() as name:
                copy_workflow(Path(name), int(cells))
                row = measured(Path(name), words[split + 1 :])
            print(
                f"{cells:>8} {what:<15} {row['jobs']:8} {row['seconds']:8.1f} {row['cpu']:8.1f} {row['peak_mb']:8.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
