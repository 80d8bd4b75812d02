"""Keep the numbers of a finished run in results/reference, from which `snakemake reference_figures` draws."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.runtime.cli import parser, run
from tensorldp.studies.reference import add_run


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--results", type=Path, default=Path("results"), help="folder of the finished run")
    arg.add_argument("--reference", type=Path, default=Path("results/reference"), help="folder to keep the numbers in")
    arg.add_argument("--allow-dirty", action="store_true", help="also keep results of sources that no commit has")
    args = arg.parse_args(arguments)
    kept = add_run(args.results, args.reference, allow_dirty=args.allow_dirty)
    print(f"kept: {', '.join(kept) or 'nothing, larger runs are there already'}")


if __name__ == "__main__":
    run(main)
