"""What a cell's releases guarantee, exactly or as a bound, for the unit that its study protects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.runtime.cli import json_argument, parser, run
from tensorldp.runtime.files import write_json
from tensorldp.studies.cell import CellSettings
from tensorldp.studies.guarantee import record_guarantee, run_guarantee
from tensorldp.studies.records import read_records
from tensorldp.studies.train import empty_model, has_buffers, parameter_release


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--data", type=Path, required=True, help="folder with test.safetensors, for the records' shape")
    arg.add_argument("--cell", type=json_argument, required=True, help="the cell's settings, JSON or @file")
    arg.add_argument("--out", type=Path, required=True, help="JSON file to write")
    args = arg.parse_args(arguments)
    cell = CellSettings.parse(args.cell)
    records = read_records(args.data / "test.safetensors")
    if cell.release == "parameters":
        model = empty_model(cell, records.task)
        found = run_guarantee(parameter_release(cell, model), has_buffers(model))
    else:
        found = record_guarantee(cell, records.box())
    write_json(args.out, found)


if __name__ == "__main__":
    run(main)
