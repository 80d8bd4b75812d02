"""Runs jobs, each in a process of its own, and says which files of the package it imported.

Called with a JSON file of jobs, each a list of commands and the files that it is said to depend on, it writes a JSON
file for each into a folder. To be quick, all jobs start with the libraries, and those of the same scripts with the
files of the package that all of them are said to depend on, which no job could miss.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np  # noqa: F401  # these load slowly
import pandas as pd  # noqa: F401
import scipy.stats  # noqa: F401
import skimage.metrics  # noqa: F401
import sklearn.linear_model
import sklearn.model_selection  # noqa: F401
import torchvision.datasets  # noqa: F401

Job = tuple[int, list[list[str]], list[str]]
SOURCES = Path(__file__).parents[2] / "src"


def own_modules() -> dict[str, str]:
    names = [name for name in sys.modules if name.split(".")[0] in ("tensorldp", "tensorldp_papers")]
    return {name: str(sys.modules[name].__file__) for name in names}


def in_a_child(work: Callable[[], object]) -> None:
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    if os.waitpid(child, 0)[1]:
        sys.exit("a job failed")


def run(commands: list[list[str]], out: Path) -> None:
    for script, *arguments in commands:
        runpy.run_path(script)["main"](arguments)
    out.write_text(json.dumps(sorted(own_modules().values())))


def run_all(jobs: list[Job], out: Path) -> None:
    """Jobs of the same scripts."""
    for file in sorted(set.intersection(*(set(stated) for *_, stated in jobs))):
        if file.endswith(".py"):
            parts = Path(file).relative_to(SOURCES).with_suffix("").parts
            import_module(".".join(parts).removesuffix(".__init__"))
    if audits := sys.modules.get("tensorldp_papers.run.privacy"):
        vars(audits)["ELEMENTS"] = 1000  # few draws: what counts is what is imported
    for number, commands, _ in jobs:
        in_a_child(lambda commands=commands, number=number: run(commands, out / f"{number}.json"))


def main(jobs: Path, out: Path) -> None:
    assert not own_modules()
    groups: dict[tuple[str, ...], list[Job]] = {}
    for number, (commands, stated) in enumerate(json.loads(jobs.read_text())):
        groups.setdefault(tuple(script for script, *_ in commands), []).append((number, commands, stated))
    for group in groups.values():
        in_a_child(lambda group=group: run_all(group, out))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
