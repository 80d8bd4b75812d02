"""Put what notebooks show of the kept results into the notebooks themselves, and into the figures of the pages.

The rule of this name draws them first. Of `docs/figures` those are made again that are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.files import write_text
from tensorldp_papers.plots.notebook_file import with_outputs
from tensorldp_papers.run.cli import parser, run


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument(
        "executed", type=Path, nargs="+", help="notebooks that were run, beside the folder of their figures"
    )
    arg.add_argument("--notebooks", type=Path, required=True, help="the folder of the notebooks")
    arg.add_argument("--figures", type=Path, required=True, help="the folder of the figures of pages")
    args = arg.parse_args(arguments)
    for path in args.executed:
        write_text(args.notebooks / path.name, with_outputs(args.notebooks / path.name, path))
    for path in args.figures.glob("*.svg"):
        write_text(path, (args.executed[0].parents[1] / "figures" / path.name).read_text())


if __name__ == "__main__":
    run(main)
