"""Turn a data set's files into both splits, digest.json with their SHA-256, and copies.json."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.files import sha256, write_json
from tensorldp_papers.data.prepare import prepare
from tensorldp_papers.run.cli import parser, run
from tensorldp_papers.run.sealed import seal_file


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--dataset", required=True)
    arg.add_argument("--source", type=Path, default=None, help="folder that download wrote; none for embedded sets")
    arg.add_argument("--out", type=Path, required=True, help="folder to write")
    args = arg.parse_args(arguments)
    print(f"{args.dataset}: {prepare(args.dataset, args.source, args.out)}")
    for path in set(args.out.glob("*.safetensors")) - {
        args.out / f"{split}.safetensors" for split in ("train", "test")
    }:
        seal_file(path)
    write_json(
        args.out / "digest.json", {split: sha256(args.out / f"{split}.safetensors") for split in ("train", "test")}
    )


if __name__ == "__main__":
    run(main)
