"""Claims as a data set: claims.json, claims.csv and claims.schema.json of a table of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.errors import InputError
from tensorldp.files import write_text
from tensorldp_papers.claims.base import catalogue, load_checks
from tensorldp_papers.claims.table import as_csv, as_json, claim_set, schema_text
from tensorldp_papers.run.cli import parser, run
from tensorldp_papers.run.table import read_table

KEPT = Path(__file__).parents[2] / "results" / "reference" / "claims.csv"


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--claims", type=Path, default=KEPT, help="results/claims.csv of a run; by default the kept one")
    arg.add_argument("--out", type=Path, required=True, help="folder for the three files")
    args = arg.parse_args(arguments)
    if not args.claims.is_file():
        raise InputError(f"--claims {args.claims} is not a file: run the workflow first, or leave the option out")
    load_checks()  # claims of plug-ins are known from here on
    claims = claim_set(read_table(args.claims, dtype=str, keep_default_na=False), catalogue())
    args.out.mkdir(parents=True, exist_ok=True)
    for name, text in (
        ("claims.json", as_json(claims)),
        ("claims.csv", as_csv(claims)),
        ("claims.schema.json", schema_text()),
    ):
        write_text(args.out / name, text)
    print(f"{len(claims.claims)} claims in {args.out}")


if __name__ == "__main__":
    run(main)
