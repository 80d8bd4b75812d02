"""What the tensor attack costs: python benchmarks/attacks.py [M D B ...]

Prints processor seconds, peak memory and error of an attack on one gradient of a two-layer network, for each triple of
neurons, dimension and batch size; every row in a process of its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

SIZES = ((20000, 30, 4), (50000, 30, 8), (100000, 200, 4), (200000, 200, 4))


def row(m: int, d: int, batch: int) -> str:
    """One attack, as a line of the table."""
    import torch

    from tensorldp_papers.attacks.tensor import tensor_attack, vector_error
    from tensorldp_papers.attacks.two_layer import TwoLayer, unit_records

    torch.set_num_threads(2)
    stream = torch.Generator().manual_seed(0)
    network = TwoLayer.draw(m, d, "relu-shifted", stream)
    x, y = unit_records(batch, d, stream)
    gradient = network.output_gradient(x, y)
    wall, processor = time.perf_counter(), time.process_time()
    error = vector_error(tensor_attack(gradient, network.weights, batch, "relu-shifted", stream), x)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return f"{m:>8} {d:>5} {batch:>3} {processor:>9.2f} {wall:>9.2f} {peak:>9.0f} {error:>8.3f}"


def main() -> None:
    if sys.argv[1:2] == ["--row"]:
        print(row(*map(int, sys.argv[2:])))
        return
    wanted = [int(v) for v in sys.argv[1:]]
    sizes = list(zip(*[iter(wanted)] * 3, strict=True)) or SIZES
    print(f"{'m':>8} {'d':>5} {'B':>3} {'CPU s':>9} {'wall s':>9} {'peak MB':>9} {'error':>8}")
    for size in sizes:
        subprocess.run([sys.executable, __file__, "--row", *map(str, size)], check=True)


if __name__ == "__main__":
    main()
