"""Compute a cell's metrics in one step, for studies that train no model of their own."""

from __future__ import annotations

from collections.abc import Sequence
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


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--data", type=Path, default=None, help="folder of the prepared data; none if synthetic")
    arg.add_argument("--cell", type=json_argument, required=True, help="the cell's settings, JSON or @file")
    arg.add_argument("--device", default=device_wish(), help="auto, cpu or cuda")
    arg.add_argument("--out", type=Path, required=True, help="JSON file to write")
    args = arg.parse_args(arguments)
    torch.set_num_threads(1)
    total = Stopwatch()
    cell, device = parse_cell(args.cell), resolve_device(args.device)
    kind = method(cell.method)
    if not isinstance(kind, MeasureMethod):
        raise InputError(f"cells of the method {cell.method} have no stage measure")
    rows, runs = [], {}
    for seed in cell.seeds:
        watch = Stopwatch()
        rows += [{"seed": seed, **row} for row in kind.measure(cell, args.data, seed, device)]
        runs[str(seed)] = watch.record(describe(device))
    labels = kind.test_labels(cell, args.data)
    scored = {} if labels is None else {"test_set": describe_labels(labels)}
    record = total.record(describe(device))
    write_json(args.out, {"cell": args.cell, **scored, "rows": rows, "runs": runs, "record": record})


if __name__ == "__main__":
    run(main)
