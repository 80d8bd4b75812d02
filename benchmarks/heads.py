"""Seconds of Type II's linear heads for several seeds, trained as one batch and one after the other; of two audits too.

    python benchmarks/heads.py
    python benchmarks/heads.py --records 10000 --epochs 10 --repeats 3

Both ways take turns, so that a busy machine slows them alike; the ratio is the median of the ratios of a turn. One
thread, process time.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

from tensorldp import mechanisms
from tensorldp.audit.likelihood import audit, audits
from tensorldp_papers.nets.classify import fit
from tensorldp_papers.nets.linear_heads import fit_linear_heads

FEATURES, CLASSES = 1280, 10
DELTAS = [0.0, 1e-5]


def heads(count: int) -> list[nn.Linear]:
    """Classifiers of MobileNetV2's features, the same at each call."""
    source = torch.Generator().manual_seed(0)
    made = [nn.Linear(FEATURES, CLASSES) for _ in range(count)]
    for head in made:
        nn.init.normal_(head.weight, std=0.01, generator=source)
        nn.init.zeros_(head.bias)
    return made


def orders(count: int) -> list[torch.Generator]:
    """The generator of each seed's order of records."""
    return [torch.Generator().manual_seed(seed) for seed in range(count)]


def seconds(work: Callable[[], object]) -> float:
    """Process seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def difference(a: list[nn.Linear], b: list[nn.Linear]) -> float:
    """The largest difference of a weight."""
    return max(float((x.weight - y.weight).detach().abs().max()) for x, y in zip(a, b, strict=True))


def compare_heads(records: int, epochs: int, seeds: int, repeats: int) -> dict[str, float]:
    """Median seconds of both ways, their ratio, and how far the weights differ."""
    source = torch.Generator().manual_seed(1)
    x = [torch.rand(records, FEATURES, generator=source) * 2 - 1 for _ in range(seeds)]
    y: Tensor = torch.randint(0, CLASSES, (records,), generator=source)
    rows = []
    apart = 0.0
    for _ in range(repeats):
        alone, together = heads(seeds), heads(seeds)

        def one_by_one(alone: list[nn.Linear] = alone) -> None:
            for head, part, order in zip(alone, x, orders(seeds), strict=True):
                fit(head, part, y, epochs=epochs, batch_size=64, learning_rate=1e-3, generator=order)

        def at_once(together: list[nn.Linear] = together) -> None:
            fit_linear_heads(together, x, y, epochs=epochs, batch_size=64, learning_rate=1e-3, generators=orders(seeds))

        rows.append((seconds(one_by_one), seconds(at_once)))
        apart = max(apart, difference(alone, together))
    return summary(rows, largest_difference_of_a_weight=apart)


def compare_audits(samples: int, repeats: int) -> dict[str, float]:
    """Median seconds of audits of one MNIST picture at two values of delta, alone and on shared releases."""
    mechanism = mechanisms.make("tldp-l", epsilon=1.0, domain=mechanisms.Box(0, 255, (28, 28)))

    def one_by_one() -> None:
        for delta in DELTAS:
            audit(mechanism, samples=samples, delta=delta)

    return summary(
        [
            (seconds(one_by_one), seconds(lambda: audits(mechanism, samples=samples, deltas=DELTAS)))
            for _ in range(repeats)
        ]
    )


def summary(rows: list[tuple[float, float]], **more: float) -> dict[str, float]:
    """Medians over the turns."""
    return {
        "one_by_one_s": statistics.median(a for a, _ in rows),
        "together_s": statistics.median(b for _, b in rows),
        "ratio": statistics.median(a / b for a, b in rows),
        **more,
    }


def main() -> None:
    arg = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arg.add_argument("--records", type=int, default=5000)
    arg.add_argument("--epochs", type=int, default=5)
    arg.add_argument("--seeds", type=int, default=5)
    arg.add_argument("--samples", type=int, default=4000, help="releases of an audit")
    arg.add_argument("--repeats", type=int, default=5)
    arg.add_argument("--out", type=Path, default=None, help="JSON file to write")
    args = arg.parse_args()
    torch.set_num_threads(1)
    found = {
        "heads": compare_heads(args.records, args.epochs, args.seeds, args.repeats),
        "audits": compare_audits(args.samples, args.repeats),
    }
    for name, row in found.items():
        print(name, " ".join(f"{key} {value:.3g}" for key, value in row.items()))
    if args.out is not None:
        args.out.write_text(json.dumps({"torch": torch.__version__, **found}, indent=1))


if __name__ == "__main__":
    main()
