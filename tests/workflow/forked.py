"""A new process that need not import PyTorch, Snakemake and pandas first: it is forked from one that has them."""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).parents[2]
IMPORTED = ["torch", "pandas", "scipy.stats", "snakemake.cli"]  # none of the project's own modules, which tests edit


def forked(
    folder: Path, environment: Mapping[str, str], function: Callable[..., Any], *arguments: Any, seconds: float = 600
) -> tuple[int, str]:
    """Call a function in a new process.

    Args:
        folder: the working folder of the process.
        environment: its variables; PYTHONPATH is one folder, from which it imports.
        function: at the top level of a module that imports nothing of the project.
        arguments: of the function.
        seconds: after which the process is killed.

    Returns:
        The exit code (negative for a signal), and all that it and its children say.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    with tempfile.NamedTemporaryFile() as said:
        process = context.Process(target=_call, args=(folder, dict(environment), said.name, function, arguments))
        process.start()
        process.join(seconds)
        if process.exitcode is None:
            process.kill()
            process.join()
        said.seek(0)
        return int(process.exitcode or 0), said.read().decode(errors="replace")


def run_snakemake(command: list[str]) -> None:
    """What the script `snakemake` does."""
    sys.argv[:] = command
    runpy.run_module("snakemake", run_name="__main__")


def _call(
    folder: Path, environment: dict[str, str], said: str, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> NoReturn:
    output = os.open(said, os.O_WRONLY | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    of_tests = str(ROOT / "tests")
    sys.path[:] = [environment["PYTHONPATH"], *(path for path in sys.path if not path.startswith(of_tests))]
    code = 0
    try:
        function(*arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if code and end.code is not code:
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
