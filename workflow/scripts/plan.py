"""List what a configuration has to run: cells, seeds, hours and disk of each study and data set, done and left."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tensorldp.files import write_text
from tensorldp.registry import import_plugins
from tensorldp_papers.kept.plan import computed, plan_table, plan_text
from tensorldp_papers.run.cli import json_argument, parser, run
from tensorldp_papers.run.grid import make_plan
from tensorldp_papers.run.settings import parse_settings

REPOSITORY = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("--settings", type=json_argument, required=True, help="the run's settings, JSON or @file")
    arg.add_argument("--results", type=Path, default=Path("results"), help="folder of the run, which may be empty")
    arg.add_argument("--reference", type=Path, default=REPOSITORY / "results" / "reference", help="the kept results")
    arg.add_argument("--out", type=Path, default=Path("results/plan.csv"), help="CSV file to write; JSON beside it")
    args = arg.parse_args(arguments)
    settings = parse_settings(args.settings)
    import_plugins(settings.plugins)
    workflow, plugins = REPOSITORY / "workflow", tuple(settings.plugins)
    plan = make_plan(settings)
    table = plan_table(*computed(plan.cells, args.results, args.reference, workflow, plugins))
    write_text(args.out, table.to_csv(index=False))
    write_text(args.out.with_suffix(".json"), table.to_json(orient="records", indent=1) + "\n")
    print(plan_text(table, len(plan.batches())))


if __name__ == "__main__":
    run(main)
