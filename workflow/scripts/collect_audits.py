"""Gather the audits of all cells beside their guarantees, with those of accuracies, and where each guarantee stands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.registration.kinds import NO_PRIVACY
from tensorldp.runtime.cli import cells_to_gather, parser, run
from tensorldp.runtime.files import read_json, replacing
from tensorldp.studies.audit import audits_table
from tensorldp.studies.seeds import guarantee_over, scores_of
from tensorldp.studies.standing import standing_table


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--cells", type=Path, help="file with a line for each cell; without it, all cells with metrics")
    arg.add_argument("--results", type=Path, default=Path("results"), help="folder with metrics/ and privacy/")
    arg.add_argument("--checks", type=Path, nargs="*", default=[], help="verdicts of checks, in folders of their names")
    arg.add_argument("--out", type=Path, required=True, help="CSV file to write the audits to")
    arg.add_argument("--standing", type=Path, required=True, help="CSV file to write to where each guarantee stands")
    args = arg.parse_args(arguments)
    cells = []
    for cell, seeds in cells_to_gather(args.cells, args.results):
        scores = scores_of(read_json(args.results / "metrics" / f"{cell}.json"), seeds)
        private = scores["cell"]["mechanism"] != NO_PRIVACY  # nothing to audit otherwise
        guarantee, audit = (args.results / "privacy" / kind / f"{cell}.json" for kind in ("guarantees", "audits"))
        cells.append((scores, guarantee_over(read_json(guarantee), seeds), read_json(audit) if private else None))
    checks = {path.parent.name: read_json(path) for path in args.checks}
    for path, table in ((args.out, audits_table(cells)), (args.standing, standing_table(cells, checks))):
        with replacing(path) as temporary:
            table.to_csv(temporary, index=False)


if __name__ == "__main__":
    run(main)
