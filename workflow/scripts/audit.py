"""Audit a cell's mechanism: a lower bound on its epsilon from samples at its worst pair of records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from tensorldp.config.cell import parse_cell
from tensorldp.runtime.cli import json_argument, parser, run
from tensorldp.runtime.files import write_json
from tensorldp.runtime.provenance import Stopwatch
from tensorldp.studies.audit import audit_mechanism
from tensorldp.studies.methods import audited_of
from tensorldp.studies.seeds import MADE, held, made_with


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--data", type=Path, default=None, help="folder of the prepared data, for the records' shape")
    arg.add_argument("--cell", type=json_argument, required=True, help="the cell's settings, JSON or @file")
    arg.add_argument("--seed", type=int, default=None, help="whose model is audited, where cells share models")
    arg.add_argument("--made", default="", help="text of the settings and code; an audit made with the same is kept")
    arg.add_argument("--models", type=Path, default=None, help="folder of train, where cells share models")
    arg.add_argument("--out", type=Path, required=True, help="JSON file to write")
    args = arg.parse_args(arguments)
    torch.set_num_threads(1)
    watch = Stopwatch()
    cell = parse_cell(args.cell)
    if args.seed is not None:
        cell = replace(cell, seeds=(args.seed,))
    made = made_with(args.made, args.data)
    if before := held(args.out, made):
        write_json(args.out, before)
        return
    mechanism, note = audited_of(cell, args.data, args.models)
    rows = [] if mechanism is None else audit_mechanism(mechanism, cell, [0.0, 1e-5], note)
    write_json(args.out, {"rows": rows, "record": watch.record("cpu"), MADE: made})


if __name__ == "__main__":
    run(main)
