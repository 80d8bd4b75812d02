"""`python -m tensorldp mechanisms`: list the mechanisms."""

from __future__ import annotations

import argparse
import inspect

from tensorldp.mechanisms import mechanism_class, names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds nothing: the command takes no arguments."""


def run(options: argparse.Namespace) -> int:
    """Prints a line for each mechanism: key, what it is, domain, status and source."""
    for name in names():
        cls = mechanism_class(name)
        text = (inspect.getdoc(cls) or "").split("\n")[0]
        print(
            f"{name}\n  {text}\n  domain {cls.domain_kind}, unit {cls.unit}, {cls.status}; {cls.source or 'no source'}"
        )
    return 0
