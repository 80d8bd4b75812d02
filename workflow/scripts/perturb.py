"""Release a cell's training and test records through its mechanism, one file per seed that has no scores yet."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from tensorldp.config.cell import parse_release
from tensorldp.errors import InputError
from tensorldp.runtime.cli import json_argument, parser, run
from tensorldp.runtime.device import resolve_device
from tensorldp.runtime.environment import device as device_wish
from tensorldp.runtime.files import write_arrays
from tensorldp.studies.methods import method
from tensorldp.studies.methods.base import ReleaseMethod
from tensorldp.studies.records import read_records
from tensorldp.studies.seeds import add_seed_arguments, held, made_with, seeds_in, to_compute


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--data", type=Path, required=True, help="folder with train.safetensors and test.safetensors")
    arg.add_argument("--cell", type=json_argument, required=True, help="the cell's settings, JSON or @file")
    add_seed_arguments(arg)
    arg.add_argument("--scores", type=Path, default=None, help="the cell's scores, if there are some already")
    arg.add_argument("--device", default=device_wish(), help="auto, cpu or cuda")
    arg.add_argument("--out", type=Path, required=True, help="folder for seed~N.safetensors")
    args = arg.parse_args(arguments)
    torch.set_num_threads(1)
    cell, device = parse_release(args.cell), resolve_device(args.device)
    seeds, made = args.seeds or cell.seeds, made_with(args.made, args.data)
    cell = replace(cell, seeds=to_compute(seeds, seeds_in(held(args.scores, made)) if args.scores else ()))
    train = read_records(args.data / "train.safetensors").first(cell.training.limit)
    test = read_records(args.data / "test.safetensors")
    kind = method(cell.method)
    if not isinstance(kind, ReleaseMethod):
        raise InputError(f"cells of the method {cell.method} have no stage perturb")
    shutil.rmtree(args.out, ignore_errors=True)
    for seed in cell.seeds:
        released = [kind.release(cell, split, seed, name, device) for name, split in (("train", train), ("test", test))]
        write_arrays(args.out / f"seed~{seed}.safetensors", released[0] | released[1])


if __name__ == "__main__":
    run(main)
