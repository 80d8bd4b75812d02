"""Score a cell's models on the test set and write its metrics with their provenance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from tensorldp.config.cell import parse_cell
from tensorldp.errors import InputError
from tensorldp.runtime.cli import json_argument, parser, run
from tensorldp.runtime.device import describe, resolve_device
from tensorldp.runtime.environment import device as device_wish
from tensorldp.runtime.files import read_arrays, write_json
from tensorldp.runtime.provenance import Stopwatch
from tensorldp.studies.methods import method
from tensorldp.studies.methods.base import MeasureMethod, ReleaseMethod, describe_labels, read_trained
from tensorldp.studies.records import read_records
from tensorldp.studies.seeds import MADE, add_seed_arguments, held, joined, made_with, seeds_in, to_compute


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--data", type=Path, required=True, help="folder with test.safetensors")
    arg.add_argument("--released", type=Path, default=None, help="folder of perturb, to score on released records too")
    arg.add_argument("--models", type=Path, required=True, help="folder of train")
    arg.add_argument("--cell", type=json_argument, required=True, help="the cell's settings, JSON or @file")
    add_seed_arguments(arg)
    arg.add_argument("--device", default=device_wish(), help="auto, cpu or cuda")
    arg.add_argument("--out", type=Path, required=True, help="JSON file to write; the seeds that it holds stay")
    args = arg.parse_args(arguments)
    torch.set_num_threads(1)
    watch = Stopwatch()
    cell, device = parse_cell(args.cell), resolve_device(args.device)
    kind = method(cell.method)
    if isinstance(kind, MeasureMethod):
        raise InputError(f"cells of the method {cell.method} have no stage evaluate")
    if isinstance(kind, ReleaseMethod) and args.released is None:
        raise InputError(f"cells of the method {cell.method} are scored on releases: give their folder as --released")
    seeds, made = args.seeds or cell.seeds, made_with(args.made, args.data)
    before = held(args.out, made)
    cell = replace(cell, seeds=to_compute(seeds, seeds_in(before)))
    test = read_records(args.data / "test.safetensors").first(cell.training.scored)
    rows, runs = [], {}
    for seed in cell.seeds:
        trained, record = read_trained(args.models, seed)
        if isinstance(kind, ReleaseMethod):
            released = read_arrays(args.released / f"seed~{seed}.safetensors")[0]
            found = kind.evaluate(cell, test, trained, released, seed, device)
        else:
            found = kind.evaluate(cell, test, trained, seed, device)
        rows += [{"seed": seed, **row} for row in found]
        runs[str(seed)] = {key: value for key, value in record.items() if key != MADE}
    write_json(
        args.out,
        {
            "cell": {**args.cell, "seeds": list(seeds)},
            MADE: made,
            "test_set": describe_labels(test.y),
            **joined(before, {"rows": rows, "runs": runs}, seeds),
            "record": watch.record(describe(device), cell.precision),
        },
    )


if __name__ == "__main__":
    run(main)
