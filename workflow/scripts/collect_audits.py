"""Gather the audits of all cells beside their guarantees, with those that accuracy on released records gives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.registration.kinds import NO_PRIVACY
from tensorldp.runtime.cli import cell_paths, parser, run
from tensorldp.runtime.files import read_json, replacing
from tensorldp.studies.audit import audits_table


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--cells", type=Path, help="file with a line for each cell; without it, all cells with metrics")
    arg.add_argument("--results", type=Path, default=Path("results"), help="folder with metrics/ and privacy/")
    arg.add_argument("--out", type=Path, required=True, help="CSV file to write")
    args = arg.parse_args(arguments)
    cells = []
    for cell in cell_paths(args.cells, args.results):
        scores = read_json(args.results / "metrics" / f"{cell}.json")
        private = scores["cell"]["mechanism"] != NO_PRIVACY  # nothing to audit otherwise
        guarantee, audit = (args.results / "privacy" / kind / f"{cell}.json" for kind in ("guarantees", "audits"))
        cells.append((scores, read_json(guarantee), read_json(audit) if private else None))
    with replacing(args.out) as temporary:
        audits_table(cells).to_csv(temporary, index=False)


if __name__ == "__main__":
    run(main)
