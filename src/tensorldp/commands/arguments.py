"""The parser of every command line here."""

from __future__ import annotations

import argparse
import re
from typing import Any


class Parser(argparse.ArgumentParser):
    """An argument parser that takes whatever Python reads as a negative number for one.

    Before Python 3.14 `argparse` takes -1e-3 for an option, and -inf in every version.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._negative_number_matcher = re.compile(r"-(\.?\d|inf|nan)", re.IGNORECASE)
