"""The command `tensorldp`, also `python -m tensorldp`: questions to the library from a terminal."""

import sys

from tensorldp.commands.main import exit_code
from tensorldp.commands.watch import watched


def main() -> int:
    """Runs the command that the arguments of this process name and returns its exit code."""
    return watched(exit_code)


if __name__ == "__main__":
    sys.exit(main())
