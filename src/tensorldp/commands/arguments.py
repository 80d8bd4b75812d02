"""The parser of every command line here, its arguments, and what a command answers."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

UNPREDICTABLE = "unpredictable"


class Parser(argparse.ArgumentParser):
    """An argument parser that takes whatever Python reads as a negative number for one.

    Before Python 3.14 `argparse` takes -1e-3 for an option, and -inf in every version.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._negative_number_matcher = re.compile(r"-(\.?\d|inf|nan)", re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """What a command has found.

    Attributes:
        text: it in words.
        content: it as plain values, for JSON.
        refuted: whether a claim is refuted.
        failed: whether something of it could not be done, and nothing is refuted.
    """

    text: str
    content: Any
    refuted: bool = False
    failed: bool = False


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """Adds the argument --json, for an answer that programs read."""
    parser.add_argument("--json", action="store_true", help="print the answer as JSON, and nothing else")


def add_seed_argument(parser: argparse.ArgumentParser) -> None:
    """Adds the argument --seed, the seed of a check."""
    parser.add_argument(
        "--seed", type=seed, default=0, help=f"a whole number (default: 0), or {UNPREDICTABLE}: by the system's entropy"
    )


def seed(text: str) -> int | torch.Generator:
    """Reads what the argument --seed says."""
    if text != UNPREDICTABLE:
        return int(text)
    from tensorldp.randomness import unpredictable_generator

    return unpredictable_generator()
