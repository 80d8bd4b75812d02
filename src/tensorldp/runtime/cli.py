"""How a stage's script runs: arguments in, one sentence out if the user made a mistake."""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tensorldp.errors import InputError
from tensorldp.runtime.arguments import Parser
from tensorldp.runtime.memory import keep_freed_memory


def parser(description: str) -> argparse.ArgumentParser:
    """An argument parser that shows defaults."""
    return Parser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)


def json_argument(text: str) -> dict[str, Any]:
    """A JSON object given on the command line, or in a file named after an @."""
    try:
        value = json.loads(Path(text[1:]).read_text() if text.startswith("@") else text)
    except (OSError, json.JSONDecodeError) as error:
        raise argparse.ArgumentTypeError(f"not a JSON object: {error}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("not a JSON object")
    return value


def cells_to_gather(listed: Path | None, results: Path) -> list[tuple[str, list[int] | None]]:
    """The middles of the file names of cells, as "study/dataset/variant/mechanism/epsilon~1", with the seeds to gather.

    Args:
        listed: a file with one of them on each line, and its seeds behind a tab; None for every cell with metrics and
            all of its seeds.
        results: the folder with metrics/.

    Raises:
        InputError: if the list cannot be read.
    """
    if listed is None:
        folder = results / "metrics"
        return [
            (path, None)
            for path in sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.json"))
        ]
    try:
        lines = [line.partition("\t") for line in listed.read_text().splitlines()]
        return [(path, [int(seed) for seed in seeds.split()] or None) for path, _, seeds in lines]
    except OSError as error:
        raise InputError(f"the list of cells {listed} cannot be read: {error.strerror}") from None
    except ValueError:
        raise InputError(f"the list of cells {listed} names seeds that are no whole numbers") from None


def _note_time(main: Callable[[Sequence[str] | None], None], seconds: float, cpu: float) -> None:
    """Append {script, seconds, cpu, peak_mb} to the file that TENSORLDP_TIMES names, for benchmarks/workflow.py."""
    times = os.environ.get("TENSORLDP_TIMES")
    if not times:
        return
    line = {
        "script": Path(main.__code__.co_filename).stem,
        "seconds": seconds,
        "cpu": cpu,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    with Path(times).open("a") as file:
        file.write(json.dumps(line) + "\n")  # one short write, so that jobs do not mix


def run(main: Callable[[Sequence[str] | None], None], arguments: Sequence[str] | None = None) -> None:
    """Run a script's `main`; a user's mistake ends it with one sentence and exit code 1, without a traceback."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    keep_freed_memory()
    start, used = time.perf_counter(), time.process_time()
    try:
        main(arguments)
        _note_time(main, time.perf_counter() - start, time.process_time() - used)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
