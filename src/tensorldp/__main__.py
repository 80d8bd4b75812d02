"""`python -m tensorldp`: questions to the library from a terminal."""

import sys

from tensorldp.commands.main import exit_code
from tensorldp.commands.watch import watched

if __name__ == "__main__":
    sys.exit(watched(exit_code))
