"""The loops that studies spend their time in, as a tutorial writes them and as they are, turn by turn.

Each of the two is a process of its own (the plain one with the C library's own memory settings), on one thread; they
take turns, so that other work on the machine disturbs both alike. Reports CPU time per call, its ratio, the rate of
arithmetic beside what matrix products reach here, and each process's peak memory.

    python benchmarks/loops.py [--only NAME ...] [--turns 7] [--out results.json]

docs/speed.md has the ratios.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import torch
from loop_cases import CASES, Case
from torch.utils.flop_counter import FlopCounterMode

from tensorldp.memory import keep_freed_memory
from tensorldp_papers.nets.computing import flushing_denormals
from tensorldp_papers.run.precision import instruction_set


@dataclass(frozen=True)
class Row:
    """What was measured for a loop; times in milliseconds of CPU per call, rates in GFLOP/s, memory in MB."""

    name: str
    what: str
    plain_ms: float
    quick_ms: float
    ratio: float
    low: float
    high: float
    rate: float
    plain_mb: float
    quick_mb: float


def _serve(case: Case, quick: bool, link: Connection) -> None:
    """In a process: answer each request by the CPU seconds of one call, and the last one by the peak memory."""
    torch.set_num_threads(1)
    if quick:
        keep_freed_memory()
    call = (case.quick if quick else case.plain)()
    call()
    while link.recv():
        start = time.process_time()
        call()
        link.send(time.process_time() - start)
    link.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def _flops(case: Case) -> float:
    call = case.plain()
    with FlopCounterMode(display=False) as counter:
        call()
    return float(counter.get_total_flops())


def _flops_alone(case: Case, link: Connection) -> None:
    torch.set_num_threads(1)
    with flushing_denormals():
        link.send(_flops(case))


def measure(case: Case, turns: int) -> Row:
    """One loop, both ways in turn."""
    context = multiprocessing.get_context("fork")

    def begin(target: Callable[..., None], *args: object) -> tuple[Connection, multiprocessing.process.BaseProcess]:
        here, there = context.Pipe()
        process = context.Process(target=target, args=(*args, there))
        process.start()
        return here, process

    counter, process = begin(_flops_alone, case)
    flops = counter.recv()
    process.join()
    arms = [begin(_serve, case, quick) for quick in (False, True)]
    times: list[list[float]] = [[], []]
    for turn in range(turns + 1):
        for arm, (link, _) in enumerate(arms):
            link.send(True)
            taken = link.recv()
            if turn:
                times[arm].append(taken)
    peaks = []
    for link, process in arms:
        link.send(False)
        peaks.append(link.recv())
        process.join()
    ratios = sorted(a / b for a, b in zip(*times, strict=True))
    plain, quick = (statistics.median(found) for found in times)
    return Row(
        case.name,
        case.what,
        1e3 * plain,
        1e3 * quick,
        statistics.median(ratios),
        ratios[0],
        ratios[-1],
        flops / quick / 1e9,
        *peaks,
    )


def peaks() -> dict[str, float]:
    """GFLOP/s of one thread on products of 1024 x 1024 matrices, the best of several."""
    found = {}
    for name, dtype in (("float32", torch.float32), ("bfloat16", torch.bfloat16)):
        a, b = (torch.randn(1024, 1024).to(dtype) for _ in range(2))
        best = float("inf")
        for _ in range(8):
            start = time.process_time()
            torch.mm(a, b)
            best = min(best, time.process_time() - start)
        found[name] = 2 * 1024**3 / best / 1e9
    return found


def table(rows: list[Row], peak: dict[str, float]) -> str:
    """The rows in Markdown."""
    lines = [
        f"One thread of a processor with {instruction_set()}; products of matrices reach {peak['float32']:.0f} GFLOP/s "
        f"in float32 and {peak['bfloat16']:.0f} in bfloat16. CPU time per call and its ratio, medians; in "
        "brackets the ratio's range.",
        "",
        "| loop | what | plain, ms | ours, ms | times as fast | GFLOP/s | peak memory, MB |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        rate = f"{row.rate:.0f}" if row.rate >= 1.0 else "-"  # LSTMs are not counted, and noise is not a product
        lines.append(
            f"| {row.name} | {row.what} | {row.plain_ms:.1f} | {row.quick_ms:.1f} | **{row.ratio:.1f}** "
            f"({row.low:.1f} to {row.high:.1f}) | {rate} | {row.plain_mb:.0f} and {row.quick_mb:.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    arg = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arg.add_argument("--only", nargs="+", default=None, choices=[case.name for case in CASES])
    arg.add_argument("--turns", type=int, default=7)
    arg.add_argument(
        "--out", type=Path, default=None, help="JSON file to write as well; rows of other loops in it stay"
    )
    args = arg.parse_args()
    torch.set_num_threads(1)
    known: dict[str, Row] = {}
    if args.out and args.out.exists():
        known = {row["name"]: Row(**row) for row in json.loads(args.out.read_text())["rows"]}
    found = peaks()
    for case in CASES:
        if args.only is None or case.name in args.only:
            known[case.name] = measure(case, args.turns)
            print(case.name, f"{known[case.name].ratio:.2f}", flush=True)
    rows = [known[case.name] for case in CASES if case.name in known]
    print(table(rows, found))
    if args.out:
        args.out.write_text(json.dumps({"peak": found, "rows": [asdict(row) for row in rows]}, indent=1))


if __name__ == "__main__":
    main()
