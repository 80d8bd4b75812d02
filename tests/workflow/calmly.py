"""Run the commands of a workflow's jobs one after another in this process: python calmly.py SCRIPTS < COMMANDS

The input is what Snakemake prints of jobs with `--printshellcmds`: `stage NAME ARGUMENTS > LOG`. What releases, trains,
scores and collects comes in this order.
"""

from __future__ import annotations

import importlib
import re
import shlex
import sys

COMMAND = re.compile(r"stage (\w+) (.*?) > \S+ 2>&1")
ORDER = ("perturb", "train_shared", "train", "evaluate", "measure", "privacy", "collect", "join")


def main(scripts: str, text: str) -> None:
    sys.path.insert(0, scripts)
    commands = [match for match in dict.fromkeys(COMMAND.findall(text)) if match[0] in ORDER]
    for name, arguments in sorted(commands, key=lambda command: ORDER.index(command[0])):
        importlib.import_module(name).main(shlex.split(arguments))


if __name__ == "__main__":
    main(sys.argv[1], sys.stdin.read())
