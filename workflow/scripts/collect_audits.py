"""Gather the audits of all cells beside their guarantees, with those that accuracy on released records gives.

Snakemake passes the file names; run alone, it gathers all cells found below three folders.
"""

from collections.abc import Sequence
from contextlib import redirect_stderr
from pathlib import Path

from tensorldp.registration.kinds import NO_PRIVACY
from tensorldp.runtime.cli import parser, run
from tensorldp.runtime.files import read_json, replacing
from tensorldp.studies.audit import audits_table


def gather(
    metrics: Sequence[str | Path], guarantees: Sequence[str | Path], audits: Sequence[str | Path], out: str | Path
) -> None:
    """Write the table of the cells whose files are given in the same order; cells without a mechanism have no audit."""
    rest, cells = iter(audits), []
    for metric, guarantee in zip(metrics, guarantees, strict=True):
        scores = read_json(Path(metric))
        private = scores["cell"]["mechanism"] != NO_PRIVACY
        cells.append((scores, read_json(Path(guarantee)), read_json(Path(next(rest))) if private else None))
    with replacing(Path(out)) as temporary:
        audits_table(cells).to_csv(temporary, index=False)


def main(arguments: Sequence[str] | None = None) -> None:
    if "snakemake" in globals():
        job = globals()["snakemake"]
        with Path(job.log[0]).open("w") as log, redirect_stderr(log):
            gather(job.input.metrics, job.input.guarantees, job.input.audits, job.output[0])
        return
    arg = parser(__doc__)
    arg.add_argument("--metrics", type=Path, default=Path("results/metrics"), help="folder of evaluate's files")
    arg.add_argument("--guarantees", type=Path, default=Path("results/privacy/guarantees"), help="of guarantee's")
    arg.add_argument("--audits", type=Path, default=Path("results/privacy/audits"), help="of audit's")
    arg.add_argument("--out", type=Path, required=True, help="CSV file to write")
    args = arg.parse_args(arguments)
    audited = sorted(path.relative_to(args.audits) for path in args.audits.rglob("*.json"))
    found = sorted([*audited, *(path.relative_to(args.metrics) for path in args.metrics.rglob("none/*.json"))])
    gather(
        [args.metrics / p for p in found],
        [args.guarantees / p for p in found],
        [args.audits / p for p in audited],
        args.out,
    )


if __name__ == "__main__":
    run(main)
