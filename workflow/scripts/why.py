"""Say of a cell, for each of its seeds, whether its result counts: the run's own and the kept one.

If one does not, the setting, data, version or code file that changed since is named. The cell is one that the
config.yaml of the working directory plans: study/dataset/variant/mechanism/epsilon~E.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.registry import import_plugins
from tensorldp_papers.kept.why import cell_of, why
from tensorldp_papers.run import environment
from tensorldp_papers.run.cli import json_argument, parser, run
from tensorldp_papers.run.grid import make_plan
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.strict import read_yaml

REPOSITORY = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("cell", help="as in the names of files, study/dataset/variant/mechanism/epsilon~E")
    arg.add_argument("--settings", type=json_argument, default={}, help="changes of config.yaml, JSON or @file")
    arg.add_argument("--results", type=Path, default=Path("results"), help="folder of the run, which may be empty")
    arg.add_argument("--reference", type=Path, default=REPOSITORY / "results" / "reference", help="the kept results")
    args = arg.parse_args(arguments)
    settings = parse_settings({**read_yaml(Path("config.yaml"), "the configuration"), **args.settings})
    import_plugins(settings.plugins)
    environment.export(settings, main_process=True)
    cells = make_plan(settings, environment.precision()).cells
    plugins = tuple(settings.plugins)
    print(why(cell_of(args.cell, cells), args.results, args.reference, REPOSITORY / "workflow" / "scripts", plugins))


if __name__ == "__main__":
    run(main)
