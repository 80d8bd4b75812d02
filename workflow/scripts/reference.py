"""Merge the numbers of finished runs into results/reference, from which `snakemake reference_figures` draws.

All claims are then decided again from the numbers that are kept; --decide does only that. Rows that do not fit the
kept ones, because settings, code or data differ, are refused with one sentence, and nothing of that run is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from tensorldp.files import write_text
from tensorldp_papers.kept.decide import decide_again
from tensorldp_papers.kept.merge import merge_runs, summarise
from tensorldp_papers.kept.provenance import CLAIMS
from tensorldp_papers.run.cli import parser, run
from tensorldp_papers.run.table import read_table


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--results", type=Path, nargs="+", default=[Path("results")], help="folders of finished runs")
    arg.add_argument("--reference", type=Path, default=Path("results/reference"), help="folder to keep the numbers in")
    arg.add_argument("--only", nargs="+", default=[], metavar="STUDY", help="take only rows of these studies")
    arg.add_argument("--allow-dirty", action="store_true", help="also keep results from sources that are in no commit")
    arg.add_argument("--decide", action="store_true", help="take over no run, only decide the claims again")
    args = arg.parse_args(arguments)
    runs = [] if args.decide else args.results
    if runs:
        kept = merge_runs(runs, args.reference, allow_dirty=args.allow_dirty, only=args.only)
        print(f"kept of {', '.join(map(str, runs))}: {', '.join(kept) or 'nothing, larger runs are there already'}")
    summarise(args.reference)
    tables = [read_table(path) for folder in (args.reference, *runs) if (path := folder / CLAIMS).exists()]
    claims = decide_again(args.reference, pd.concat(tables, ignore_index=True) if tables else None)
    write_text(args.reference / CLAIMS, claims.to_csv(index=False))


if __name__ == "__main__":
    run(main)
