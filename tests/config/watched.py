"""Runs jobs, each in a process of its own, and says which functions of the package it called.

Called with the folder of the packages and a JSON file of jobs, each a list of commands and the files that it is said to
depend on, it writes a JSON file for each into a folder. To be quick, all start with the libraries and with the files of
the package that all of them are said to depend on, which no job could miss.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import sys
import traceback
from cProfile import Profile
from importlib import import_module
from inspect import CO_OPTIMIZED
from pathlib import Path

import numpy as np  # noqa: F401  # these load slowly
import pandas as pd  # noqa: F401
import scipy.stats  # noqa: F401
import skimage.metrics  # noqa: F401
import sklearn.linear_model
import sklearn.model_selection  # noqa: F401
import torchvision.datasets  # noqa: F401


def imported() -> list[str]:
    """The files of the package that are there."""
    own = [module for name, module in sys.modules.items() if name.split(".")[0] in ("tensorldp", "tensorldp_papers")]
    return sorted(str(module.__file__) for module in own)


def run(commands: list[list[str]], out: Path) -> None:
    called = Profile(subcalls=False, builtins=False)
    called.enable()
    for script, *arguments in commands:
        runpy.run_path(script)["main"](arguments)
    called.disable()
    codes = [entry.code for entry in called.getstats() if not isinstance(entry.code, str)]
    functions = [code for code in codes if code.co_flags & CO_OPTIMIZED]  # bodies of modules and classes have none
    out.write_text(json.dumps([(code.co_filename, code.co_qualname) for code in functions]))


def main(root: Path, path: Path, out: Path) -> None:
    jobs = json.loads(path.read_text())
    assert not imported()
    if sys.dont_write_bytecode:
        sys.dont_write_bytecode, sys.pycache_prefix = False, str(out / "compiled")  # each file once
    for file in sorted(set.intersection(*(set(stated) for _, stated in jobs))):
        module = ".".join(Path(file).relative_to(root).with_suffix("").parts)
        import_module(module.removesuffix(".__init__"))
    gc.disable()  # its counts would copy the memory that children share
    for number, (commands, _) in enumerate(jobs):
        child = os.fork()
        if child == 0:
            try:
                run(commands, out / f"{number}.json")
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        if os.waitpid(child, 0)[1]:
            sys.exit(f"these commands failed: {commands}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
