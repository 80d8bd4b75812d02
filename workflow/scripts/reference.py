"""Keep the numbers of a finished run in results/reference, from which `snakemake reference_figures` draws.

All claims are then decided again from the numbers that are kept; --decide does that alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from tensorldp.claims.kept import decide_again
from tensorldp.runtime.cli import parser, run
from tensorldp.runtime.files import write_text
from tensorldp.studies.reference import CLAIMS, add_run

STUDIES = Path(__file__).parents[1] / "studies"


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--results", type=Path, default=Path("results"), help="folder of the finished run")
    arg.add_argument("--reference", type=Path, default=Path("results/reference"), help="folder to keep the numbers in")
    arg.add_argument("--allow-dirty", action="store_true", help="also keep results of sources that no commit has")
    arg.add_argument("--decide", action="store_true", help="take no run over, decide the claims of what is kept again")
    args = arg.parse_args(arguments)
    earlier = [args.reference / CLAIMS]
    if not args.decide:
        kept = add_run(args.results, args.reference, allow_dirty=args.allow_dirty)
        print(f"kept: {', '.join(kept) or 'nothing, larger runs are there already'}")
        earlier.append(args.results / CLAIMS)
    tables = [pd.read_csv(path) for path in earlier if path.exists()]
    claims = decide_again(args.reference, STUDIES, pd.concat(tables, ignore_index=True) if tables else None)
    write_text(args.reference / CLAIMS, claims.to_csv(index=False))


if __name__ == "__main__":
    run(main)
