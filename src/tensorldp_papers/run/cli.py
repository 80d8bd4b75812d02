"""How a stage's script runs: arguments in, one sentence out if the user made a mistake."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tensorldp.commands.arguments import Parser
from tensorldp.errors import InputError
from tensorldp.memory import keep_freed_memory
from tensorldp_papers.run.environment import device
from tensorldp_papers.run.provenance import peak_mb


def parser(description: str) -> argparse.ArgumentParser:
    """Builds an argument parser that shows defaults."""
    return Parser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)


def json_argument(text: str) -> dict[str, Any]:
    """Reads a JSON object given on the command line, or in a file named after an @."""
    try:
        value = json.loads(Path(text[1:]).read_text() if text.startswith("@") else text)
    except (OSError, json.JSONDecodeError) as error:
        raise argparse.ArgumentTypeError(f"not a JSON object: {error}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("not a JSON object")
    return value


def batch_parser(description: str) -> argparse.ArgumentParser:
    """Builds the parser of a script that computes a batch of cells."""
    arg = parser(description)
    arg.add_argument("--batch", type=Path, required=True, help="JSON file of the cells, as the plan writes it")
    arg.add_argument("--results", type=Path, default=Path("results"), help="folder that holds the results")
    arg.add_argument("--device", default=device(), help="auto, cpu or cuda")
    return arg


def _note_time(main: Callable[[Sequence[str] | None], None], seconds: float, cpu: float) -> None:
    """Appends {script, seconds, cpu, peak_mb} to the file that TENSORLDP_TIMES names, for benchmarks/workflow.py."""
    times = os.environ.get("TENSORLDP_TIMES")
    if not times:
        return
    line = {
        "script": Path(main.__code__.co_filename).stem,
        "seconds": seconds,
        "cpu": cpu,
        "peak_mb": peak_mb(),
    }
    with Path(times).open("a") as file:
        file.write(json.dumps(line) + "\n")  # one short write, so that jobs' lines do not mix


def run(main: Callable[[Sequence[str] | None], None], arguments: Sequence[str] | None = None) -> None:
    """Runs a script's `main`; a user's mistake ends it with one sentence and exit code 1, without a traceback."""
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
