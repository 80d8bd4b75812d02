"""Train a cell's models, one per seed that has no scores yet: on its releases, or with the mechanism inside."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from tensorldp.config.cell import parse_cell
from tensorldp.data.fetch import get_weights_file
from tensorldp.errors import InputError
from tensorldp.runtime.cli import json_argument, parser, run
from tensorldp.runtime.device import describe, resolve_device
from tensorldp.runtime.environment import device as device_wish
from tensorldp.runtime.files import read_arrays, sha256, write_arrays, write_json
from tensorldp.runtime.provenance import Stopwatch
from tensorldp.studies.methods import method
from tensorldp.studies.methods.base import Arrays, MeasureMethod, ReleaseMethod, SharedMethod
from tensorldp.studies.records import read_records
from tensorldp.studies.seeds import MADE, add_seed_arguments, held, made_with, seeds_in, seeds_of_models, to_compute
from tensorldp.training.divergence import LARGEST, diverged


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--data", type=Path, required=True, help="folder with train.safetensors")
    arg.add_argument("--released", type=Path, default=None, help="folder of perturb; none to perturb inside training")
    arg.add_argument("--cell", type=json_argument, required=True, help="the cell's settings, JSON or @file")
    add_seed_arguments(arg)
    arg.add_argument("--scores", type=Path, default=None, help="the cell's scores, if there are some already")
    arg.add_argument("--weights", type=Path, default=None, help="folder of ImageNet weights, if pretrained")
    arg.add_argument("--device", default=device_wish(), help="auto, cpu or cuda")
    arg.add_argument("--out", type=Path, required=True, help="folder for seed~N.safetensors")
    arg.add_argument("--digest", type=Path, default=None, help="JSON file for the SHA-256 of each of them")
    args = arg.parse_args(arguments)
    torch.set_num_threads(1)
    cell, device = parse_cell(args.cell), resolve_device(args.device)
    weights = get_weights_file(args.weights) if args.weights else None
    records = read_records(args.data / "train.safetensors").first(cell.training.limit)
    kind = method(cell.method)
    seeds, made = args.seeds or cell.seeds, made_with(args.made, args.data)
    if isinstance(kind, SharedMethod):
        have = seeds_of_models(args.out, made)
        for path in args.out.glob("seed~*.safetensors"):
            if path.stem not in {f"seed~{seed}" for seed in have}:
                path.unlink()
    else:
        have = seeds_in(held(args.scores, made)) if args.scores else set()
        shutil.rmtree(args.out, ignore_errors=True)
    cell = replace(cell, seeds=to_compute(seeds, have))

    def released(seed: int) -> Arrays:
        if args.released is None:
            raise InputError(f"cells of the method {cell.method} train on releases: give their folder as --released")
        return read_arrays(args.released / f"seed~{seed}.safetensors")[0]

    watch = Stopwatch()
    if isinstance(kind, MeasureMethod):
        raise InputError(f"cells of the method {cell.method} have no stage train")
    models = (
        kind.train_all(cell, records, released, device, weights)
        if isinstance(kind, ReleaseMethod)
        else kind.train_all(cell, records, device, weights)
    )
    for seed, trained, seconds in models:
        if name := diverged(trained.arrays):
            print(
                f"warning: the training of {cell.study} on {cell.dataset} diverged, {cell.mechanism} at epsilon "
                f"{cell.epsilon}, seed {seed}: {name} has elements that are not finite or above {LARGEST:g}; "
                "its scores say nothing of the mechanism",
                file=sys.stderr,
            )
        if isinstance(kind, SharedMethod):
            test = read_records(args.data / "test.safetensors").first(cell.training.scored)
            trained.arrays |= kind.common(cell, test, trained, seed, device)
        record = {**watch.record(describe(device), cell.precision), "seconds": seconds, MADE: made}
        write_arrays(
            args.out / f"seed~{seed}.safetensors",
            trained.arrays,
            {"facts": json.dumps(trained.facts), "record": json.dumps(record)},
        )
    if args.digest:
        write_json(args.digest, {path.stem: sha256(path) for path in args.out.glob("seed~*.safetensors")})


if __name__ == "__main__":
    run(main)
