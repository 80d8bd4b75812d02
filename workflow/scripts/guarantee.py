"""What a cell's releases guarantee, exactly or as a bound, for the unit that its study protects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tensorldp.config.cell import parse_cell
from tensorldp.runtime.cli import json_argument, parser, run
from tensorldp.runtime.files import write_json
from tensorldp.studies.methods import guarantee_of
from tensorldp.studies.seeds import MADE, add_seed_arguments, guarantee_over, held, made_with, seeds_in, to_compute


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--data", type=Path, default=None, help="folder of the prepared data, for the records' shape")
    arg.add_argument("--cell", type=json_argument, required=True, help="the cell's settings, JSON or @file")
    add_seed_arguments(arg)
    arg.add_argument("--models", type=Path, default=None, help="folder of train, where cells share models")
    arg.add_argument("--out", type=Path, required=True, help="JSON file to write; the seeds that it holds stay")
    args = arg.parse_args(arguments)
    cell = parse_cell(args.cell)
    if not cell.plan.guarantee_by_seed:
        write_json(args.out, guarantee_of(cell, args.data, args.models))
        return
    seeds, made = args.seeds or cell.seeds, made_with(args.made, args.data)
    before = held(args.out, made)
    found = before.get("by_seed", {})
    for seed in to_compute(seeds, seeds_in(before)):
        found[str(seed)] = guarantee_of(replace(cell, seeds=(seed,)), args.data, args.models)
    by_seed = {"by_seed": {str(seed): found[str(seed)] for seed in seeds}}
    write_json(args.out, {**guarantee_over(by_seed, seeds), **by_seed, MADE: made})


if __name__ == "__main__":
    run(main)
