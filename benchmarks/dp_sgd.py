"""Examples per second of one private step of LeNet on 28 x 28 images, beside opacus and a step without privacy.

    python benchmarks/dp_sgd.py
    python benchmarks/dp_sgd.py --lots 128 512 --repeats 20 --device cuda

All rows step in turn, so that a busy machine slows them alike; rates are medians, and ratios the medians of the
ratios in one turn. On the CPU the time is that of the process on one thread, and gradients are computed in C++ where
there is a compiler, but in the rows that say PyTorch. The step without privacy is PyTorch's.
Opacus' row is its own GradSampleModule and DPOptimizer with l2 clipping.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import torch
from opacus import GradSampleModule
from opacus.optimizers import DPOptimizer
from torch import Tensor, nn

from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.private_sgd import GradientNoise, PrivateStep
from tensorldp_papers.papers.tvg.private_sgd import check_schedule, printed_noise
from tensorldp_papers.run.native import LOOPS, available

RECORDS, STEPS, EPSILON, CLIP, RATE = 60_000, 1000, 10.0, 1.0, 1e-3
PLAIN, OPACUS, OURS = "(no privacy)", "opacus DPOptimizer", "gaussian, l2 clipping"
PRINTED = ("gaussian", "optimized", "idn", "udn", "mvg")
IN_PYTORCH = ", PyTorch"
Step = Callable[[Tensor, Tensor], object]


def network(device: str) -> nn.Module:
    """LeNet, 61,706 parameters."""
    return build("lenet", Task((28, 28), 10), torch.Generator().manual_seed(0)).to(device).train()


def plain_step(device: str) -> Step:
    """A step of ordinary SGD."""
    model = network(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)

    def step(x: Tensor, y: Tensor) -> None:
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def opacus_step(device: str, lot: int) -> Step:
    """A step of opacus' own optimiser."""
    model = GradSampleModule(network(device))
    optimizer = DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=RATE),
        noise_multiplier=1.0,
        max_grad_norm=CLIP,
        expected_batch_size=lot,
        generator=torch.Generator(device).manual_seed(1),
    )

    def step(x: Tensor, y: Tensor) -> None:
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def our_step(name: str, device: str, lot: int, shape: tuple[int, ...] | None = None) -> Step:
    """A step of this package, with the physical batch of a whole lot, as in opacus' row; with a shape in C++."""
    model = network(device)
    shapes = [tuple(p.shape) for p in model.parameters()]
    if name == OURS:
        sizes = tuple(p.numel() for p in model.parameters())
        release = GradientNoise("l2", CLIP, (CLIP,) * len(sizes), sizes)
    else:
        release = printed_noise(name, shapes, CLIP, check_schedule(EPSILON, 1e-5, RECORDS, lot, STEPS))
    return PrivateStep(
        model,
        torch.optim.SGD(model.parameters(), lr=RATE),
        release,
        lot=lot,
        noise=torch.Generator(device).manual_seed(1),
        physical=lot,
        compiled=shape,
    )


def seconds(step: Step, x: Tensor, y: Tensor) -> float:
    """Of one step."""
    if x.device.type == "cuda":
        torch.cuda.synchronize()
        start = time.perf_counter()
        step(x, y)
        torch.cuda.synchronize()
        return time.perf_counter() - start
    start = time.process_time()
    step(x, y)
    return time.process_time() - start


def measure(lot: int, repeats: int, device: str) -> list[dict[str, float | str | int]]:
    """A row {name, lot, rate, of_opacus, beside_plain} for each kind of step; rates in examples per second."""
    source = torch.Generator().manual_seed(2)
    x = torch.rand(lot, 1, 28, 28, generator=source).to(device)
    y = torch.randint(0, 10, (lot,), generator=source).to(device)
    steps = {PLAIN: plain_step(device), OPACUS: opacus_step(device, lot)}
    if device == "cpu" and available(LOOPS):
        steps |= {name: our_step(name, device, lot, (1, 28, 28)) for name in (OURS, *PRINTED)}
        steps |= {f"{name}{IN_PYTORCH}": our_step(name, device, lot) for name in (OURS, "gaussian")}
    else:
        steps |= {name: our_step(name, device, lot) for name in (OURS, *PRINTED)}
    times: dict[str, list[float]] = {name: [] for name in steps}
    for repeat in range(repeats + 2):
        for name, step in steps.items():
            taken = seconds(step, x, y)
            if repeat >= 2:  # the first steps set things up
                times[name].append(taken)
    rate = {name: lot / statistics.median(values) for name, values in times.items()}

    def beside(name: str, peer: str) -> float:
        return statistics.median(a / b for a, b in zip(times[peer], times[name], strict=True))

    return [
        {
            "name": name,
            "lot": lot,
            "rate": rate[name],
            "of_opacus": beside(name, OPACUS),
            "beside_plain": beside(PLAIN, name),
        }
        for name in steps
    ]


def main() -> None:
    arg = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arg.add_argument("--lots", type=int, nargs="+", default=[128, 512])
    arg.add_argument("--repeats", type=int, default=15)
    arg.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    arg.add_argument("--out", type=Path, default=None, help="JSON file to write as well")
    args = arg.parse_args()
    warnings.filterwarnings("ignore", message="Full backward hook")
    torch.set_num_threads(1)
    rows = [row for lot in args.lots for row in measure(lot, args.repeats, args.device)]
    print(f"{'step':24} {'lot':>5} {'examples/s':>11} {'of opacus':>10} {'times a plain step':>19}")
    for row in rows:
        print(
            f"{row['name']:24} {row['lot']:5d} {row['rate']:11.0f} {row['of_opacus']:10.2f} {row['beside_plain']:19.2f}"
        )
    if args.out:
        args.out.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
