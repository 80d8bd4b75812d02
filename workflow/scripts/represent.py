"""Public representations of a prepared data set, the public records that go with them, and their copies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tensorldp.files import sha256, write_arrays, write_json
from tensorldp_papers.data.copies import count_public
from tensorldp_papers.data.fetch import get_weights_file
from tensorldp_papers.papers.frontier.represent import (
    extractor,
    public_arrays,
    public_labels,
    public_records,
    represent,
)
from tensorldp_papers.run.cli import parser, run
from tensorldp_papers.run.provenance import Stopwatch
from tensorldp_papers.run.records import read_public_words, read_records, read_signs


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--data", type=Path, required=True, help="folder with train.safetensors and test.safetensors")
    arg.add_argument("--backbone", required=True)
    arg.add_argument("--weights", type=Path, nargs="*", default=[], help="folders of ImageNet weights")
    arg.add_argument("--threads", type=int, default=1, help="CPU threads; the features do not depend on them")
    arg.add_argument("--out", type=Path, required=True, help="folder to write")
    args = arg.parse_args(arguments)
    watch = Stopwatch()
    torch.set_num_threads(1)
    weights = {folder.name: get_weights_file(folder) for folder in args.weights}
    read = read_public_words if args.backbone == "words" else read_records
    splits = {split: read(args.data / f"{split}.safetensors") for split in ("train", "test")}
    public = public_records(args.backbone, splits["train"])
    embed = extractor(args.backbone, weights, public)
    found = {}
    for split, records in splits.items():
        found[split] = features = represent(args.backbone, records, embed, args.threads)
        metadata = {
            "dataset": records.name,
            "classes": str(records.classes),
            "low": "-inf",
            "high": "inf",
            "kind": "features",
            "backbone": args.backbone,
        }
        arrays = {"x": features.numpy().astype(np.float16), "y": records.y.numpy()}
        write_arrays(args.out / f"{split}.safetensors", arrays, metadata)
    labels = features_of_public = None
    facts: dict[str, Any] = {"backbone": args.backbone}
    if public is not None:
        facts["copies_of_public"] = count_public(splits["train"].x.numpy(), splits["test"].x.numpy(), len(public))
        print(f"{splits['train'].name}: copies of public records: {facts['copies_of_public']}")
        signs = read_signs(args.data) if args.backbone == "words" else None
        labels = public_labels(records.name, public, weights, signs, args.threads)
        features_of_public = found["train"][-len(public) :]
    arrays = public_arrays(
        args.backbone,
        embed,
        public,
        private=records.name,
        labels=labels,
        features_of_public=features_of_public,
        columns=features.shape[1],
    )
    write_arrays(args.out / "public.safetensors", arrays)
    written = (*splits, "public")
    write_json(args.out / "digest.json", {split: sha256(args.out / f"{split}.safetensors") for split in written})
    write_json(args.out / "record.json", {**facts, **watch.record("cpu")})


if __name__ == "__main__":
    run(main)
