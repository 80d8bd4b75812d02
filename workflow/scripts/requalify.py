"""Requalify a kept piece, a study on a data set, after a change of the code that left its numbers as they were.

For each way of training that is noted, some of its cells, drawn by a stated seed, are computed anew by Snakemake, with
the data in resources/ of the working directory. If their values equal the kept ones (to the last bit, on the same kind
of processor), the piece's rows get the digest of today's code, but for those whose other settings are not today's.
Otherwise one sentence names the first value that differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp_papers.kept.requalify import requalify, snakemake
from tensorldp_papers.run.cli import parser, run

WORKFLOW = Path(__file__).parents[1]


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--study", required=True)
    arg.add_argument("--dataset", required=True)
    arg.add_argument("--cells", type=int, default=3, help="how many cells to draw for each training")
    arg.add_argument("--seed", type=int, default=0, help="seed of the draw")
    arg.add_argument(
        "--tolerance", type=float, default=0.0, help="largest difference to values of another kind of processor"
    )
    arg.add_argument("--reference", type=Path, default=Path("results/reference"), help="the kept results")
    arg.add_argument("--cores", type=int, default=1, help="for Snakemake")
    args = arg.parse_args(arguments)
    compute, piece = snakemake(WORKFLOW, args.cores), (args.study, args.dataset)
    print(requalify(args.reference, WORKFLOW, piece, compute, args.cells, args.seed, args.tolerance))


if __name__ == "__main__":
    run(main)
