"""Run the commands of a workflow's jobs one after another in this process: python calmly.py SCRIPTS < COMMANDS

A line is what Snakemake prints of a job, `stage NAME ARGUMENTS > LOG`. What releases, trains, scores and collects comes
in this order.
"""

from __future__ import annotations

import importlib
import shlex
import sys

ORDER = ("perturb", "train_shared", "train", "evaluate", "measure", "privacy", "collect", "join")


def main(scripts: str, lines: list[str]) -> None:
    sys.path.insert(0, scripts)
    commands = [shlex.split(line)[1:-3] for line in dict.fromkeys(lines)]  # without `stage` and `> LOG 2>&1`
    for name, *arguments in sorted((c for c in commands if c[0] in ORDER), key=lambda c: ORDER.index(c[0])):
        importlib.import_module(name).main(arguments)


if __name__ == "__main__":
    main(sys.argv[1], [line.strip() for line in sys.stdin if line.strip().startswith("stage ")])
