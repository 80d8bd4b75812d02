"""Score a cell's models on the test set and write its metrics with their provenance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from tensorldp.runtime.cli import json_argument, parser, run
from tensorldp.runtime.device import describe, resolve_device
from tensorldp.runtime.environment import device as device_wish
from tensorldp.runtime.files import read_arrays, write_json
from tensorldp.runtime.provenance import Stopwatch
from tensorldp.studies.cell import CellSettings
from tensorldp.studies.methods import method
from tensorldp.studies.methods.base import read_trained
from tensorldp.studies.records import read_records


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--data", type=Path, required=True, help="folder with test.safetensors")
    arg.add_argument("--released", type=Path, default=None, help="folder of perturb, to score on released records too")
    arg.add_argument("--models", type=Path, required=True, help="folder of train")
    arg.add_argument("--cell", type=json_argument, required=True, help="the cell's settings, JSON or @file")
    arg.add_argument("--device", default=device_wish(), help="auto, cpu or cuda")
    arg.add_argument("--out", type=Path, required=True, help="JSON file to write")
    args = arg.parse_args(arguments)
    torch.set_num_threads(1)
    watch = Stopwatch()
    cell, device = CellSettings.parse(args.cell), resolve_device(args.device)
    test = read_records(args.data / "test.safetensors").first(cell.training.get("test_limit"))
    rows, runs = [], {}
    for seed in cell.seeds:
        trained, record = read_trained(args.models, seed)
        released = read_arrays(args.released / f"seed~{seed}.safetensors")[0] if args.released else None
        found = method(cell.method).evaluate(cell, test, trained, released, seed, device)
        rows += [{"seed": seed, **row} for row in found]
        runs[str(seed)] = record
    test_set = {"records": len(test.y), "largest_class": float(test.y.bincount().max()) / len(test.y)}
    write_json(
        args.out,
        {"cell": args.cell, "test_set": test_set, "rows": rows, "runs": runs, "record": watch.record(describe(device))},
    )


if __name__ == "__main__":
    run(main)
