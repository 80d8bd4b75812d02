"""Compare two runs: one HTML page of what changed in settings, verdicts, guarantees and values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.files import write_text
from tensorldp_papers.report.compare import read_run, render_comparison
from tensorldp_papers.run.cli import parser, run


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("first", type=Path, help="folder of a run's results, or the folder above it")
    arg.add_argument("second", type=Path, help="the same of the other run")
    arg.add_argument(
        "--names", nargs=2, default=None, metavar="NAME", help="what the page calls them; else the folders"
    )
    arg.add_argument("--out", type=Path, required=True, help="HTML file to write")
    args = arg.parse_args(arguments)
    names = args.names or [str(args.first), str(args.second)]
    runs = [read_run(folder, name) for folder, name in zip((args.first, args.second), names, strict=True)]
    write_text(args.out, render_comparison(*runs))


if __name__ == "__main__":
    run(main)
