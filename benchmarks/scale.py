"""What Snakemake itself costs on large grids: python benchmarks/scale.py [CELLS ...] [-- SNAKEMAKE ARGUMENTS]

Plans (a dry run) the default targets of a grid of so many cells, of one study with many epsilons, in a temporary copy
of the workflow, and prints the jobs, the wall-clock and processor seconds, and the peak memory of Snakemake.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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


def plan(cells: int, arguments: list[str]) -> dict[str, float]:
    """The jobs, seconds and megabytes of a dry run."""
    with tempfile.TemporaryDirectory() as name, (Path(name) / "log").open("w+") as log:
        copy_workflow(Path(name), cells)
        command = [str(Path(sys.executable).with_name("snakemake")), "--dry-run", "--quiet", "rules", *arguments]
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=name, stdout=log, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        log.seek(0)
        text = log.read()
        if status:
            sys.exit(text[-3000:])
        jobs = re.findall(r"^total +(\d+)$", text, re.MULTILINE)
        return {
            "cells": cells,
            "jobs": int(jobs[-1]),
            "seconds": seconds,
            "cpu": usage.ru_utime + usage.ru_stime,
            "peak_mb": usage.ru_maxrss / 1024,
        }


def main(words: list[str]) -> None:
    if {"-h", "--help"} & set(words):
        sys.exit(print(__doc__))
    split = words.index("--") if "--" in words else len(words)
    print(f"{'cells':>8} {'jobs':>8} {'seconds':>8} {'cpu s':>8} {'peak MB':>8}")
    for cells in words[:split] or ["100", "1000", "10000"]:
        row = plan(int(cells), words[split + 1 :])
        print(
            f"{row['cells']:8} {row['jobs']:8} {row['seconds']:8.1f} {row['cpu']:8.1f} {row['peak_mb']:8.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
