"""Turn a user's own file or folder into both splits, digest.json with their SHA-256, and copies.json."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from tensorldp.files import sha256, write_json
from tensorldp_papers.data.own import OwnDataset, check_own
from tensorldp_papers.data.own_files import prepare_own
from tensorldp_papers.run.cli import json_argument, parser, run
from tensorldp_papers.strict import explain


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--dataset", required=True, help="its name")
    arg.add_argument("--entry", type=json_argument, required=True, help="its entry of own_datasets, JSON or @file")
    arg.add_argument("--out", type=Path, required=True, help="folder to write")
    args = arg.parse_args(arguments)
    try:
        entry = OwnDataset.model_validate(args.entry)
    except ValidationError as error:
        raise explain(error, "--entry", dict(OwnDataset.model_fields)) from None
    check_own({args.dataset: entry}, known=())
    copies, warnings = prepare_own(args.dataset, entry, args.out)
    print(f"{args.dataset}: {copies}")
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    write_json(
        args.out / "digest.json", {split: sha256(args.out / f"{split}.safetensors") for split in ("train", "test")}
    )


if __name__ == "__main__":
    run(main)
