"""Throughput and peak memory of every mechanism, beside a tensor copy and the samplers of torch and NumPy.

    python benchmarks/mechanisms.py --quick
    python benchmarks/mechanisms.py --linearity
    python benchmarks/mechanisms.py --device cuda

One run of every row per repeat, interleaved, so that a busy machine slows all rows alike; medians are printed.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from tensorldp.errors import InputError
from tensorldp.mechanism_table import MECHANISMS
from tensorldp.mechanisms import Box, Mechanism, make, mechanism_class, names
from tensorldp.randomness import generator

SHAPE = (28, 28)
LAPLACE = {"laplace", "tldp-l", "tldp-l-w", "dphsgd", "plu-fedoa"}  # compared with Laplace samplers, others with normal
COPY, TORCH_NORMAL, TORCH_LAPLACE = "(copy)", "(torch Normal + add)", "(torch Laplace + add)"
NUMPY_NORMAL, NUMPY_LAPLACE = "(numpy normal + add)", "(numpy laplace + add)"
DIRECTIONAL = {"udn directional": "udn", "mvg directional": "mvg"}  # a rotation and unequal deviations along mode 1
PILOT = 16  # records of the first run that finds how many fit into --seconds


@dataclass
class Row:
    """One line of the table: something that turns `records` records into as many."""

    name: str
    run: Callable[[Tensor], object]
    data: Tensor
    seconds: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Million elements per second, median."""
        return self.data.numel() / statistics.median(self.seconds) / 1e6


def records(count: int, integer: bool, device: str, high: int = 1) -> Tensor:
    """A batch inside the domain that `mechanism` uses."""
    source = generator("benchmark", device=device)
    x = torch.rand(count, *SHAPE, generator=source, device=device)
    return (x * (high + 1)).floor_().clamp_max_(high) if integer else x.mul_(2.0).sub_(1.0)


def mechanism(name: str, epsilon: float) -> tuple[Mechanism, int]:
    """The mechanism on images in [-1, 1], or on the widest integer box that it takes, and that box's top."""
    if name in DIRECTIONAL:
        rows = SHAPE[0]
        turn = torch.linalg.qr(torch.randn(rows, rows, dtype=torch.float64, generator=generator("turn")))[0]
        shares = torch.arange(1, rows + 1, dtype=torch.float64)
        domain, key = Box(-1, 1, SHAPE), DIRECTIONAL[name]
        if key == "udn":
            return make(key, epsilon=epsilon, domain=domain, directions=turn, importances=shares), 1
        return make(key, epsilon=epsilon, domain=domain, directions=turn, theta=shares / shares.sum()), 1
    if not mechanism_class(name).integer:
        return make(name, epsilon=epsilon, domain=Box(-1, 1, SHAPE)), 1
    for high in (255, 1):
        try:
            return make(name, epsilon=epsilon, domain=Box(0, high, SHAPE)), high
        except InputError:
            continue
    raise InputError(f"{name} takes neither bytes nor bits")


def runner(m: Mechanism, device: str) -> Callable[[Tensor], object]:
    """A function that privatises a batch with a stream of its own."""
    source = generator("benchmark", m.name, device=device)
    act = m.privatize if m.same_shape else m.covariance  # type: ignore[attr-defined]
    return lambda x: act(x, source)


def synchronise(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def timed(row: Row, data: Tensor, device: str) -> float:
    synchronise(device)
    start = time.perf_counter()
    row.run(data)
    synchronise(device)
    return time.perf_counter() - start


def peers(x: Tensor, device: str) -> list[Row]:
    """What a user would otherwise write, on the same data."""
    normal = torch.distributions.Normal(torch.zeros((), device=device), torch.ones((), device=device))
    laplace = torch.distributions.Laplace(torch.zeros((), device=device), torch.ones((), device=device))
    rows = [
        Row(COPY, lambda x: x.clone(), x),
        Row(TORCH_NORMAL, lambda x: x + normal.sample(x.shape), x),
        Row(TORCH_LAPLACE, lambda x: x + laplace.sample(x.shape), x),
    ]
    if device == "cpu":
        rng = np.random.default_rng(1)
        rows += [
            Row(NUMPY_NORMAL, lambda x: x.numpy() + rng.standard_normal(x.shape, dtype=np.float32), x),
            Row(NUMPY_LAPLACE, lambda x: x.numpy() + rng.laplace(size=x.shape).astype(np.float32), x),
        ]
    return rows


def fitting(row: Row, data: Tensor, seconds: float, device: str) -> int:
    """How many records one run of the row may have: all, or fewer for a slow one (but never fewer than a pilot)."""
    count = PILOT
    timed(row, data[:count], device)
    while count < data.shape[0]:
        taken = timed(row, data[:count], device)
        if taken > seconds / 4:  # far enough from the fixed costs of a call to extrapolate
            return max(PILOT, min(data.shape[0], int(seconds / taken * count)))
        count = min(data.shape[0], 4 * count)
    return data.shape[0]


def measure(rows: list[Row], repeats: int, device: str) -> None:
    for repeat in range(repeats + 1):
        for row in rows:
            taken = timed(row, row.data, device)
            if repeat:  # the first round warms caches and allocators up
                row.seconds.append(taken)


def peak_memory(name: str, count: int, epsilon: float, device: str) -> tuple[float, float]:
    """MB of the input, and what privatising adds at its peak to a process that holds it (the output is part of it)."""
    command = [
        sys.executable,
        str(Path(__file__).resolve()),
        "--child",
        name,
        "--records",
        str(count),
        "--epsilon",
        str(epsilon),
        "--device",
        device,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    before, after, data = json.loads(done.stdout.splitlines()[-1])
    return data, after - before


def resident(peak: bool) -> float:
    """MB in memory now or at the peak.

    From /proc where there is one: getrusage's figure starts at the peak of the process that called exec.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(status.read_text().split("VmHWM:" if peak else "VmRSS:")[1].split()[0]) / 1024


def child(name: str, count: int, epsilon: float, device: str) -> None:
    """Privatise once and print [MB before, MB at the peak, MB of input]."""
    m, high = mechanism(name, epsilon)
    run = runner(m, device)
    x = records(count, m.integer, device, high)
    run(x[:1])  # lazy imports and tables are not the batch's
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated() / 2**20
        run(x)
        after = torch.cuda.max_memory_allocated() / 2**20
    else:
        before = resident(peak=False)
        run(x)
        after = resident(peak=True)
    print(json.dumps([before, after, x.numel() * x.element_size() / 2**20]))


def linearity(largest: int, epsilon: float, device: str, repeats: int) -> None:
    """Nanoseconds per element as the batch grows: a cost beyond linear would grow with it."""
    sizes = [n for n in (10**5, 10**6, 10**7, 10**8) if n <= largest]
    print("\nns per element        " + "".join(f"{size:>12.0e}" for size in sizes) + "   largest/smallest")
    for name in (name for name in names() if str(MECHANISMS.module(name)).endswith((".additive", ".tldp"))):
        m = make(name, epsilon=epsilon, domain=Box(-1, 1, SHAPE))
        row = Row(name, runner(m, device), torch.empty(0))
        costs = []
        for size in sizes:
            x = records(size // math.prod(SHAPE), False, device)
            timed(row, x[:PILOT], device)
            costs.append(statistics.median(timed(row, x, device) for _ in range(repeats)) / x.numel() * 1e9)
            del x
        print(f"{name:<22}" + "".join(f"{cost:>12.3f}" for cost in costs) + f"   {costs[-1] / costs[0]:.2f}")


def table(rows: list[Row], memory: dict[str, tuple[float, float]], device: str) -> None:
    rates = {row.name: row.rate for row in rows}
    copy = rates[COPY]
    share = "% copy bandwidth" if device == "cuda" else "of copy"
    numpy_column = "" if device == "cuda" else f"{'x numpy':>10}"
    memory_columns = f"{'input MB':>10}{'added MB':>10}" if memory else ""
    print(f"{'':<24}{'records':>9}{'Melem/s':>11}{share:>18}{'x torch':>10}{numpy_column}{memory_columns}")
    for row in rows:
        laplace = row.name in LAPLACE
        ratio = f"{100 * row.rate / copy:.1f} %" if device == "cuda" else f"{row.rate / copy:.4f}"
        line = f"{row.name:<24}{row.data.shape[0]:>9}{row.rate:>11.2f}{ratio:>18}"
        line += f"{row.rate / rates[TORCH_LAPLACE if laplace else TORCH_NORMAL]:>10.3f}"
        if device == "cpu":
            line += f"{row.rate / rates[NUMPY_LAPLACE if laplace else NUMPY_NORMAL]:>10.3f}"
        if row.name in memory:
            line += f"{memory[row.name][0]:>10.0f}{memory[row.name][1]:>10.0f}"
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=60_000, help="images of 28 x 28 (default 60000)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="slower rows get fewer records (default 2 s a run)")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--keys", nargs="*", help="only these mechanisms")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--threads", type=int, default=1, help="of torch on the CPU (default 1, as NumPy's samplers)")
    parser.add_argument("--linearity", action="store_true", help="also time additive and TLDP keys up to 1e8 elements")
    parser.add_argument("--no-memory", action="store_true", help="skip the child process per key")
    parser.add_argument("--quick", action="store_true", help="2000 records, 3 repeats, 0.2 s a run, no memory")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.child:
        child(options.child, options.records, options.epsilon, options.device)
        return
    if options.quick:
        options.records, options.repeats, options.seconds = min(options.records, 2000), 3, 0.2
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("no CUDA device")

    base = records(options.records, False, options.device)
    rows = peers(base, options.device)
    integers: dict[int, Tensor] = {}
    for name in options.keys or [*names(), *DIRECTIONAL]:
        m, high = mechanism(name, options.epsilon)
        if m.integer and high not in integers:
            integers[high] = records(options.records, True, options.device, high)
        data = integers[high] if m.integer else base
        row = Row(name, runner(m, options.device), data)
        row.data = data[: fitting(row, data, options.seconds, options.device)]
        rows.append(row)
    measure(rows, options.repeats, options.device)
    memory = {}
    if not (options.quick or options.no_memory):
        memory = {
            row.name: peak_memory(row.name, row.data.shape[0], options.epsilon, options.device)
            for row in rows
            if not row.name.startswith("(")
        }
    table(rows, memory, options.device)
    if options.linearity:
        linearity(10**6 if options.quick else 10**8, options.epsilon, options.device, options.repeats)


if __name__ == "__main__":
    main()
