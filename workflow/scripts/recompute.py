"""Compute some kept runs anew, drawn by a stated seed, and note how they compare in recomputed.csv.

One run is drawn for each study, data set, way of training and mechanism, and computed by Snakemake with the data in
resources/ of the working directory. What another kind of processor takes to another result is also computed by the code
of the commit that made it. What is noted already is not computed again: stop and go on at any time. Kept rows
whose versions are not known get today's, if all runs like them that were computed anew are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp_papers.kept.provenance import SEEDED
from tensorldp_papers.kept.recompute import (
    TOLERANCE,
    compare_with_then,
    draw,
    give_versions,
    recompute,
    snakemake,
    snakemake_then,
)
from tensorldp_papers.run.cli import parser, run

WORKFLOW = Path(__file__).parents[1]


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--seed", type=int, default=0, help="seed of the draw")
    arg.add_argument("--most-seconds", type=float, default=300.0, help="longer runs are not drawn")
    arg.add_argument("--study", nargs="*", default=[], help="only runs of these studies")
    arg.add_argument("--dataset", nargs="*", default=[], help="only runs on these data sets")
    arg.add_argument(
        "--tolerance", type=float, default=TOLERANCE, help="largest relative difference of another kind of processor"
    )
    arg.add_argument("--reference", type=Path, default=Path("results/reference"), help="the kept results")
    arg.add_argument("--cores", type=int, default=1, help="for Snakemake")
    args = arg.parse_args(arguments)
    drawn = draw(args.reference, args.seed, args.most_seconds)
    for column, wanted in (("study", args.study), ("dataset", args.dataset)):
        drawn = drawn[drawn[column].isin(wanted)] if wanted else drawn
    for told in recompute(args.reference, drawn, snakemake(WORKFLOW, args.cores), args.seed):
        print(told, flush=True)
    for told in compare_with_then(args.reference, args.tolerance, snakemake_then(WORKFLOW.parent, args.cores)):
        print(told, flush=True)
    differ = give_versions(args.reference, args.tolerance)
    print(f"{len(differ)} of the runs that were computed anew differ{':' if len(differ) else ''}")
    for row in differ.to_dict("records"):
        name = " ".join(str(row[column]) for column in SEEDED)
        print(f"{name}: {row['of']} is kept as {row['kept_value']} and now {row['computed_value']}")


if __name__ == "__main__":
    run(main)
