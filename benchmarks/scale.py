"""What Snakemake itself costs on large grids: python benchmarks/scale.py [CELLS ...] [-- SNAKEMAKE ARGUMENTS]

Plans the default targets of a grid of that many cells in batches of 100, of one study with many epsilons, in a
temporary copy of the workflow. It prints the jobs, the wall-clock and processor seconds, and the peak memory of
Snakemake: of a run until it has planned and would start its first job, when it is stopped, and of a dry run, which
prints every job.
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

ROOT = Path(__file__).parents[1]
STUDY = "tldp_type1"
BATCH = 100
STARTS = "Select jobs to execute"  # what Snakemake says when it has planned
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
        "cells_per_job": BATCH,
        "device": "cpu",
    }
    (folder / "config.yaml").write_text(json.dumps(config))  # JSON is YAML


def planned(folder: Path, arguments: list[str], *, dry: bool) -> dict[str, float]:
    """What a dry run in a folder costs, or a run until it has planned; then it is stopped."""
    command = [str(Path(sys.executable).with_name("snakemake")), "--cores", "1", *(["--dry-run"] if dry else [])]
    with (folder / "log").open("w+") as log:
        start = time.perf_counter()
        process = subprocess.Popen(
            [*command, *arguments], cwd=folder, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        while not dry and not _has_planned(folder) and not _is_zombie(process.pid):
            time.sleep(0.05)
        if not dry:
            os.killpg(process.pid, signal.SIGKILL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        text = (folder / "log").read_text()
    if status and (dry or not _has_planned(folder)):
        sys.exit(text[-3000:])
    jobs = re.findall(r"^total +(\d+)$", text, re.MULTILINE)
    cpu = usage.ru_utime + usage.ru_stime
    return {"jobs": int(jobs[-1]), "seconds": seconds, "cpu": cpu, "peak_mb": usage.ru_maxrss / 1024}


def _has_planned(folder: Path) -> bool:
    """Whether Snakemake's own log, which has more than it prints, says that it now chooses jobs."""
    return any(STARTS in log.read_text() for log in folder.glob(".snakemake/log/*.log"))


def _is_zombie(process: int) -> bool:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def main(words: list[str]) -> None:
    if {"-h", "--help"} & set(words):
        sys.exit(print(__doc__))
    split = words.index("--") if "--" in words else len(words)
    print(f"{'cells':>8} {'what':<15} {'jobs':>8} {'seconds':>8} {'cpu s':>8} {'peak MB':>8}")
    for cells in words[:split] or ["100", "1000", "10000"]:
        for what, dry in (("until it starts", False), ("dry run", True)):
            with tempfile.TemporaryDirectory() as name:
                copy_workflow(Path(name), int(cells))
                row = planned(Path(name), words[split + 1 :], dry=dry)
            print(
                f"{cells:>8} {what:<15} {row['jobs']:8} {row['seconds']:8.1f} {row['cpu']:8.1f} {row['peak_mb']:8.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
