"""Features of a prepared data set from a frozen extractor, once per data set and backbone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from tensorldp.files import sha256, write_arrays, write_json
from tensorldp_papers.data.fetch import get_weights_file
from tensorldp_papers.extractors import feature_range
from tensorldp_papers.nets.features import feature_extractor
from tensorldp_papers.run.cli import parser, run
from tensorldp_papers.run.device import describe, resolve_device
from tensorldp_papers.run.environment import device as device_wish
from tensorldp_papers.run.provenance import Stopwatch
from tensorldp_papers.run.records import read_records


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--data", type=Path, required=True, help="folder with train.safetensors and test.safetensors")
    arg.add_argument("--backbone", required=True)
    arg.add_argument("--weights", type=Path, default=None, help="folder of ImageNet weights")
    arg.add_argument("--device", default=device_wish(), help="auto, cpu or cuda")
    arg.add_argument("--threads", type=int, default=1, help="CPU threads; the features do not depend on them")
    arg.add_argument("--out", type=Path, required=True, help="folder to write")
    args = arg.parse_args(arguments)
    watch, device = Stopwatch(), resolve_device(args.device)
    torch.set_num_threads(1)
    weights = get_weights_file(args.weights) if args.weights else None
    low, high = feature_range(args.backbone)
    frozen = feature_extractor(args.backbone, read_records(args.data / "train.safetensors"), device, weights)
    for split in ("train", "test"):
        records = read_records(args.data / f"{split}.safetensors")
        features = frozen.features(records, args.threads)
        metadata = {
            "dataset": records.name,
            "classes": str(records.classes),
            "low": f"{low:g}",
            "high": f"{high:g}",
            "kind": "features",
            "backbone": args.backbone,
        }
        write_arrays(args.out / f"{split}.safetensors", {"x": features.numpy(), "y": records.y.numpy()}, metadata)
    digest = {split: sha256(args.out / f"{split}.safetensors") for split in ("train", "test")}
    write_json(args.out / "digest.json", digest)
    write_json(args.out / "record.json", {"backbone": args.backbone, **watch.record(describe(device))})


if __name__ == "__main__":
    run(main)
