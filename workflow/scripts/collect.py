"""Gather the cells' metrics and guarantees into one table.

Snakemake passes the file names; run alone, it gathers all cells found below two folders.
"""

from collections.abc import Sequence
from contextlib import redirect_stderr
from pathlib import Path

from tensorldp.runtime.cli import parser, run
from tensorldp.runtime.files import read_json, replacing
from tensorldp.studies.table import metrics_table


def gather(metrics: Sequence[str | Path], guarantees: Sequence[str | Path], scale: str, out: str | Path) -> None:
    """Write the table of the cells whose files are given in the same order."""
    cells = [(read_json(Path(m)), read_json(Path(g))) for m, g in zip(metrics, guarantees, strict=True)]
    with replacing(Path(out)) as temporary:
        metrics_table(cells, scale).to_parquet(temporary, index=False)


def main(arguments: Sequence[str] | None = None) -> None:
    if "snakemake" in globals():
        job = globals()["snakemake"]
        with Path(job.log[0]).open("w") as log, redirect_stderr(log):
            gather(job.input.metrics, job.input.guarantees, job.params.scale, job.output[0])
        return
    arg = parser(__doc__)
    arg.add_argument("--metrics", type=Path, default=Path("results/metrics"), help="folder of evaluate's files")
    arg.add_argument("--guarantees", type=Path, default=Path("results/privacy/guarantees"), help="of guarantee's")
    arg.add_argument("--scale", required=True)
    arg.add_argument("--out", type=Path, required=True, help="Parquet file to write")
    args = arg.parse_args(arguments)
    found = sorted(path.relative_to(args.metrics) for path in args.metrics.rglob("*.json"))
    gather([args.metrics / p for p in found], [args.guarantees / p for p in found], args.scale, args.out)


if __name__ == "__main__":
    run(main)
