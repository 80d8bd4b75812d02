"""Runs scripts of the workflow, each job in a process of its own, and says which files of the package it imported.

Called with a JSON file of jobs, each a list of commands, it writes a JSON file for each into a folder.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
from pathlib import Path

import numpy as np  # noqa: F401  # libraries alone are imported before, so that each job starts quickly
import pandas as pd  # noqa: F401
import scipy.stats  # noqa: F401
import sklearn.linear_model  # noqa: F401
import torch  # noqa: F401


def imported(commands: list[list[str]]) -> list[str]:
    """The files of the package that these commands import."""
    for script, *arguments in commands:
        runpy.run_path(script)["main"](arguments)
    own = [module for name, module in sys.modules.items() if name.split(".")[0] in ("tensorldp", "tensorldp_papers")]
    return sorted(str(module.__file__) for module in own)


def main(jobs: Path, out: Path) -> None:
    assert not any(name.startswith("tensorldp") for name in sys.modules)
    for number, commands in enumerate(json.loads(jobs.read_text())):
        child = os.fork()
        if child == 0:
            try:
                (out / f"{number}.json").write_text(json.dumps(imported(commands)))
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        if os.waitpid(child, 0)[1]:
            sys.exit(f"these commands failed: {commands}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
