"""Compute a cell's metrics in one step, for studies that train no model of their own."""

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
from tensorldp.runtime.files import write_json
from tensorldp.runtime.provenance import Stopwatch
from tensorldp.studies.methods import method
from tensorldp.studies.methods.base import MeasureMethod, describe_labels
from tensorldp.studies.seeds import MADE, add_seed_arguments, held, joined, made_with, seeds_in, to_compute


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--data", type=Path, default=None, help="folder of the prepared data; none if synthetic")
    arg.add_argument("--cell", type=json_argument, required=True, help="the cell's settings, JSON or @file")
    add_seed_arguments(arg)
    arg.add_argument("--device", default=device_wish(), help="auto, cpu or cuda")
    arg.add_argument("--out", type=Path, required=True, help="JSON file to write; the seeds that it holds stay")
    args = arg.parse_args(arguments)
    torch.set_num_threads(1)
    total = Stopwatch()
    cell, device = parse_cell(args.cell), resolve_device(args.device)
    kind = method(cell.method)
    if not isinstance(kind, MeasureMethod):
        raise InputError(f"cells of the method {cell.method} have no stage measure")
    seeds, made = args.seeds or cell.seeds, made_with(args.made, args.data)
    before = held(args.out, made)
    cell = replace(cell, seeds=to_compute(seeds, seeds_in(before)))
    rows, runs = [], {}
    for seed in cell.seeds:
        watch = Stopwatch()
        rows += [{"seed": seed, **row} for row in kind.measure(cell, args.data, seed, device)]
        runs[str(seed)] = watch.record(describe(device))
    labels = kind.test_labels(cell, args.data)
    scored = {} if labels is None else {"test_set": describe_labels(labels)}
    write_json(
        args.out,
        {
            "cell": {**args.cell, "seeds": list(seeds)},
            MADE: made,
            **scored,
            **joined(before, {"rows": rows, "runs": runs}, seeds),
            "record": total.record(describe(device)),
        },
    )


if __name__ == "__main__":
    run(main)
